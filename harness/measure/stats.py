"""Statistics of passes: ratios with intervals, claims, exponents. Pure functions on numbers.

Passes of one opening share a process and differ little, openings differ more (hash seeds, address spaces), and now and
then one is far off. So the unit is an opening, by the median of its rounds, and the estimate a trimmed mean with the
standard error that belongs to it, from winsorized deviations (Tukey and McLaughlin 1963, "Less Vulnerable Confidence
and Significance Procedures for Location"): where such openings occur its intervals hold the truth as often as where
they do not, and are narrower than those of a bootstrap of the same mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np

Logs = Sequence[Sequence[float]]
"""Logarithms of times or of ratios, by opening and round."""
Claim = Literal["faster", "slower", "≈"]

NOISE_MARGIN = 10.0
"""Ratio of times beyond which a difference is claimed although the run did not measure its own noise."""
RESAMPLES = 1000
"""Number of draws of an estimate."""
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


class Estimate(NamedTuple):
    """The logarithm of a time or ratio."""

    value: float
    deviations: np.ndarray
    """What each opening adds to the error of the value; the squares sum up to that of the standard error."""
    n_kept: int
    """Number of openings that are not left out."""

    @property
    def interval(self) -> Interval:
        """Return the time or ratio with its 95 % interval, by Student's t of the openings that are not left out."""
        error = math.sqrt(float(self.deviations @ self.deviations))
        half = student_t_975(self.n_kept - 1) * error if self.n_kept > 1 else 0.0
        return Interval(*(math.exp(self.value + shift) for shift in (0.0, -half, half)))

    @property
    def draws(self) -> np.ndarray:
        """Return values as other openings might give them: RESAMPLES, those of a second estimate from the same ones."""
        return self.value + self.deviations @ np.random.default_rng(0).standard_normal(
            (len(self.deviations), RESAMPLES)
        )


def student_t_975(degrees_of_freedom: int) -> float:
    """Return Student's t at 0.975: to four digits up to 20 degrees of freedom, within 0.2 % beyond."""
    if degrees_of_freedom <= len(_T_975):
        return _T_975[degrees_of_freedom - 1]
    z = NORMAL_975
    return z + (z**3 + z) / (4 * degrees_of_freedom)


def widening(n: int) -> float:
    """Return how much wider than a bootstrap interval of `n` units the interval must be."""
    return math.sqrt(n / (n - 1)) * student_t_975(n - 1) / NORMAL_975 if n > 1 else 1.0


def estimate(logs: Logs) -> Estimate:
    """Return the trimmed mean over openings of the median over rounds; raise `ValueError` without any.

    Of six openings or more the lowest and the highest sixth are left out: what disturbed one opening does not count. Of
    20 or more with one pass each (what a process does once) a third: no median has removed a disturbed pass there.
    Of a single opening the rounds are taken for openings.
    """
    openings = [rounds for rounds in logs if len(rounds)]
    if not openings:
        raise ValueError("an estimate needs at least one pass")
    values = np.array(openings[0] if len(openings) == 1 else [np.median(rounds) for rounds in openings], dtype=float)
    n, ordered = len(values), np.sort(values)
    is_once = len(openings) >= 20 and max(map(len, openings)) == 1
    n_trimmed = n // 3 if is_once else n // 6
    kept = ordered[n_trimmed : n - n_trimmed]
    winsorized = values.clip(kept[0], kept[-1])
    deviations = (winsorized - winsorized.mean()) / len(kept) * math.sqrt(n / max(1, n - 1))
    return Estimate(float(kept.mean()), deviations, len(kept))


def difference(a: Estimate, b: Estimate) -> Estimate:
    """Return the logarithm of the ratio of two times, of which the same openings deviate together."""
    return Estimate(a.value - b.value, _sum([a.deviations, -b.deviations]), min(a.n_kept, b.n_kept))


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the logarithm of the geometric mean."""
    n = len(estimates)
    value, deviations = sum(each.value for each in estimates) / n, _sum([each.deviations / n for each in estimates])
    return Estimate(value, deviations, min(each.n_kept for each in estimates))


def _sum(deviations: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum by opening; contestants that are left out later have fewer."""
    total = np.zeros(max(map(len, deviations)))
    for each in deviations:
        total[: len(each)] += each
    return total


def claim(interval: Interval, floor: float | None) -> Claim:
    """Return what may be claimed of a ratio of times: the side above is faster, slower, or neither (≈).

    A difference counts if the interval excludes 1 and the ratio is further from 1 than the noise floor. Without a floor
    the noise of the run is unknown, and the ratio must exceed `NOISE_MARGIN`.
    """
    least = NOISE_MARGIN if floor is None else 1 + floor
    if max(interval.value, 1 / interval.value) <= least or interval.low <= 1 <= interval.high:
        return "≈"
    return "slower" if interval.value > 1 else "faster"


def floor_of(copies: Sequence[Interval]) -> float | None:
    """Return the noise floor as a share: how far from 1 the ratios of copies may lie; None without copies."""
    return max(max(copy.high, 1 / copy.low) for copy in copies) - 1 if copies else None


class Exponent(NamedTuple):
    """How time grows with the size of the input: seconds ~ n ** value."""

    value: float
    low: float
    high: float
    lower_bound: float | None
    """Lower bound on the exponent up to the next size, if that reached its time limit."""


def fit_exponent(points: Sequence[tuple[float, float]], timeout: tuple[float, float] | None = None) -> Exponent | None:
    """Return the least-squares slope over the last six of the log-log `points` (n, seconds), with its 95 % interval.

    The smallest sizes are left out: they show the cost of a call, not growth. `timeout` is the first size that did not
    finish and the limit it reached. Return None with fewer than two points.
    """
    usable = sorted(points)[-6:]
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
    return Exponent(slope, slope - half, slope + half, bound)


def binned(seconds: Iterable[float]) -> Counter[int]:
    """Count times in seconds by bin; bin b holds 1.02^b to 1.02^(b+1) nanoseconds."""
    return Counter(math.floor(math.log(max(1.0, time * 1e9)) / math.log(_BIN_WIDTH)) for time in seconds)


def percentile(bins: Mapping[int, int], share: float) -> float:
    """Return the seconds that `share` of the times, of which there must be some, do not exceed, within 1 %."""
    order, total = sorted(bins), sum(bins.values())
    ends = accumulate(bins[number] for number in order)
    number = next(number for number, n_times in zip(order, ends, strict=True) if n_times >= share * total)
    return float(_BIN_WIDTH ** (number + 0.5)) / 1e9
