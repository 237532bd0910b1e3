"""95 % intervals of figures over documents, by bootstrap.

Sums are kept by group of documents: document i belongs to group i modulo `GROUPS`. Up to that many documents, each is a
group of its own; beyond it, groups are independent samples of equal size. Groups are resampled (Efron 1979), and the
interval is widened for few groups as in `harness.measure.stats`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from harness.measure.stats import NORMAL_975, RESAMPLES, widening

GROUPS = 1000


class Figure(NamedTuple):
    """A figure and its 95 % interval; the bounds are None if there is none, as for a single document."""

    value: float | None
    low: float | None = None
    high: float | None = None


def by_group(values: Sequence[int] | np.ndarray, first: int = 0) -> np.ndarray:
    """Return the sums by group of a value for each document, of which the first has index `first` in its text."""
    sums = np.zeros(GROUPS, np.int64)
    np.add.at(sums, (first + np.arange(len(values))) % GROUPS, values)
    return sums


def ratio(tops: np.ndarray, bottoms: np.ndarray, n_documents: int, *, is_share: bool = False) -> Figure:
    """Return the ratio of the totals of `tops` and `bottoms`, sums by group; None if the total of `bottoms` is 0.

    For a share of 0 or 1 over all documents, resampling would give an interval of no width; it gets the exact binomial
    bound (Clopper and Pearson 1934) with the groups that hold anything to count as trials, each at most one document
    up to as many documents as there are groups.
    """
    top, bottom = float(tops.sum()), float(bottoms.sum())
    if not bottom:
        return Figure(None)
    value, n_groups = top / bottom, min(n_documents, len(tops))
    if n_groups < 2:
        return Figure(value)
    if is_share and value in (0.0, 1.0):
        bound = 1 - 0.025 ** (1 / int(np.count_nonzero(bottoms)))
        return Figure(value, 0.0, bound) if value == 0 else Figure(value, 1 - bound, 1.0)
    weights = _weights(n_groups)
    below = weights @ bottoms[:n_groups]
    draws = (weights @ tops[:n_groups])[below > 0] / below[below > 0]
    factor = widening(n_groups)
    low, high = map(float, np.percentile(draws, [2.5, 97.5]))
    if not is_share and value > 0 and low > 0:
        return Figure(value, value * min(1.0, low / value) ** factor, value * max(1.0, high / value) ** factor)
    low, high = value - max(0.0, value - low) * factor, value + max(0.0, high - value) * factor
    return Figure(value, max(0.0, low), min(1.0, high) if is_share else high)


@lru_cache(maxsize=4)
def _weights(n_groups: int) -> np.ndarray:
    """Return how often each resample takes each group: int64 of shape (RESAMPLES, n_groups).

    Integer products avoid the linear algebra library, whose threads wait for each other on a busy machine.
    """
    return np.random.default_rng(0).multinomial(n_groups, np.full(n_groups, 1 / n_groups), RESAMPLES)


def quantile(lengths: Counter[int], share: float) -> Figure:
    """Return a quantile of counted numbers: the smallest number that at least `share` of all do not exceed.

    Its interval comes from order statistics and assumes no distribution; a bound beyond the sample is None.
    """
    numbers = sorted(lengths)
    up_to = np.cumsum([lengths[number] for number in numbers])
    n = int(up_to[-1])

    def at(rank: float) -> float | None:
        place = math.ceil(rank)
        return float(numbers[int(np.searchsorted(up_to, place))]) if 1 <= place <= n else None

    if n < 2:
        return Figure(at(1))
    half = NORMAL_975 * math.sqrt(n * share * (1 - share))
    return Figure(at(max(1.0, n * share)), at(n * share - half), at(n * share + half + 1))


def json_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells with the value of each figure in its place, and `intervals`: [low, high] of those that have one."""
    figures = {name: cell for name, cell in cells.items() if isinstance(cell, Figure)}
    bounds = {name: [low, high] for name, (_, low, high) in figures.items() if (low, high) != (None, None)}
    return {**cells, **{name: figure.value for name, figure in figures.items()}, "intervals": bounds}


def plain_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells for CSV: a figure is followed by its `_low` and `_high`."""
    plain: dict[str, Any] = {}
    for name, cell in cells.items():
        plain[name] = cell
        if isinstance(cell, Figure):
            plain |= {name: cell.value, f"{name}_low": cell.low, f"{name}_high": cell.high}
    return plain
