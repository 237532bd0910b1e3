"""`compiled` gives the ids of the pure implementations, on models of both merge rules, regular or not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import tokenizers

import impls
from harness.data import load_corpus, load_model
from impls.compiled import Compiled
from impls.compiled.layout import MOST_SMALL
from impls.compiled.merge.symbols import from_merges
from impls.core.model.model import Model
from impls.core.text.text import repair_surrogates
from impls.formats import save
from impls.priority import Priority

BYTES = [bytes([byte]) for byte in range(256)]
LETTERS = b"abcd \xc3\xa9"
WINDOW = 4096
"""Size of the windows a long piece is merged in."""


def random_text(rng: random.Random) -> str:
    length = rng.choice([0, 1, 2, 5, 17, 40, 62, 63, 64, 90, 300])
    return "".join(rng.choice("aaabbcd  é1\n'") for _ in range(length))


def random_rank_file(rng: random.Random) -> Model:
    """Return a vocabulary of random strings: many tokens cannot be made from lower ranks, or not at all."""
    tokens = set()
    while len(tokens) < 60:
        tokens.add(bytes(rng.choice(LETTERS) for _ in range(rng.choice([2, 2, 2, 3, 3, 4, 5, 9, 18]))))
    ids = BYTES + sorted(tokens, key=lambda token: rng.random())
    if rng.random() < 0.5:
        rng.shuffle(ids)
    return Model(tokens=tuple(ids), merge_rule="concatenation", pattern=rng.choice(["gpt2", ()]))


def random_pairs(rng: random.Random, *, monotone: bool) -> Model:
    """Return random merges; without `monotone` in any order, with tokens that several merges make."""
    tokens = list(BYTES)
    known = set(tokens)
    merges: list[tuple[int, int]] = []
    wanted = [tokens.index(bytes([byte])) for byte in LETTERS]
    while len(merges) < 60:
        left, right = rng.choice(wanted), rng.choice(wanted)
        joined = tokens[left] + tokens[right]
        if (left, right) in merges or (monotone and joined in known) or len(joined) > 30:
            continue
        if joined not in known:
            known.add(joined)
            tokens.append(joined)
            wanted.append(len(tokens) - 1)
        merges.append((left, right))
    if not monotone:
        rng.shuffle(merges)
    return Model(
        tokens=tuple(tokens),
        merges=tuple(merges),
        pattern=rng.choice(["gpt2", "cl100k", ()]),
        ignore_merges=rng.random() < 0.3,
    )


@pytest.mark.parametrize("kind", ["rank file", "monotone", "any order"])
def test_random_models_encode_as_priority_does(kind: str, fuzz: int) -> None:
    rng = random.Random(kind)
    for _ in range(25 * fuzz):
        if kind == "rank file":
            model = random_rank_file(rng)
        else:
            model = random_pairs(rng, monotone=kind == "monotone")
        fast, reference = Compiled(model), Priority(model)
        for _ in range(40):
            text = random_text(rng)
            expected = reference.encode(text)
            assert fast.encode(text) == expected
            assert fast.encode_array(text).tolist() == expected
            assert fast.count(text) == len(expected)
            assert fast.decode(expected) == text


def long_text(rng: random.Random) -> str:
    """Return random letters, a few of them repeated, or runs: around the ends of windows."""
    length = rng.choice([WINDOW - 1, WINDOW, WINDOW + 1, WINDOW + 500, 2 * WINDOW, 3 * WINDOW + rng.randrange(WINDOW)])
    kind = rng.randrange(4)
    if kind == 0:
        return "".join(rng.choices("aaabbcd", k=length))
    if kind == 1:
        period = "".join(rng.choices("abcdé", k=rng.randrange(1, 30)))
        return period * (length // len(period) + 1)
    if kind == 2:
        return "".join(rng.choice("abcd") * rng.choice([1, 2, 3, 50, 700]) for _ in range(length // 100))
    return "".join(rng.choices("abé", k=length))


@pytest.mark.parametrize("kind", ["rank file", "monotone", "any order"])
def test_long_pieces_of_random_models(kind: str, fuzz: int) -> None:
    rng = random.Random(kind)
    for _ in range(6 * fuzz):
        model = random_rank_file(rng) if kind == "rank file" else random_pairs(rng, monotone=kind == "monotone")
        fast, reference = Compiled(model.with_(pattern=())), Priority(model.with_(pattern=()))
        for _ in range(8):
            text = long_text(rng)
            assert fast.encode(text) == reference.encode(text)


@pytest.mark.parametrize("kind", ["rank file", "monotone"])
def test_consecutive_words_of_every_length(kind: str, fuzz: int) -> None:
    """The first round compares eight pairs at once, and reads past the end of a piece."""
    rng = random.Random(kind)
    for _ in range(6 * fuzz):
        model = random_rank_file(rng) if kind == "rank file" else random_pairs(rng, monotone=True)
        fast, reference = Compiled(model.with_(pattern="gpt2")), Priority(model.with_(pattern="gpt2"))
        words = ["".join(rng.choices("aabbcd", k=length)) for length in range(1, MOST_SMALL + 9)]
        rng.shuffle(words)
        for text in (" ".join(words), "1".join(words), *words):
            assert fast.encode(text) == reference.encode(text)


@pytest.mark.parametrize("kind", ["rank file", "monotone", "any order"])
def test_a_text_merges_the_same_after_many_symbols(kind: str, fuzz: int) -> None:
    """Of pairs of equal rank the leftmost merges first, even those formed later."""
    rng = random.Random(kind)
    for _ in range(60 * fuzz):
        model = random_rank_file(rng) if kind == "rank file" else random_pairs(rng, monotone=kind == "monotone")
        fast, reference = Compiled(model.with_(pattern=())), Priority(model.with_(pattern=()))
        for _ in range(12):
            text = "".join(rng.choices("abc", k=rng.randrange(1, 40)))
            far = "".join(rng.choices("0123456789", k=70)) + text
            assert fast.encode(far) == reference.encode(far)


def test_of_two_pairs_that_came_about_later_the_leftmost_merges_first() -> None:
    by_bytes = Model(tokens=(*BYTES, b"bc", b"abca", b"abc"), merge_rule="concatenation", pattern=())
    by_pairs = Model(tokens=(*BYTES, b"bc", b"abca", b"abc"), merges=((98, 99), (258, 97), (97, 256)), pattern=())
    for model in (by_bytes, by_pairs):
        for n in (0, 40, 56, 57, 300, 5000):
            assert Compiled(model).encode("d" * n + "abcabca")[n:] == [257, 256, 97]


@pytest.mark.parametrize("longest", [16, 512, 1024, 4096, 16384])
def test_tokens_as_long_as_a_window_and_longer(longest: int) -> None:
    tokens = list(BYTES)
    size = 2
    while size <= longest:
        tokens.append(b"a" * size)
        size *= 2
    model = Model(tokens=(*tokens, b"ba", b"ab"), merge_rule="concatenation", pattern=())
    fast, reference = Compiled(model), Priority(model)
    rng = random.Random(longest)
    for length in (WINDOW, WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 77, 5 * WINDOW - 1):
        for text in ("a" * length, "b" + "a" * length, "".join(rng.choices(["a" * 300, "b", "c"], k=length // 150))):
            assert fast.encode(text) == reference.encode(text)


def test_of_several_merges_that_make_a_token_one_is_kept() -> None:
    tokens = [*BYTES, b"ab", b"bc", b"abc"]
    model = Model(tokens=tuple(tokens), merges=((97, 98), (98, 99), (256, 99), (97, 257)))
    assert len(from_merges(model).merges) == 3
    assert Compiled(model).encode("abcabc bc") == Priority(model).encode("abcabc bc")


def with_every_way(tokens: tuple[bytes, ...]) -> tuple[tuple[int, int], ...]:
    """Return all merges of two tokens that make a third, as Hugging Face lists those of a rank file."""
    ids = {token: i for i, token in enumerate(tokens)}
    return tuple(
        pair
        for token in tokens
        for pair in sorted(
            (ids[token[:k]], ids[token[k:]]) for k in range(1, len(token)) if token[:k] in ids and token[k:] in ids
        )
    )


@pytest.mark.parametrize("order", ["as the converter lists them", "in any order"])
def test_runs_of_blanks_in_every_way_of_deriving(order: str) -> None:
    rng = random.Random(order)
    tokens = (*BYTES, *(b" " * n for n in range(2, 129)), b"ab", b" a")
    merges = list(with_every_way(tokens))
    assert len(merges) == 128 * 127 // 2 + 2
    if order == "in any order":
        rng.shuffle(merges)
    model = Model(tokens=tokens, merges=tuple(merges), pattern=())
    others = [impls.load(name, model) for name in ("naive", "priority", "tokenizers")]
    fast = Compiled(model)
    texts = [" " * n for n in (*range(1, 140), 255, 256, 257, 1000)]
    texts += ["".join(rng.choice([" " * rng.randrange(1, 150), "a", "ab"]) for _ in range(12)) for _ in range(60)]
    for text in texts:
        found = fast.encode(text)
        assert [other.encode(text) for other in others] == [found] * len(others), len(text)
    assert len(from_merges(model).merges) == len(tokens) - 256


def test_llama_3_with_every_way_of_deriving(tmp_path: Path) -> None:
    """As Hugging Face's converter writes it: 280,147 merges."""
    by_ranks = load_model("llama3")
    tokens = tuple(token for token in by_ranks.tokens if token is not None)
    assert len(tokens) == len(by_ranks.tokens)
    merges = with_every_way(tokens)
    listed = by_ranks.with_(merge_rule="pairs", merges=merges, ignore_merges=True)
    path = tmp_path / "tokenizer.json"
    save(listed, path, "tokenizer.json")
    model = impls.Model.load(path)
    assert len(model.merges) == 280_147
    fast, library = Compiled(model), tokenizers.Tokenizer.from_file(str(path))
    assert len(from_merges(model).merges) <= len(tokens)
    texts = [repair_surrogates(document) for document in load_corpus("samples").documents()]
    rng = random.Random(3)
    texts += [" ".join((rng.choice(tokens).decode("utf-8", "replace")) for _ in range(60)) for _ in range(200)]
    for text in texts:
        assert fast.encode(text) == library.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("base_order", ["raw", "gpt2"])
