"""PickyBPE: merges and removals by hand and recounted from scratch; the corpus is encoded as training left it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import impls
from impls import InvalidFile, InvalidModel, InvalidSpec, Model, TrainingSpec, Unsupported
from impls.core.events import REMOVED, Event, Events
from impls.core.training import corpus_pieces, may_become_token
from impls.formats import formats, save
from impls.picky import train_picky

ENCODERS = ["naive", "priority", "compiled"]
BYTES = tuple(bytes([byte]) for byte in range(256))
TEXTS = ["whence thence hence then hens when", "the hen, then the wren; whence? thence!"] * 2


def literally(
    texts: list[str], spec: TrainingSpec, threshold: float
) -> tuple[list[tuple[bytes, ...]], list[list[bytes]]]:
    """The events, as the two parts of a merge or the one token removed, and what the pieces are in the end."""
    pieces = [[bytes([byte]) for byte in piece.encode()] for piece in corpus_pieces(texts, spec)]
    order, present, parts = list(BYTES), set(BYTES), dict[bytes, tuple[bytes, bytes]]()
    events: list[tuple[bytes, ...]] = []

    def live(token: bytes) -> list[bytes]:
        return [token] if token in present else [one for part in parts[token] for one in live(part)]

    budget = spec.vocab_size - 256 - len(spec.special_tokens)
    while len(present) < 256 + budget and len(events) < 10 * budget:
        counts = Counter(pair for piece in pieces for pair in pairwise(piece))
        allowed = [pair for pair in counts if may_become_token(pair[0] + pair[1], spec)]
        top = max((counts[pair] for pair in allowed), default=0)
        if top < spec.min_count:
            break
        tied = sorted((p for p in allowed if counts[p] == top), key=lambda p: (order.index(p[0]), order.index(p[1])))
        if spec.ties == "largest":
            tied.sort(reverse=True)
        elif spec.ties == "shortest":
            tied.sort(key=lambda pair: (len(pair[0] + pair[1]), pair[0] + pair[1]))
        pair = tied[0]
        token = pair[0] + pair[1]
        before = Counter(one for piece in pieces for one in piece)
        for piece in pieces:
            at = 0
            while at + 1 < len(piece):
                if (piece[at], piece[at + 1]) == pair:
                    piece[at : at + 2] = [token]
                at += 1
        after = Counter(one for piece in pieces for one in piece)
        events.append(pair)
        parts[token] = pair
        present.add(token)
        if token not in order:
            order.append(token)
        for part in dict.fromkeys(pair):
            if len(part) > 1 and (before[part] - after[part]) / before[part] > threshold:
                present.discard(part)
                pieces = [[one for now in piece for one in (live(now) if now == part else [now])] for piece in pieces]
                events.append((part,))
    return events, pieces


def named(model: Model) -> list[tuple[bytes, ...]]:
    tokens = Events(model.events).tokens
    return [tuple(tokens[symbol] for symbol in event if symbol != REMOVED) for event in model.events]


def test_a_token_is_removed_and_its_place_is_free_by_hand() -> None:
    # a+b 5, ab+c 4: it used 4 of 5 "ab", which is removed, so the fifth is a b again
    texts, spec = ["abc", "abc", "abc", "abc", "ab"], TrainingSpec(vocab_size=258, min_count=2)
    model = train_picky(texts, spec, threshold=0.7)
    assert model.events == ((97, 98), (256, 99), (256, REMOVED))
    assert model.tokens[256:] == (b"abc",)
    for name in ENCODERS:
        encode = impls.load(name, model).encode
        assert [encode(text) for text in ("abc", "ab", "ababc")] == [[256], [97, 98], [97, 98, 256]]
    # once is enough now: a+b is made again, in the place that is free
    again = train_picky(texts, replace(spec, min_count=1), threshold=0.7)
    assert again.events == ((97, 98), (256, 99), (256, REMOVED), (97, 98))
    assert again.tokens[256:] == (b"ab", b"abc")
    for name in ENCODERS:
        encode = impls.load(name, again).encode
        assert [encode(text) for text in ("abc", "ab", "ababc")] == [[257], [256], [256, 257]]
    assert train_picky(texts, spec, threshold=0.8).events == ((97, 98), (256, 99))


@pytest.mark.parametrize("ties", ["smallest", "largest", "shortest"])
def test_every_event_is_that_of_a_literal_recount(ties: str, fuzz: int) -> None:
    chance = random.Random(ties)
    n_removed = n_again = 0
    for _ in range(40 * fuzz):
        words = ["".join(chance.choices("abç", k=chance.randint(1, 7))) for _ in range(6)]
        texts = [" ".join(chance.choices(words, k=chance.randint(0, 25))) for _ in range(2)]
        spec = TrainingSpec(
            vocab_size=chance.choice([257, 262, 275, 320]),
            pattern=chance.choice(["gpt2", "none", r"\S+|\s"]),
            ties=ties,  # type: ignore[arg-type]
            min_count=chance.choice([1, 1, 2]),
            max_token_bytes=chance.choice([None, None, 5]),
            special_tokens=chance.choice([(), ("ab",)]),
            special_ids=chance.choice(["first", "last"]),
            base_order=chance.choice(["raw", "gpt2"]),
        )
        threshold = chance.choice([0.3, 0.5, 0.6, 0.9])
        model = train_picky(texts, spec, threshold=threshold)
        events, pieces = literally(texts, spec, threshold)
        assert named(model) == events, (texts, spec, threshold)
        assert model.vocab_size <= spec.vocab_size
        naive, *others = (impls.load(name, model) for name in ENCODERS)
        for piece in pieces:
            text = b"".join(piece).decode()
            assert [model.tokens[i] for i in naive.encode_piece(text)] == piece, (texts, spec, threshold)
        for text in (*texts, "".join(chance.choices("abç ", k=60))):
            ids = naive.encode(text, disallowed_special=())
            assert naive.decode(ids) == text
            for other in others:
                assert other.encode(text, disallowed_special=()) == ids, (other.name, text, spec, model.events)
        made = Counter(b"".join(event) for event in events if len(event) == 2)
        n_removed += sum(len(event) == 1 for event in events)
        n_again += sum(times > 1 for times in made.values())
    assert n_removed > 50 * fuzz
    assert n_again > 5


def test_a_threshold_of_1_removes_nothing() -> None:
    spec = TrainingSpec(vocab_size=290, special_tokens=("<s>",))
    plain = impls.get("priority").train_model(TEXTS, spec)
    model = train_picky(TEXTS, spec, threshold=1)
    assert model.tokens == plain.tokens
    assert model.special_tokens == plain.special_tokens
    data, priority = b"hence \xff then", impls.load("priority", plain)
    for name in ENCODERS:
        tokenizer = impls.load(name, model)
        for text in (*TEXTS, "wherehence\nthen hen", "ça", "hen" * 40, ""):
            assert tokenizer.encode(text) == priority.encode(text)
        assert tokenizer.encode_bytes(data) == priority.encode_bytes(data)


def test_encoders_agree_on_text_that_was_not_trained_on(fuzz: int) -> None:
    chance = random.Random(5)
    model = train_picky(TEXTS, TrainingSpec(vocab_size=300, special_tokens=("<s>",)), threshold=0.5)
    naive, *others = (impls.load(name, model) for name in ENCODERS)
    words = [*"".join(TEXTS).split(" "), "henhen", "<s>", "ça", "\ud800", "w" * 40, " ", "whence" * 9, "hence" * 60]
    texts = [" ".join(chance.choices(words, k=chance.randint(0, 20))) for _ in range(200 * fuzz)]
    expected = [naive.encode(text, allowed_special="all") for text in texts]
    for other in others:
        for _ in range(2):  # merged, then from the caches
            assert [other.encode(text, allowed_special="all") for text in texts] == expected
        assert other.encode_batch(texts, threads=2, allowed_special="all") == expected
        for text, ids in zip(texts, expected, strict=True):
            assert other.encode_array(text, allowed_special="all").tolist() == ids
            data = text.encode("utf-8", "surrogatepass") + b"then\xff"
            assert other.encode_bytes(data) == naive.encode_bytes(data)


def test_places_go_to_tokens_that_are_used() -> None:
    spec = TrainingSpec(vocab_size=265)
    picky, plain = (train_picky(TEXTS, spec, threshold=share) for share in (0.6, 1))
    assert picky.vocab_size == plain.vocab_size == 265
    used = [
        len({i for text in TEXTS for i in impls.load("naive", model).encode(text)} - set(range(256)))
        for model in (picky, plain)
    ]
    assert used[0] > used[1]


def test_its_own_file_keeps_it_and_no_other_format_does(tmp_path: Path) -> None:
    model = train_picky(TEXTS, TrainingSpec(vocab_size=285), threshold=0.6)
    assert any(right == REMOVED for _, right in model.events)
    model.save(tmp_path / "model.json")
    for _ in range(2):  # from the file, then from the cache of parsed files
        read = Model.load(tmp_path / "model.json")
        assert read == model
        assert read.events == model.events
        assert read.digest == model.digest != model.with_(events=()).digest
    for format in formats():
        if format != "bpebench":
            with pytest.raises(Unsupported, match=f"^{format}: its tokens are removed again .*; only 'bpebench' keeps"):
                save(model, tmp_path / "other", format)
    content = (tmp_path / "model.json").read_text()
    (tmp_path / "bad.json").write_text(content.replace("[32,", "[33,", 1))
    with pytest.raises(InvalidFile, match=r"bad\.json"):
        Model.load(tmp_path / "bad.json")


def test_who_cannot_run_it_says_so() -> None:
    model = train_picky(TEXTS, TrainingSpec(vocab_size=285), threshold=0.6)
    for name in impls.default_names():
        if name not in ENCODERS:
            with pytest.raises(Unsupported, match=f"^{name}: its tokens are removed again as well as merged"):
                impls.load(name, model)
    with pytest.raises(Unsupported, match="cannot go on from this model: its tokens are removed again"):
        impls.get("naive").extend_model(model, TEXTS, TrainingSpec(vocab_size=310))
    for name in ENCODERS:
        with pytest.raises(Unsupported, match="leaves out no merges of this model: its tokens are removed again"):
            impls.load(name, model).encode_with_dropout("hence", probability=0.5, seed=1)


@pytest.mark.parametrize(
    ("fields", "threshold", "message"),
    [
        ({"alphabet": "chars"}, 0.9, "alphabet: 'chars' is not trained with removals"),
        ({"ties": "first"}, 0.9, "ties: 'first' is not trained with removals"),
        ({"min_count": 0}, 0.9, "min_count: 0 is not trained with removals"),
        ({}, 0.0, "threshold: must be above 0 and at most 1, not 0.0"),
        ({}, 1.5, "threshold: must be above 0 and at most 1, not 1.5"),
    ],
)
def test_what_it_does_not_train_by_is_named(fields: dict[str, object], threshold: float, message: str) -> None:
    with pytest.raises(InvalidSpec, match=message):
        train_picky(TEXTS, TrainingSpec(**({"vocab_size": 300} | fields)), threshold=threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("events", "fields", "message"),
    [
        ([(97, 300)], {}, r"event 0: \(97, 300\) is not possible there"),
        ([(97, 98), (256, REMOVED), (256, 99)], {}, r"event 2: \(256, 99\) is not possible there"),
        ([(97, REMOVED)], {}, r"event 0: \(97, -1\) is not possible there"),
        ([(97, 98)], {}, "the events leave b'ab', which is no token"),
        (
            [(97, 98)],
            {"tokens": (*BYTES, b"ab"), "merges": ((97, 98),)},
            "events need the alphabet 'bytes', and no merges",
        ),
        ([(97, 98)], {"tokens": (*BYTES, b"ab"), "joined_pieces": "all"}, "events go with no joined_pieces"),
    ],
)
def test_events_that_cannot_be_are_refused(events: list[Event], fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidModel, match=message):
        Model(**({"tokens": BYTES, "events": tuple(events)} | fields))  # type: ignore[arg-type]
