"""BoundlessBPE: merges inside pieces and of whole pieces, by hand and recounted from scratch; and who encodes them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import impls
from harness.data import load_corpus
from impls import InvalidFile, InvalidModel, InvalidSpec, Model, TrainingSpec, Unsupported
from impls.boundless import train_boundless
from impls.core.model.data import JOINED_PIECES, JoinedPieces, may_be_joined
from impls.core.text.patterns import Splitter, resolve
from impls.core.training import base_symbols, may_become_token, piece_symbols
from impls.formats import formats, save

Piece = tuple[list[bytes], bool]
ENCODERS = ["naive", "priority", "compiled"]
TEXT = "the cat of the house and the dog of the house, in 2024 and in 2025: the cat's of the house"


def neighbours(pieces: list[Piece]) -> list[tuple[bytes, bytes]]:
    inside = [pair for symbols, _ in pieces for pair in pairwise(symbols)]
    between = [(a[0], b[0]) for (a, may_a), (b, may_b) in pairwise(pieces) if may_a and may_b and len(a) == len(b) == 1]
    return inside + between


def merged(pieces: list[Piece], pair: tuple[bytes, bytes]) -> list[Piece]:
    found: list[Piece] = []
    for symbols, may_join in pieces:
        kept: list[bytes] = []
        at = 0
        while at < len(symbols):
            size = 2 if tuple(symbols[at : at + 2]) == pair else 1
            kept.append(b"".join(symbols[at : at + size]))
            at += size
        before = found[-1] if found else ([], False)
        if before == ([pair[0]], True) and (symbols, may_join) == ([pair[1]], True):
            found[-1] = ([pair[0] + pair[1]], True)
        else:
            found.append((kept, may_join))
    return found


def literally(
    texts: list[str], spec: TrainingSpec, join: JoinedPieces
) -> tuple[list[bytes], list[int], list[list[bytes]]]:
    """The tokens learned, the count of each, and what the texts are merged to."""
    joins, split, order = may_be_joined(join), Splitter(resolve(spec.pattern)).split, base_symbols((), spec)
    state = [[(piece_symbols(piece, spec), joins(piece)) for piece in split(text)] for text in texts]
    n_base, found = len(order), list[int]()
    while len(order) + len(spec.special_tokens) < spec.vocab_size:
        counts = Counter(pair for pieces in state for pair in neighbours(pieces))
        allowed = [p for p in counts if p[0] + p[1] not in order and may_become_token(p[0] + p[1], spec)]
        top = max((counts[pair] for pair in allowed), default=0)
        if top < spec.min_count:
            break
        tied = sorted((p for p in allowed if counts[p] == top), key=lambda p: (order.index(p[0]), order.index(p[1])))
        if spec.ties == "largest":
            tied.sort(reverse=True)
        elif spec.ties == "shortest":
            tied.sort(key=lambda pair: (len(pair[0] + pair[1]), pair[0] + pair[1]))
        state = [merged(pieces, tied[0]) for pieces in state]
        order.append(b"".join(tied[0]))
        found.append(top)
    return order[n_base:], found, [[symbol for symbols, _ in pieces for symbol in symbols] for pieces in state]


def test_words_and_superwords_by_hand() -> None:
    spec = TrainingSpec(vocab_size=300)
    model = train_boundless(["ab ab ab"], spec)
    # ab | _ab | _ab:  a+b 3 times, _+ab 2 times, then ab+_ab and _ab+_ab once each, and what the first makes with _ab
    assert model.merges == ((97, 98), (32, 256), (256, 257), (258, 257))
    assert model.merge_counts == (3, 2, 1, 1)
    assert model.tokens[256:] == (b"ab", b" ab", b"ab ab", b"ab ab ab")
    for name in ENCODERS:
        tokenizer = impls.load(name, model)
        for text, ids in (
            ("ab ab", [258]),
            ("ab ab ab ab", [259, 257]),
            ("abab ab", [256, 256, 257]),  # abab is one piece of two tokens: nothing joins it
            ("ab 1 ab", [256, 32, 49, 257]),
            ("ab! ab", [256, 33, 257]),
        ):
            assert tokenizer.encode(text) == ids, (name, text)


@pytest.mark.parametrize("join", ["words", "all"])
@pytest.mark.parametrize("ties", ["smallest", "largest", "shortest"])
def test_every_merge_is_that_of_a_literal_recount(ties: str, join: JoinedPieces, fuzz: int) -> None:
    chance = random.Random(f"{ties} {join}")
    n_superwords = n_skipped = 0
    for _ in range(40 * fuzz):
        words = ["".join(chance.choices("abç'", k=chance.randint(1, 4))) for _ in range(5)]
        others = [" ", " ", " ", " ", "", "\n", ", ", "12", "!"]
        texts = [
            "".join(chance.choice(words) + chance.choice(others) for _ in range(chance.randint(0, 30)))
            for _ in range(chance.randint(1, 3))
        ]
        pattern = chance.choice(["gpt2", "cl100k", r"[ab]|[^ab]+", r"a+|[^a]{1,2}", "none"])
        spec = TrainingSpec(
            vocab_size=chance.choice([256, 262, 275, 330]),
            pattern=pattern,
            ties=ties,  # type: ignore[arg-type]
            min_count=chance.choice([1, 1, 2]),
            max_token_bytes=chance.choice([None, None, 6]),
            forbidden_tokens=chance.choice([(), ("ab a",), (" a",)]),
            special_tokens=chance.choice([(), ("ab",)]),
        )
        spec = replace(spec, vocab_size=spec.vocab_size + len(spec.special_tokens))
        model = train_boundless(texts, spec, join=join, implementation="priority")
        assert train_boundless(texts, spec, join=join) == model, (texts, spec)
        tokens, counts, state = literally(texts, spec, join)
        assert list(model.tokens[256 : 256 + len(tokens)]) == tokens, (texts, spec)
        assert list(model.merge_counts or ()) == counts
        for name in ENCODERS:
            tokenizer = impls.load(name, model)
            for text, symbols in zip(texts, state, strict=True):
                ids = tokenizer.encode(text, disallowed_special=())
                assert [model.tokens[i] for i in ids] == symbols, (name, text, spec)
                assert tokenizer.decode(ids) == text
        split = Splitter(model.pattern).split
        n_superwords += sum(len(split(token.decode("utf-8", "ignore"))) > 1 for token in tokens)
        n_skipped += model.vocab_size < spec.vocab_size
    assert n_superwords > 20 * fuzz
    assert n_skipped > 3


def test_a_pair_that_makes_a_token_again_is_not_merged() -> None:
    # In "abc." abc is a piece, of ab+c; in "abc" a and bc are two, and what they make is a token already.
    spec = TrainingSpec(vocab_size=300, pattern=r"abc(?=\.)|ab(?=;)|bc|[\s\S]")
    texts = ["ab;" * 9, "abc." * 4, "abc" * 2]
    model = train_boundless(texts, spec, join="all")
    assert [model.tokens[i] for i in model.merge_results] == literally(texts, spec, "all")[0]
    assert {b"abc", b"bc"} < set(model.tokens)
    for name in ENCODERS:
        tokenizer = impls.load(name, model)
        assert [model.tokens[i] for i in tokenizer.encode("abc")] == [b"a", b"bc"]
        assert model.tokens[tokenizer.encode("abc.")[0]] in (b"abc", b"abc.")


@pytest.mark.parametrize("pattern", ["none", r"[0-9]|[^0-9]"])
def test_where_no_piece_is_joined_it_is_training_as_ever(pattern: str) -> None:
    texts = ["12 34 12 34", "1212, 34"] if pattern != "none" else [TEXT, TEXT[7:]]
    spec = TrainingSpec(vocab_size=290, pattern=pattern)
    model = train_boundless(texts, spec)
    assert model.with_(joined_pieces=None) == impls.get("priority").train_model(texts, spec)
    assert model.digest != model.with_(joined_pieces=None).digest


@pytest.mark.parametrize("join", ["words", "all"])
def test_encoders_agree_on_text_that_was_not_trained_on(join: JoinedPieces, fuzz: int) -> None:
    chance = random.Random(4)
    spec = TrainingSpec(vocab_size=340, pattern="cl100k", special_tokens=("<s>",))
    model = train_boundless([TEXT] * 2, spec, join=join)
    naive, *others = (impls.load(name, model) for name in ENCODERS)
    assert any(b" of the" in (token or b"") for token in model.tokens)
    words = [*TEXT.split(" "), "the", "of", "<s>", "the\n", "ça", "\ud800", "  "]
    texts = [" ".join(chance.choices(words, k=chance.randint(0, 20))) for _ in range(300 * fuzz)]
    expected = [naive.encode(text, allowed_special="all") for text in texts]
    data = TEXT.encode() + b"\xff the"
    assert naive.decode_bytes(naive.encode_bytes(data)) == data
    for text, ids in zip(texts, expected, strict=True):
        assert naive.decode(ids) == text.replace("\ud800", "\ufffd")
        for other in others:
            assert other.encode(text, allowed_special="all") == ids, (other.name, text)
            assert other.encode_array(text, allowed_special="all").tolist() == ids
    for other in others:
        assert other.encode_bytes(data) == naive.encode_bytes(data)
        assert other.encode_batch(texts, threads=2, allowed_special="all") == expected
        assert other.encode_ragged(texts, allowed_special="all")[0].tolist() == [i for ids in expected for i in ids]
        assert other.incremental(TEXT).append(" of the house").ids
        grown = other.incremental(TEXT)
        for word in words[:7]:
            grown.append(" " + word)
        assert grown.ids == naive.encode(grown.text)


def test_compiled_learns_the_merges_of_priority_on_text(fuzz: int) -> None:
    documents = list(load_corpus("samples").documents())
    spec = TrainingSpec(vocab_size=2000 + 500 * fuzz, pattern="gpt2")
    for join in JOINED_PIECES:
        model = train_boundless(documents, spec, join=join, implementation="priority")
        assert train_boundless(documents, spec, join=join) == model
        assert sum(b" " in (token or b"").strip() for token in model.tokens) > 5


def test_a_merge_that_comes_before_those_of_its_parts_joins_no_pieces() -> None:
    # a | b | cc: joining a and b first, and cc later, is not what merging inside pieces first gives.
    tokens = (*(bytes([byte]) for byte in range(256)), b"bcc", b"ab", b"cc")
    with pytest.raises(InvalidModel, match="merge 0: with joined_pieces it must follow those that make its parts"):
        Model(tokens=tokens, merges=((98, 258), (97, 98), (99, 99)), pattern=("a|b|c+",), joined_pieces="all")
    with pytest.raises(InvalidModel, match="each must make another token"):
        Model(tokens=(*tokens[:256], b"aaa", b"aa"), merges=((97, 97), (97, 257), (257, 97)), joined_pieces="all")


@pytest.mark.parametrize("name", ENCODERS)
def test_counting_and_cutting_wait_for_what_is_joined(name: str) -> None:
    text = " ab" * 1024
    tokenizer = impls.load(name, train_boundless([text], TrainingSpec(vocab_size=268)))
    assert tokenizer.encode(text) == [267]
    assert tokenizer.count(text, at_most=1) == 1
    assert tokenizer.truncate(text, 1) == text
    assert tokenizer.truncate(text + " ab", 1) == text


def test_a_special_token_and_the_end_of_a_text_are_borders() -> None:
    model = train_boundless(["ab", " ab", "ab", " ab"], TrainingSpec(vocab_size=270, special_tokens=("<s>",)))
    assert model.tokens[256:258] == (b"ab", b" ab")
    joined = train_boundless(["ab ab"] * 4, TrainingSpec(vocab_size=270, special_tokens=("<s>",)))
    assert joined.tokens[256:259] == (b"ab", b" ab", b"ab ab")
    for name in ENCODERS:
        ids = impls.load(name, joined).encode("ab<s> ab", allowed_special="all")
        assert ids == [256, joined.special_tokens["<s>"], 257]


def test_its_own_file_keeps_it_and_no_other_format_does(tmp_path: Path) -> None:
    model = train_boundless([TEXT], TrainingSpec(vocab_size=300), join="all")
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    assert '"version": 6' in (tmp_path / "model.json").read_text()
    for format in formats():
        if format != "bpebench":
            with pytest.raises(
                Unsupported, match=f"^{format}: its merges join whole pieces .BoundlessBPE.; only 'bpebench'"
            ):
                save(model, tmp_path / "other", format)
    content = (tmp_path / "model.json").read_text().replace('"joined_pieces": "all"', '"joined_pieces": "some"')
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(InvalidFile, match=r"bad\.json"):
        Model.load(tmp_path / "bad.json")


def test_who_cannot_run_it_says_so() -> None:
    model = train_boundless([TEXT], TrainingSpec(vocab_size=300))
    for name in impls.default_names():
        if name not in ENCODERS:
            with pytest.raises(Unsupported, match=f"^{name}: its merges join whole pieces"):
                impls.load(name, model)
    for name in ENCODERS:
        with pytest.raises(Unsupported, match="cannot go on from this model: its merges join whole pieces"):
            impls.get(name).extend_model(model, [TEXT], TrainingSpec(vocab_size=310))
        with pytest.raises(Unsupported, match="leaves out no merges of this model: its merges join whole pieces"):
            impls.load(name, model).encode_with_dropout(TEXT, probability=0.5, seed=1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"alphabet": "chars"}, "alphabet: 'chars' is not trained with merges that join pieces"),
        ({"ties": "first"}, "ties: 'first' is not known where merges join pieces"),
        ({"min_count": 0}, "min_count: 0 asks for pairs that no longer occur"),
        ({"vocab_size": 10}, "vocab_size: 10 is below the base size"),
    ],
)
def test_what_it_does_not_train_by_is_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidSpec, match=message):
        train_boundless([TEXT], TrainingSpec(**({"vocab_size": 300} | fields)))  # type: ignore[arg-type]
    with pytest.raises(Unsupported, match="naive: trains no merges that join pieces"):
        train_boundless([TEXT], TrainingSpec(vocab_size=300), implementation="naive")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"joined_pieces": "some"}, "joined_pieces must be words or all, not 'some'"),
        (
            {"joined_pieces": "words", "ignore_merges": True},
            "joined_pieces needs the alphabet 'bytes' and listed merges",
        ),
        ({"joined_pieces": "words", "merge_rule": "concatenation"}, "joined_pieces needs the alphabet 'bytes'"),
    ],
)
def test_a_model_that_cannot_join_pieces_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        Model(**({"tokens": tuple(bytes([byte]) for byte in range(256))} | fields))  # type: ignore[arg-type]


def test_what_a_word_is() -> None:
    joins = may_be_joined("words")
    assert all(map(joins, ["the", " the", "'s", " d’eau", "çay", " 漢字", "it's", "e\u0301"]))
    assert not any(map(joins, [" ", "1", " 12", ",", "\n", "a1", "  a", " 'a b", "the ", "\u0301a,"]))
