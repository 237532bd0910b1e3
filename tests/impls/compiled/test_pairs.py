"""The table of pairs, read as documented: every merge is found, no other pair is."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from impls.compiled import tables
from impls.compiled.layout import NO_ROW, SYMBOL_BITS
from impls.compiled.tables import pair_rows
from impls.core.errors import Unsupported


def test_a_symbol_that_begins_no_pair_has_the_empty_row() -> None:
    rows = pair_rows(np.array([((5 << SYMBOL_BITS) | 6) << SYMBOL_BITS | 7], np.int64), 10)
    assert [symbol for symbol, handle in enumerate(rows["handles"].tolist()) if handle != NO_ROW] == [5]
    assert (rows["buckets"][0], rows["pairs"][0]) == (0, -1)


@pytest.mark.parametrize("limit", ["_MOST_PLACES", "_MOST_BUCKETS"])
def test_more_pairs_than_the_table_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    merges = np.array([((left << SYMBOL_BITS) | 3) << SYMBOL_BITS | 40 + left for left in range(20)], np.int64)
    assert len(pair_rows(merges, 100)["pairs"]) > 20
    monkeypatch.setattr(tables, limit, 5)
    refused(Unsupported, r"more pairs of tokens \(20\)", pair_rows, merges, 100)
