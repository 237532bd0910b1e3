"""Statistics on made-up passes: what an interval holds, and what is claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from refusals import refused

from harness.measure import stats


def simulated(
    random: np.random.Generator, ratio: float, n_openings: int, n_rounds: int = 10, far_off: float = 0.0
) -> list[list[float]]:
    """Logarithms of ratios whose openings differ by 2 % and whose rounds scatter by 10 %, some of both far off."""
    if n_rounds == 1:  # Of single passes: both of a ratio are disturbed, each `far_off` of the times.
        one, other = random.normal(0, 0.04, (2, n_openings)) + (random.random((2, n_openings)) < far_off) * 0.4
        return (math.log(ratio) + one - other)[:, None].tolist()
    jumps = 0.25 * (random.random(n_openings) < far_off) * random.choice([-1, 1], n_openings)
    rounds = math.log(ratio) + (random.normal(0, 0.02, n_openings) + jumps)[:, None] + np.zeros(n_rounds)
    rounds += random.normal(0, 0.1, rounds.shape) + 0.5 * (random.random(rounds.shape) < 0.05)
    return rounds.tolist()


CASES = [
    (4, 10, 0.0, 0.16), (12, 10, 0.0, 0.07), (12, 10, 0.1, 0.08), (40, 1, 0.0, 0.05), (40, 1, 0.3, 0.1),
]  # fmt: skip
"""Openings, rounds, share far off, and the greatest width."""


@pytest.mark.parametrize("case", CASES)
def test_the_interval_holds_the_true_ratio_about_95_times_of_100(case: tuple[int, int, float, float]) -> None:
    random = np.random.default_rng(5)
    intervals = [stats.estimate(simulated(random, 1.1, *case[:3])).interval for _ in range(400)]
    assert 0.91 <= np.mean([interval.low <= 1.1 <= interval.high for interval in intervals]) <= 0.985
    assert np.median([interval.high - interval.low for interval in intervals]) <= case[3]


def test_a_planted_slowdown_is_found_by_twenty_openings_and_a_copy_is_not_called_slower() -> None:
    random = np.random.default_rng(7)
    counts = {1.0: 0, 1.05: 0, 1.1: 0}
    for ratio in counts:
        for _ in range(20):
            floor = stats.floor_of([stats.estimate(simulated(random, 1.0, 20, 20)).interval for _ in range(2)])
            counts[ratio] += stats.claim(stats.estimate(simulated(random, ratio, 20, 20)).interval, floor) == "slower"
    assert counts[1.0] == 0
    assert counts[1.1] == 20
    assert counts[1.05] >= 15


def test_an_estimate_is_the_mean_over_openings_of_medians_over_rounds() -> None:
    assert stats.estimate([[0.0, 1.0, 9.0], [3.0]]).value == 2.0
    assert stats.estimate([[0.5, 0.5], []]).interval == pytest.approx([math.exp(0.5)] * 3)
    refused(ValueError, "at least one pass", stats.estimate, [[], []])


def test_of_two_contestants_the_same_openings_deviate_together() -> None:
    random = np.random.default_rng(9)
    a = simulated(random, 1.0, 8)
    b = [[log + math.log(2) for log in rounds] for rounds in a]
    assert stats.difference(stats.estimate(b), stats.estimate(a)).interval == pytest.approx((2, 2, 2))
    both = stats.mean([stats.estimate(a), stats.estimate(b)])
    assert both.value == pytest.approx(stats.estimate(a).value + math.log(2) / 2)


def test_a_difference_counts_beyond_the_floor_and_outside_the_interval() -> None:
    assert stats.claim(stats.Interval(1.05, 1.02, 1.08), 0.03) == "slower"
    assert stats.claim(stats.Interval(0.9, 0.85, 0.95), 0.03) == "faster"
    assert stats.claim(stats.Interval(1.05, 1.02, 1.08), 0.06) == "≈"
    assert stats.claim(stats.Interval(1.5, 0.9, 2.1), 0.03) == "≈"
    assert stats.claim(stats.Interval(9.0, 8.9, 9.1), None) == "≈"
    assert stats.claim(stats.Interval(11.0, 10.9, 11.1), None) == "slower"


def test_the_floor_is_how_far_from_1_a_copy_may_lie() -> None:
    assert stats.floor_of([]) is None
    assert stats.floor_of([stats.Interval(1.0, 0.98, 1.01), stats.Interval(1.0, 0.99, 1.03)]) == pytest.approx(0.03)
    assert stats.floor_of([stats.Interval(1.0, 0.8, 1.01)]) == pytest.approx(0.25)


def test_the_exponent_of_a_power_law_is_found_within_its_interval() -> None:
    random = np.random.default_rng(3)
    points = [(2.0**k, 1e-9 * (2.0**k) ** 1.5 * math.exp(random.normal(0, 0.03))) for k in range(8, 16)]
    fit = stats.fit_exponent(points)
    assert fit.low <= 1.5 <= fit.high < fit.low + 0.3
    assert fit.lower_bound is None
    assert stats.fit_exponent([(1000, 0.1)]) is None


def test_percentiles_of_times_in_bins_are_in_seconds_and_within_one_percent() -> None:
    seconds = [1e-3 * n for n in range(1, 101)]
    bins = stats.binned([*seconds, 0.0])
    assert sum(bins.values()) == 101
    for share, expected in ((0.5, 0.050), (0.99, 0.099), (1.0, 0.1)):
        assert stats.percentile(bins, share) == pytest.approx(expected, rel=0.011)
    assert stats.percentile(stats.binned([2.5e-7]), 0.5) == pytest.approx(2.5e-7, rel=0.011)
    assert 0.9e-9 < stats.percentile(bins, 0.001) < 1.1e-9, "no time at all counts as a nanosecond"


def test_student_t_is_exact_in_the_table_and_close_beyond_it() -> None:
    assert stats.student_t_975(2) == 4.3027
    assert stats.student_t_975(30) == pytest.approx(2.0423, rel=2e-3)
