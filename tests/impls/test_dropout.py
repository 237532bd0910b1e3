"""BPE-dropout: the definition, and that `bytelevel` repeats the ids of `naive`, coin by coin."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
from random_models import BYTES, random_ranks
from refusals import refused

import impls
from impls import Model, TrainingSpec, Unsupported
from impls.bytelevel import ByteLevel
from impls.compiled import Compiled
from impls.naive import Naive

TEXT = "the cat's hat sat; kedi paspasın üstünde 日本語 oturdu  12345\n\n"


@pytest.fixture(scope="module")
def trained() -> Model:
    spec = TrainingSpec(vocab_size=340, pattern="cl100k", special_tokens=("<s>",))
    return impls.get("priority").train_model([TEXT, "the cat sat on the mat", "kedi kediyi gördü"] * 2, spec)


@pytest.mark.parametrize("kind", ["rank file", "trained"])
def test_bytelevel_leaves_out_what_naive_leaves_out(kind: str, trained: Model) -> None:
    rng = random.Random(kind)
    for _ in range(12):
        model = random_ranks(rng) if kind == "rank file" else trained
        other, reference = ByteLevel(model), Naive(model)
        for _ in range(20):
            text = "".join(rng.choice("aaabbcd  é1\n'") for _ in range(rng.choice([0, 1, 3, 9, 30, 90])))
            probability, seed = rng.choice([0.0, 0.05, 0.3, 0.5, 0.9, 1.0]), rng.randrange(1 << 64)
            expected = reference.encode_with_dropout(text, probability=probability, seed=seed)
            assert other.encode_with_dropout(text, probability=probability, seed=seed) == expected
            assert other.decode(expected) == text


def test_special_tokens_are_never_left_out(trained: Model) -> None:
    for tokenizer in (Compiled(trained), Naive(trained)):
        ids = tokenizer.encode_with_dropout("<s>the<s>", probability=1, seed=9, allowed_special="all")
        assert ids == [trained.special_tokens["<s>"], *b"the", trained.special_tokens["<s>"]]


def test_no_probability_is_plain_and_certainty_is_bytes(trained: Model) -> None:
    for tokenizer in (Compiled(trained), Naive(trained)):
        assert tokenizer.encode_with_dropout(TEXT, probability=0, seed=9) == tokenizer.encode(TEXT)
        assert tokenizer.encode_with_dropout(TEXT, probability=1, seed=9) == list(TEXT.encode())
        assert tokenizer.encode_with_dropout("", probability=0.4, seed=9) == []


def test_every_segmentation_comes_as_often_as_the_definition_says() -> None:
    """Against probabilities computed from the definition in the paper, with exact fractions."""
    tokens = (*BYTES, b"ab", b"bc", b"abc", b"cd", b"abcd")
    merges = ((97, 98), (98, 99), (256, 99), (99, 100), (258, 100))
    model = Model(tokens=tokens, merges=merges)
    rank = {pair: number for number, pair in enumerate(merges)}
    p = Fraction(3, 10)

    @cache
    def distribution(ids: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
        possible = sorted((rank[pair], at) for at in range(len(ids) - 1) if (pair := ids[at : at + 2]) in rank)
        found: dict[tuple[int, ...], Fraction] = {ids: p ** len(possible)}
        for before, (number, at) in enumerate(possible):
            made = model.merge_results[number]
            for result, chance in distribution((*ids[:at], made, *ids[at + 2 :])).items():
                found[result] = found.get(result, Fraction(0)) + p**before * (1 - p) * chance
        return found

    expected = distribution(tuple(b"abcdabc"))
    assert sum(expected.values()) == 1
    reference, n = Naive(model), 20000
    seen = Counter(tuple(reference.encode_with_dropout("abcdabc", probability=0.3, seed=seed)) for seed in range(n))
    assert seen.keys() <= expected.keys()
    for ids, chance in expected.items():
        spread = (n * float(chance) * (1 - float(chance))) ** 0.5
        assert abs(seen[ids] - n * float(chance)) < 5 * spread + 1, ids


def test_nonsense_is_refused(trained: Model) -> None:
    tokenizer = Compiled(trained)
    for probability in (-0.1, 1.1, float("nan")):
        refused(ValueError, "probability", tokenizer.encode_with_dropout, "a", probability=probability, seed=0)
    refused(Unsupported, "dropout", impls.load("greedy", trained).encode_with_dropout, "a", probability=0.5, seed=0)
