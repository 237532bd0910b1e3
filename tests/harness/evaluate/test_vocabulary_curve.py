"""One model gives the tokens of a text at every smaller size, as training to that size would."""

from __future__ import annotations

import random
from typing import Any

import pytest

import impls
from harness.evaluate.sweep import vocabulary_curve
from impls import Model, TrainingSpec

HandMade = Any
SHAPES: dict[str, dict[str, Any]] = {
    "bytes": {"vocab_size": 320},
    "specials first": {"vocab_size": 320, "special_tokens": ("<s>", "ab"), "special_ids": "first"},
    "specials last": {"vocab_size": 320, "special_tokens": ("<s>", "ab"), "unknown": "<unk>"},
    "characters": {"vocab_size": 70, "alphabet": "chars", "end_of_word": "</w>", "unknown": "<unk>"},
    "bounded": {"vocab_size": 320, "max_token_bytes": 3, "ties": "shortest"},
}


def texts(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcé", k=rng.choice([1, 2, 3, 6]))) for _ in range(25)]
    return [" ".join(rng.choices(words, k=rng.choice([1, 12]))) for _ in range(n)]


def learned(shape: str) -> Model:
    trained = impls.get("priority").train_model(texts(1, 12), TrainingSpec(**SHAPES[shape]))
    assert len(trained.merges) > 20
    return trained


@pytest.mark.parametrize("shape", SHAPES)
def test_the_curve_is_what_the_vocabularies_trained_to_each_size_give(shape: str) -> None:
    model = learned(shape)
    held_out = ["", *texts(2, 8), "xyz é", "a\ud83d"]
    sizes = sorted({0, 3, *range(0, len(model.merges), 5), len(model.merges)})
    documents = [text for text in held_out if text]
    curve = vocabulary_curve(model, held_out, sizes, len(documents))
    for n_merges, n_tokens in zip(sizes, curve.T, strict=True):
        size = model.vocab_size - len(model.merges) + n_merges
        spec = TrainingSpec(**(SHAPES[shape] | {"vocab_size": size}))
        tokenizer = impls.load("priority", impls.get("priority").train_model(texts(1, 12), spec))
        assert n_tokens.tolist() == [tokenizer.count(text) for text in documents]
    halves = vocabulary_curve(model, held_out, sizes, 2)
    assert halves.tolist() == [curve[half::2].sum(0).tolist() for half in (0, 1)]


def test_a_text_counted_by_hand(hand_made: HandMade) -> None:
    """abc_ab: 6 symbols; a+b makes ab c _ ab, ab+c makes abc _ ab."""
    model = hand_made("a+b ab+c", "_")
    curve = vocabulary_curve(model, ["abc_ab", "a"], [0, 1, 2], 2)
    assert curve.tolist() == [[6, 4, 3], [1, 1, 1]]


def test_a_step_after_one_of_higher_rank_needs_that_one_too(hand_made: HandMade) -> None:
    """No training ranks ab+c before a+b, but a file may: with one merge there is no ab for it to join."""
    model = hand_made("ab+c a+b", "ab")
    assert vocabulary_curve(model, ["abc"], [0, 1, 2], 1).tolist() == [[3, 3, 1]]
