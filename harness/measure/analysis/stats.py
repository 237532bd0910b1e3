"""Statistics of samples: medians, ratios with intervals, the noise floor, ranks, exponents. Pure functions on numbers.

Samples come in rounds: samples of one round share a process and differ little, rounds differ more. So intervals
resample whole rounds, each represented by its median (resampling within rounds as well would count the noise inside
them twice; Davison and Hinkley 1997, "Bootstrap Methods and their Application", §3.8); samples are resampled only
where there is a single round. With few rounds a bootstrap interval is too narrow; it is widened by the ratio of
Student's t to the normal quantile and by sqrt(n/(n-1)) (Hesterberg 2015, "What Teachers Should Know About the
Bootstrap").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

Rounds = Sequence[Sequence[float]]
"""Samples by round, in seconds (or seconds per byte)."""
Claim = Literal["faster", "slower", "≈"]

NOISE_MARGIN = 10.0
"""Ratio of times beyond which a difference is claimed although the run did not measure its own noise.

In the committed records the ratio of two implementations on one workload changed between two rounds of a run by a
factor of 4.64 at most (6,459 pairs).
"""
RESAMPLES = 2000
_BIN_WIDTH = 1.02
"""Relative width of the bins of call times: 2 %."""
NORMAL_975 = 1.959964
_T_975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
)  # fmt: skip
"""Student's t at 0.975, by degrees of freedom from 1."""


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float
    rounds: int


def student_t_975(degrees_of_freedom: int) -> float:
    """Return Student's t at 0.975: to four digits up to 20 degrees of freedom, within 0.2 % beyond."""
    if degrees_of_freedom <= len(_T_975):
        return _T_975[degrees_of_freedom - 1]
    z = NORMAL_975
    return z + (z**3 + z) / (4 * degrees_of_freedom)


def spread(samples: Sequence[float]) -> float:
    """Return the median absolute deviation of samples from their median, as a share of it."""
    median = float(np.median(samples))
    return float(np.median(np.abs(np.asarray(samples) - median))) / median if median else 0.0


def ratio_interval(a: Rounds, b: Rounds, *, paired: bool = True, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return the ratio of the time of `a` to that of `b`, with its 95 % interval.

    The time of a round is the median of its samples, the time of a side the geometric mean over rounds. Rounds of one
    run (`paired`, and equally many) are resampled in pairs, because a slow round slows down both.
    """
    if not a or not b:
        raise ValueError("a ratio needs at least one round of each")
    random = np.random.default_rng(seed)
    paired = paired and len(a) == len(b)
    rounds_a = random.integers(len(a), size=(resamples, len(a)))
    rounds_b = rounds_a if paired else random.integers(len(b), size=(resamples, len(b)))
    draws = _resampled_log_times(a, rounds_a, random) - _resampled_log_times(b, rounds_b, random)
    estimate = _log_time(a) - _log_time(b)
    return _widened(estimate, draws, min(len(a), len(b)))


def _log_time(rounds: Rounds) -> float:
    return float(np.mean([math.log(float(np.median(samples))) for samples in rounds]))


def _resampled_log_times(rounds: Rounds, chosen: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return log times, shape (resamples,), of the rounds in `chosen`; of resampled samples for a single round."""
    if len(rounds) == 1:
        values = np.asarray(rounds[0], dtype=float)
        picks = random.integers(len(values), size=(len(chosen), len(values)))
        return np.asarray(np.log(np.median(values[picks], axis=1)))
    medians = np.log([float(np.median(samples)) for samples in rounds])
    return np.asarray(medians[chosen].mean(axis=1))


def _widened(estimate: float, draws: np.ndarray, n_rounds: int) -> Interval:
    low, high = np.percentile(draws, [2.5, 97.5])
    factor = 1.0
    if n_rounds > 1:
        factor = math.sqrt(n_rounds / (n_rounds - 1)) * student_t_975(n_rounds - 1) / NORMAL_975
    return Interval(
        math.exp(estimate),
        math.exp(estimate - max(0.0, estimate - float(low)) * factor),
        math.exp(estimate + max(0.0, float(high) - estimate) * factor),
        n_rounds,
    )


def ratio_of_totals(
    tops: np.ndarray, bottoms: np.ndarray, *, seed: int = 0, resamples: int = RESAMPLES
) -> list[Interval]:
    """Return the total of `tops` over that of each column of `bottoms`, with its 95 % interval.

    Rows, shape (n_rows,) and (n_rows, n_columns), all positive, are resampled, each with all its columns. The interval
    of a single row is its value.
    """
    both = np.column_stack((tops, bottoms)).astype(float)
    random = np.random.default_rng(seed)
    n_rows = len(both)
    totals = [np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows) @ both for _ in range(resamples)]
    logs, estimates = np.log(totals), np.log(both.sum(axis=0))
    return [
        _widened(float(estimates[0] - estimates[column]), logs[:, 0] - logs[:, column], n_rows)
        for column in range(1, both.shape[1])
    ]


def noise_floor(pairs: Sequence[tuple[Rounds, Rounds]]) -> float | None:
    """Return the largest difference between two copies of one implementation in this run, as a share: 0.01 is 1 %.

    `pairs` holds the rounds of both copies for each workload. None if no copy was run.
    """
    if not pairs:
        return None
    return max(math.exp(abs(_log_time(a) - _log_time(b))) - 1 for a, b in pairs)


