"""One model gives the tokens of a text at every smaller size, as training to that size would."""

from __future__ import annotations

import random
from typing import Any

import pytest

import impls
from harness.training.vocabulary_curve import vocabulary_curve
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
    sizes = [0, 3, len(model.merges)]
    curve = vocabulary_curve(model, held_out, sizes)
    documents = [text for text in held_out if text]
    assert curve.n_bytes.tolist() == [len(text.encode("utf-8", "surrogatepass")) for text in documents]
    for n_merges in {*range(0, len(model.merges), 5), *sizes}:
        size = model.vocab_size - len(model.merges) + n_merges
        spec = TrainingSpec(**(SHAPES[shape] | {"vocab_size": size}))
        tokenizer = impls.load("priority", impls.get("priority").train_model(texts(1, 12), spec))
        counted = [tokenizer.count(text) for text in documents]
        assert curve.n_tokens[n_merges] == sum(counted)
        if n_merges in sizes:
            assert curve.n_tokens_by_group[:, sizes.index(n_merges)].tolist() == counted


def test_a_text_counted_by_hand(hand_made: HandMade) -> None:
    """abc_ab: 6 symbols; a+b makes ab c _ ab, ab+c makes abc _ ab."""
    model = hand_made("a+b ab+c", "_")
    curve = vocabulary_curve(model, ["abc_ab", "a"], [1])
    assert curve.n_tokens.tolist() == [7, 5, 4]
    assert curve.n_tokens_by_group.tolist() == [[4], [1]]


def test_a_step_after_one_of_higher_rank_needs_that_one_too(hand_made: HandMade) -> None:
    """No training ranks ab+c before a+b, but a file may: with one merge there is no ab for it to join."""
    model = hand_made("ab+c a+b", "ab")
    curve = vocabulary_curve(model, ["abc"])
    assert curve.n_tokens.tolist() == [3, 3, 1]
