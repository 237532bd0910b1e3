"""Ids that `encode` would give, and where others drift, by the definition and in every implementation."""

from __future__ import annotations

import random

import pytest
from refusals import refused
from sentencepiece_models import pieces_model

import impls
from impls import Model, TrainingSpec
from impls.operations.canonical import Drift

SPEC = TrainingSpec(vocab_size=320, pattern="gpt2", special_tokens=("<s>", "<e>"))
LEARNED = ["I'll don't hello  world 日本語 çay 😀\r\n\n  x = 12345;\t\t\t"] * 3


@pytest.fixture(scope="module")
def model() -> Model:
    return impls.train("priority", LEARNED, SPEC).model


@pytest.mark.parametrize("name", impls.default_names())
def test_ids_are_canonical_exactly_if_encoding_their_text_gives_them(name: str, model: Model, fuzz: int) -> None:
    tokenizer = impls.load(name, model)
    rng = random.Random(4)
    n_canonical = 0
    for _ in range(150 * fuzz):
        text = "".join(rng.choices(["hello", " world", "日本", "çay", "12", "\n", "x", " "], k=rng.randrange(1, 7)))
        ids = tokenizer.encode(text)
        if rng.random() < 0.7:
            ids[rng.randrange(len(ids))] = rng.randrange(len(model.tokens))
        encoded = tokenizer.encode_ordinary(tokenizer.decode(ids))
        same = next(k for k in range(len(ids) + 1) if ids[: k + 1] != encoded[: k + 1] or k == len(ids))
        wanted = None if ids == encoded else Drift(same, encoded[same:])
        assert tokenizer.first_drift(ids) == wanted, ids
        assert tokenizer.is_canonical(ids) is (ids == encoded)
        n_canonical += ids == encoded
    assert 0 < n_canonical < 150 * fuzz


def test_special_ids_delimit_and_a_part_of_a_character_drifts(model: Model) -> None:
    tokenizer = impls.load("priority", model)
    start, end = model.special_tokens.values()
    hello, world = tokenizer.encode("hello"), tokenizer.encode(" world")
    assert tokenizer.is_canonical([start, *hello, end, start, *world, end])
    assert tokenizer.is_canonical([])
    assert tokenizer.is_canonical([start])
    letters = [model.id_by_token[letter.encode()] for letter in "hello"]
    assert letters[0] == hello[0]
    drifting = [start, *hello, end, *letters, end, *letters]
    assert tokenizer.first_drift(drifting) == Drift(2 + len(hello) + 1, hello[1:])
    cut = model.id_by_token[b"\xe6"]
    assert tokenizer.first_drift([*hello, cut]) == Drift(len(hello), tokenizer.encode("\ufffd"))
    refused(impls.UnknownId, "999", tokenizer.is_canonical, [*hello, 999])


def test_segments_are_encoded_once_each(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = impls.load("priority", model)
    real, n_characters = tokenizer.encode_ordinary, 0

    def counted(text: str) -> list[int]:
        nonlocal n_characters
        n_characters += len(text)
        return real(text)

    monkeypatch.setattr(tokenizer, "encode_ordinary", counted)
    (start, _), ids = model.special_tokens.values(), tokenizer.encode("hello world")
    assert tokenizer.is_canonical([start, *ids] * 200)
    assert n_characters == 200 * len("hello world")


def test_a_model_that_marks_spaces_judges_the_whole_text() -> None:
    tokenizer = impls.load("priority", pieces_model("▁ a b ▁a ab", "▁+a a+b", byte_tokens=()))
    assert tokenizer.encode("ab a") == [5, 4, 5]
    assert tokenizer.is_canonical([5, 4, 5])
    assert tokenizer.first_drift([2, 6, 5]) == Drift(0, [5, 4, 5])


@pytest.mark.corpus
def test_two_spellings_of_one_text() -> None:
    from harness.data import load_model

    tokenizer = impls.load("compiled", load_model("qwen"))
    assert tokenizer.decode([53122, 316]) == tokenizer.decode([393, 30002]) == " Pantom"
    assert tokenizer.is_canonical([393, 30002])
    assert tokenizer.first_drift([53122, 316]) == Drift(0, [393, 30002])