def claim(interval: Interval, floor: float | None) -> Claim:
    """Return what may be claimed of a ratio of times: the side above is faster, slower, or neither (≈).

    A difference is claimed only where the interval excludes 1 and the ratio is further from 1 than the noise floor.
    With one round, or without a floor, the noise of the run is unknown, and the ratio must exceed `NOISE_MARGIN` too.
    """
    least = 1.0 if floor is None else 1 + floor
    if floor is None or interval.rounds < 2:
        least = max(least, NOISE_MARGIN)
    if max(interval.value, 1 / interval.value) <= least or interval.low <= 1 <= interval.high:
        return "≈"
    return "slower" if interval.value > 1 else "faster"


def resolution(intervals: Sequence[Interval], floor: float | None) -> float | None:
    """Return the smallest difference, as a share, this run usually resolves: its floor, or half an interval's width."""
    if floor is None or not intervals:
        return None
    half_widths = [math.sqrt(interval.high / interval.low) - 1 for interval in intervals]
    return max(floor, float(np.median(half_widths)))


class Ranked(NamedTuple):
    """One implementation, ranked over the workloads that all share."""

    name: str
    ratio: Interval
    """Geometric mean of its times relative to the best implementation's."""
    to_above: Interval | None
    """The same relative to the implementation ranked before it; None for the best."""
    rank_probabilities: tuple[float, ...]
    """Probability of being first, second, and so on, by bootstrap."""


def rank(times: Mapping[str, Mapping[str, Rounds]], *, resamples: int = RESAMPLES) -> list[Ranked]:
    """Rank implementations by the geometric mean of their times over the workloads they all have.

    `times` maps implementation -> workload -> rounds (seconds per byte). Return an empty result if they share no
    workload.
    """
    names = list(times)
    shared = sorted(set.intersection(*(set(times[name]) for name in names))) if names else []
    if not shared:
        return []
    random = np.random.default_rng(0)
    estimates = np.array([np.mean([_log_time(times[name][w]) for w in shared]) for name in names])
    draws = np.empty((resamples, len(names)))
    for column, name in enumerate(names):
        total = np.zeros(resamples)
        for workload in shared:
            rounds = times[name][workload]
            chosen = random.integers(len(rounds), size=(resamples, len(rounds)))
            total += _resampled_log_times(rounds, chosen, random)
        draws[:, column] = total / len(shared)
    n_rounds = min(len(times[name][workload]) for name in names for workload in shared)
    places = draws.argsort(axis=1).argsort(axis=1)
    order = np.argsort(estimates)

    def ratio(one: int, other: int) -> Interval:
        return _widened(float(estimates[one] - estimates[other]), draws[:, one] - draws[:, other], n_rounds)

    return [
        Ranked(
            names[column],
            ratio(column, order[0]),
            ratio(column, order[place - 1]) if place else None,
            tuple(float((places[:, column] == k).mean()) for k in range(len(names))),
        )
        for place, column in enumerate(order)
    ]


class Exponent(NamedTuple):
    """How time grows with the size of the input: seconds ~ n ** value."""

    value: float
    low: float
    high: float
    n_points: int
    lower_bound: float | None
    """Lower bound on the exponent up to the next size, if that reached its time limit."""


def fit_exponent(
    points: Sequence[tuple[float, float]], timeout: tuple[float, float] | None = None, last: int = 6
) -> Exponent | None:
    """Return the least-squares slope over the `last` of the log-log `points` (n, seconds), with its 95 % interval.

    The smallest sizes are left out: they show the cost of a call, not growth. `timeout` is the first size that did not
    finish and the limit it reached. Return None with fewer than two points.
    """
    usable = sorted(points)[-last:]
    if len(usable) < 2:
        return None
    x, y = np.log(np.asarray(usable, dtype=float)).T
    centred = x - x.mean()
    slope = float((centred * y).sum() / (centred**2).sum())
    half = math.inf
    if len(usable) > 2:
        residuals = y - y.mean() - slope * centred
        variance = float((residuals**2).sum()) / (len(usable) - 2)
        half = student_t_975(len(usable) - 2) * math.sqrt(variance / float((centred**2).sum()))
    bound = None
    if timeout is not None:
        n, seconds = usable[-1]
        bound = math.log(timeout[1] / seconds) / math.log(timeout[0] / n)
    return Exponent(slope, slope - half, slope + half, len(usable), bound)


def binned(seconds: Iterable[float]) -> Counter[int]:
    """Count times in seconds by bin; bin b holds 1.02^b to 1.02^(b+1) nanoseconds."""
    return Counter(math.floor(math.log(max(1.0, time * 1e9)) / math.log(_BIN_WIDTH)) for time in seconds)


def percentile(bins: Mapping[int, int], share: float) -> float:
    """Return the seconds that `share` of the times do not exceed, within 1 %; raise `ValueError` without times."""
    total = sum(bins.values())
    if not total:
        raise ValueError("no times")
    passed = 0
    for number in sorted(bins):
        passed += bins[number]
        if passed >= share * total:
            break
    return float(_BIN_WIDTH ** (number + 0.5)) / 1e9
