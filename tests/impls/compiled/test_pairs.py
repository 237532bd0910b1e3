"""The table of pairs, read as documented: every merge is found, no other pair is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from impls.compiled.layout import (
    FILTER_AT,
    HANDLE_BITS,
    MOST_SLOTS,
    MULTIPLIER_AT,
    NO_ROW,
    NONE,
    SYMBOL_BITS,
)
from impls.compiled.merge import pair_rows as module
from impls.compiled.merge.pair_rows import PairRows, pair_rows
from impls.core.errors import Unsupported

K1 = 0x9E3779B97F4A7C15


def look_up(rows: PairRows, left: int, right: int) -> int | None:
    """Return the symbol two symbols merge into."""
    handle = int(rows.handles[left])
    n_buckets = handle & -handle
    h = right * K1 % (1 << 64)
    word = int(rows.buckets[(handle - n_buckets) // 2 + h * n_buckets // (1 << 64)]) % (1 << 64)
    if not word >> (FILTER_AT + (h >> 24 & 15)) & 1:
        return None
    product = (h >> 20) * (word >> MULTIPLIER_AT) % (1 << 32)
    slot = (word & NONE) + (product * (word >> SYMBOL_BITS & MOST_SLOTS) >> 32)
    entry = int(rows.pairs[slot]) % (1 << 64)
    if entry & NONE != right:
        return None
    symbol = entry >> (SYMBOL_BITS + HANDLE_BITS)
    assert entry >> SYMBOL_BITS & ((1 << HANDLE_BITS) - 1) == rows.handles[symbol]
    return symbol


def random_merges(n_symbols: int, sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return pairs with as many rights per left symbol as `sizes` says, and what they make."""
    rng = random.Random(len(sizes))
    lefts = rng.sample(range(n_symbols), len(sizes))
    pairs = [(left, right) for left, n in zip(lefts, sizes, strict=True) for right in rng.sample(range(n_symbols), n)]
    rng.shuffle(pairs)
    return {pair: rng.randrange(n_symbols) for pair in pairs}


def table_of(merges: dict[tuple[int, int], int], n_symbols: int) -> PairRows:
    listed = [((left << SYMBOL_BITS) | right) << SYMBOL_BITS | made for (left, right), made in merges.items()]
    return pair_rows(np.array(listed, np.int64), n_symbols)


@pytest.mark.parametrize("sizes", [[], [1], [8, 9, 1, 2], [3000, 17, 64, 1, 1, 5], [1] * 500 + [12] * 50])
@pytest.mark.parametrize("n_symbols", [4000, NONE - 1])
def test_every_merge_is_found_and_nothing_else(sizes: list[int], n_symbols: int) -> None:
    merges = random_merges(n_symbols, sizes)
    rows = table_of(merges, n_symbols)
    assert all(look_up(rows, left, right) == made for (left, right), made in merges.items())
    rng = random.Random(0)
    lefts = [left for left, _ in merges] or [0]
    for _ in range(3000):
        pair = rng.choice((rng.choice(lefts), rng.randrange(n_symbols))), rng.randrange(n_symbols)
        assert look_up(rows, *pair) == merges.get(pair)


def test_a_symbol_that_begins_no_pair_has_the_empty_row() -> None:
    rows = table_of({(5, 6): 7}, 10)
    assert [symbol for symbol, handle in enumerate(rows.handles.tolist()) if handle != NO_ROW] == [5]
    assert rows.buckets[0] == 0
    assert rows.pairs[0] == -1


@pytest.mark.parametrize("limit", ["_MOST_PLACES", "_MOST_BUCKETS"])
def test_more_pairs_than_the_table_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    merges = random_merges(100, [20])
    assert look_up(table_of(merges, 100), *next(iter(merges))) is not None
    monkeypatch.setattr(module, limit, 5)
    with pytest.raises(Unsupported, match=r"more pairs of tokens \(20\)"):
        table_of(merges, 100)