def test_trained_models_encode_as_priority_does(base_order: str) -> None:
    texts = ["the cat sat on the mat, the rat ate the cat's hat", "kedi paspasın üstünde oturdu; kedi kediyi gördü"] * 3
    spec = impls.TrainingSpec(vocab_size=340, base_order=base_order, special_tokens=("<s>",))  # type: ignore[arg-type]
    model = Compiled.train_model(texts, spec)
    for text in [*texts, "the katedral <s>"]:
        expected = Priority(model).encode(text, allowed_special="all")
        assert Compiled(model).encode(text, allowed_special="all") == expected


def test_patterns_an_automaton_cannot_express_run_on_regex() -> None:
    model = Model(tokens=(*BYTES, b"ab"), merges=((97, 98),), pattern=(r"a++ab|\S|\s+",))
    tokenizer = Compiled(model)
    assert tokenizer.splitting.startswith("regex: ")
    for text in ("abab aab é", "", "ab" * 3000):
        assert tokenizer.encode(text) == Priority(model).encode(text)
        assert tokenizer.count(text) == len(tokenizer.encode(text))


def test_a_pattern_that_leaves_text_out_raises_as_the_others_do() -> None:
    model = Model(tokens=tuple(BYTES), pattern=("a+|b",))
    assert Compiled(model).encode("aab") == [97, 97, 98]
    with pytest.raises(impls.InvalidPattern, match="leaves out"):
        Compiled(model).encode("aac")


