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
