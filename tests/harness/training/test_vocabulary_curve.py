"""One model gives the tokens of a text at every smaller size, as training to that size would."""

from __future__ import annotations

import random
from typing import Any

import pytest

import impls
from harness.training.vocabulary_curve import cut, uncuttable, vocabulary_curve
from impls import Model, TrainingSpec

HandMade = Any
SHAPES: dict[str, dict[str, Any]] = {
    "bytes": {"vocab_size": 320},
    "specials first": {"vocab_size": 320, "special_tokens": ("<s>", "ab"), "special_ids": "first"},
    "specials last": {"vocab_size": 320, "special_tokens": ("<s>", "ab"), "unknown": "<unk>"},
    "characters": {"vocab_size": 70, "alphabet": "chars", "end_of_word": "</w>", "unknown": "<unk>"},
    "bounded": {"vocab_size": 320, "max_token_bytes": 3, "forbidden_tokens": ("bc",), "ties": "shortest"},
}


def texts(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcé", k=rng.choice([1, 2, 3, 6]))) for _ in range(25)]
    return [" ".join(rng.choices(words, k=rng.choice([1, 12]))) for _ in range(n)]


def learned(shape: str, **changes: Any) -> Model:
    trained = impls.get("priority").train_model(texts(1, 12), TrainingSpec(**(SHAPES[shape] | changes)))
    assert len(trained.merges) > 20
    return trained


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_cut_to_k_merges_is_the_model_trained_to_k_merges(shape: str) -> None:
    model = learned(shape)
    assert uncuttable(model) is None
    for n_merges in (0, 1, 7, len(model.merges) - 1, len(model.merges)):
        size = model.vocab_size - len(model.merges) + n_merges
        spec = TrainingSpec(**(SHAPES[shape] | {"vocab_size": size}))
        trained, shorter = impls.get("priority").train_model(texts(1, 12), spec), cut(model, n_merges)
        assert shorter.digest == trained.digest
        assert shorter.merge_counts == trained.merge_counts
        assert shorter.vocab_size == size


@pytest.mark.parametrize("shape", SHAPES)
def test_the_curve_is_what_encoding_by_each_cut_model_gives(shape: str) -> None:
    model = learned(shape)
    held_out = ["", *texts(2, 8), "xyz é", "a\ud83d"]
    sizes = [0, 3, len(model.merges)]
    curve = vocabulary_curve(model, held_out, sizes)
    documents = [text for text in held_out if text]
    assert curve.n_bytes.tolist() == [len(text.encode("utf-8", "surrogatepass")) for text in documents]
    for n_merges in {*range(0, len(model.merges), 5), *sizes}:
        tokenizer = impls.load("priority", cut(model, n_merges))
        counted = [tokenizer.count(text) for text in documents]
        assert curve.n_tokens[n_merges] == sum(counted)
        assert curve.bytes_per_token(n_merges) == curve.n_bytes.sum() / sum(counted)
        if n_merges in sizes:
            assert curve.n_tokens_by_group[:, sizes.index(n_merges)].tolist() == counted


def test_a_text_counted_by_hand(hand_made: HandMade) -> None:
    """abc_ab: 6 symbols; a+b makes ab c _ ab, ab+c makes abc _ ab."""
    model = hand_made("a+b ab+c", "_")
    curve = vocabulary_curve(model, ["abc_ab", "a"], [1])
    assert curve.n_tokens.tolist() == [7, 5, 4]
    assert curve.n_tokens_by_group.tolist() == [[4], [1]]
    assert [curve.bytes_per_token(k) for k in range(3)] == [7 / 7, 7 / 5, 7 / 4]


def test_a_step_after_one_of_higher_rank_needs_that_one_too(hand_made: HandMade) -> None:
    """No training ranks ab+c before a+b, but a file may: with one merge there is no ab for it to join."""
    model = hand_made("ab+c a+b", "ab")
    curve = vocabulary_curve(model, ["abc"])
    assert curve.n_tokens.tolist() == [3, 3, 1]


def test_models_whose_first_merges_are_no_vocabulary_say_why(hand_made: HandMade) -> None:
    model = hand_made("a+b", "")
    assert uncuttable(model) is None
    assert uncuttable(hand_made("a+b", "", merge_rule="concatenation")) == "it lists no merges"
    assert uncuttable(model.with_(ignore_merges=True)) == "it looks up whole pieces"
    assert uncuttable(model.with_(added_tokens={"x": 3})) == "it has tokens that no merge makes"
    assert uncuttable(hand_made("a+b", "ba")) == "its ids are not in the order of its merges"