@pytest.mark.parametrize("boundary", ["fast", "plain"])
def test_a_normalized_model_is_normalized_before_it_is_split(boundary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", boundary)
    model = Model(tokens=tuple(BYTES), normalization="nfc", pattern="gpt2", special_tokens={"<e\u0301>": 300})
    fast, reference = Compiled(model), Priority(model)
    texts = ["e\u0301", "é", "plain", "", "e\u0301\ud83d", "\ud83d\udc4d e\u0301", "\u1100\u1161", "e\u0301" * 5000]
    for text in texts:
        expected = reference.encode(text)
        assert fast.encode(text) == expected
        assert fast.encode_array(text).tolist() == expected
        assert fast.count(text) == len(expected)
    assert fast.encode_batch(texts, threads=1) == [reference.encode(text) for text in texts]
    assert fast.encode_ragged(texts)[0].tolist() == [i for text in texts for i in reference.encode(text)]
    for text in ("a<e\u0301>", "<é>"):
        allowed = reference.encode(text, allowed_special="all")
        assert fast.encode(text, allowed_special="all") == allowed
        assert fast.encode_array(text, allowed_special="all").tolist() == allowed
    with pytest.raises(impls.SpecialToken):
        fast.encode("a<e\u0301>")
    assert fast.encode("<é>") == reference.encode("<é>")


@pytest.mark.parametrize("boundary", ["fast", "plain"])
def test_a_family_with_everything_unusual_encodes_as_priority_does(
    boundary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids from an offset, three stages, tokens always recognised, no common prefix, NFC, whole pieces."""
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", boundary)
    rng = random.Random(2)
    regular = random_rank_file(rng)
    shifted = (None,) * 100 + regular.tokens
    model = Model(
        tokens=shifted,
        merge_rule="concatenation",
        pattern=(r"\p{N}{1,3}|\P{N}+", r"[日本]+|[^日本]+", r"[^\s\p{L}\p{N}]?\p{L}+|\s+|[\s\S]"),
        special_tokens={"<s>": 3, "<s>a": 4},
        added_tokens={"[tool]": 5, "｜think｜": 6, "~ ~": 7},
        normalization="nfc",
    )
    fast, reference = Compiled(model), Priority(model)
    assert fast.splitting == "automaton, 3 stages"
    parts = [
        "ab",
        "1234567",
        "日本",
        " ",
        "~ ~",
        "~",
        "[tool]",
        "[tool",
        "｜think｜",
        "<s>",
        "e\u0301",
        "dcb",
        "\n",
        "'a",
    ]
    texts = ["".join(rng.choice(parts) for _ in range(rng.randrange(9))) for _ in range(150)]
    for text in texts:
        expected = reference.encode(text, disallowed_special=())
        assert fast.encode(text, disallowed_special=()) == expected
        assert fast.encode_array(text, disallowed_special=()).tolist() == expected
        assert fast.count(text) == len(expected)
        assert fast.encode(text, allowed_special="all") == reference.encode(text, allowed_special="all")
    assert fast.encode_batch(texts, threads=2, disallowed_special=()) == [
        reference.encode(text, disallowed_special=()) for text in texts
    ]
