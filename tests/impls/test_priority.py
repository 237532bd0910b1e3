"""The heap: its number of operations on long pieces, and that stale entries do no harm."""

from __future__ import annotations

import sys

import pytest
from long_pieces import PIECES, trained

from impls.priority import Priority


@pytest.mark.parametrize("family", PIECES)
def test_heap_operations_grow_in_proportion_to_the_piece(family: str) -> None:
    model, recursion = trained(300), sys.getrecursionlimit()

    def operations(n: int) -> int:
        tokenizer = Priority(model)
        ids = tokenizer.encode_piece(PIECES[family](n))
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
