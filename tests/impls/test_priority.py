"""The heap: its number of operations on long pieces, and that stale entries do no harm."""

from __future__ import annotations

import random
import sys

import pytest

import impls
from impls import Model, TrainingSpec
from impls.priority import Priority

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def trained(seed: int, n_merges: int) -> Model:
    chance = random.Random(seed)
    texts = ["".join(chance.choices(ALPHABET[:6], k=200)) for _ in range(40)]
    return impls.get("priority").train_model(texts, TrainingSpec(vocab_size=256 + n_merges, pattern="none"))


def long_piece(family: str, n: int) -> str:
    if family == "random letters":
        return "".join(random.Random(n).choices(ALPHABET[:6], k=n))
    return {"one letter": "a", "two letters": "ab", "period of seven": "aabacab"}[family] * n


FAMILIES = ["random letters", "one letter", "two letters", "period of seven"]


@pytest.mark.parametrize("family", FAMILIES)
def test_heap_operations_grow_in_proportion_to_the_piece(family: str) -> None:
    model, recursion = trained(1, 300), sys.getrecursionlimit()

    def operations(n: int) -> int:
        tokenizer = Priority(model)
        ids = tokenizer.encode_piece(long_piece(family, n)[:n])
        # n - 1 candidates at first, at most two more for each merge, each pushed and popped once; at log n a piece.
        assert tokenizer.heap_operations <= 2 * (n - 1) + 4 * (n - len(ids))
        return tokenizer.heap_operations

    assert 1.9 < operations(40_000) / operations(20_000) < 2.1
    assert sys.getrecursionlimit() == recursion


def test_candidates_whose_neighbours_are_gone_are_dropped(hand_made) -> None:
    # a+b takes both candidates of ab+a away from under it, as the docstring of `encode_piece` shows.
    tokenizer = Priority(hand_made("a+b ab+a"))
    assert [tokenizer.decode([i]) for i in tokenizer.encode("abab")] == ["ab", "ab"]
    assert [tokenizer.decode([i]) for i in tokenizer.encode("abaab")] == ["aba", "ab"]


@pytest.mark.parametrize("ties", ["smallest", "first", "largest", "shortest"])
def test_training_from_one_long_piece_equals_recounting(ties: str) -> None:
    text = "".join(random.Random(5).choices("aab", k=3_000))
    spec = TrainingSpec(vocab_size=256 + 120, pattern="none", ties=ties)  # type: ignore[arg-type]
    lazy, recounted = (impls.get(name).train_model([text], spec) for name in ("priority", "naive"))
    assert lazy.merges == recounted.merges
    assert lazy.merge_counts == recounted.merge_counts


def test_the_first_occurrence_stays_right_when_symbols_before_it_have_merged() -> None:
    # Word xyxyab: merging x+y twice moves a+b from symbol 4 to symbol 2 of its word, its bytes stay where they are.
    texts = ["xyxyab", "zzcd", "xy", "ab", "cd"]
    spec = TrainingSpec(vocab_size=256 + 3, pattern="none", ties="first")
    models = [impls.get(name).train_model(texts, spec) for name in ("priority", "naive")]
    assert models[0].merges == models[1].merges == ((120, 121), (97, 98), (99, 100))
