"""The statistics on simulated samples, where the truth is known."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure.analysis import stats
from harness.measure.analysis.samples import rankable_times
from harness.measure.analysis.stats import Rounds
from harness.records import Measurement, of_kind, read_records


def simulated(
    random: np.random.Generator,
    seconds: float,
    n_rounds: int,
    n_samples: int = 5,
    between: float = 0.01,
    within: float = 0.01,
) -> Rounds:
    """Samples whose rounds differ by `between` and whose samples differ by `within`, with a slow outlier at times."""
    rounds = []
    for _ in range(n_rounds):
        level = seconds * math.exp(random.normal(0, between))
        samples = level * np.exp(random.normal(0, within, n_samples))
        samples[random.random(n_samples) < 0.05] *= 1.3
        rounds.append(samples.tolist())
    return rounds


def floor_of_a_run(random: np.random.Generator, n_rounds: int, n_workloads: int = 10) -> float | None:
    return stats.noise_floor(
        [(simulated(random, 1.0, n_rounds), simulated(random, 1.0, n_rounds)) for _ in range(n_workloads)]
    )


def test_the_interval_of_a_ratio_of_totals_holds_the_true_one_about_95_times_of_100() -> None:
    random = np.random.default_rng(11)
    held = 0
    for seed in range(200):
        tokens = random.lognormal(4, 0.7, 30)
        n_bytes = tokens * random.normal(4.0, 0.4, 30)
        (interval,) = stats.ratio_of_totals(n_bytes, tokens[:, None], seed=seed, resamples=400)
        held += interval.low <= 4.0 <= interval.high
    assert 180 <= held <= 198


def test_a_ratio_of_totals_counts_by_hand_and_columns_share_their_resamples() -> None:
    first, same, half = stats.ratio_of_totals(np.array([6, 2]), np.array([[3, 3, 6], [1, 1, 2]]))
    assert first == same
    assert first[:3] == pytest.approx((2, 2, 2))
    assert half.value == pytest.approx(1)
    wide, _ = stats.ratio_of_totals(np.array([6, 2]), np.array([[2, 2], [2, 2]]))
    assert wide.value == pytest.approx(2)
    assert wide.low < 1 < 3 < wide.high
    (alone,) = stats.ratio_of_totals(np.array([6]), np.array([[4]]))
    assert alone == pytest.approx((1.5, 1.5, 1.5, 1))


@pytest.mark.parametrize("n_rounds", [3, 5, 10])
def test_two_copies_of_one_implementation_are_called_different_in_at_most_5_of_100(n_rounds: int) -> None:
    random = np.random.default_rng(n_rounds)
    claims = 0
    for seed in range(100):
        a, b = simulated(random, 0.1, n_rounds), simulated(random, 0.1, n_rounds)
        floor = floor_of_a_run(random, n_rounds)
        claims += stats.claim(stats.ratio_interval(a, b, seed=seed, resamples=500), floor) != "≈"
    assert claims <= 5


@pytest.mark.parametrize("n_rounds", [3, 5, 10])
def test_the_interval_alone_holds_the_true_ratio_about_95_times_of_100(n_rounds: int) -> None:
    random = np.random.default_rng(n_rounds)
    held = 0
    for seed in range(200):
        a, b = simulated(random, 0.2, n_rounds), simulated(random, 0.1, n_rounds)
        interval = stats.ratio_interval(a, b, seed=seed, resamples=500)
        held += interval.low <= 2.0 <= interval.high
    assert held >= 180


def test_a_slowdown_of_5_percent_is_found_by_ten_rounds_when_the_noise_allows() -> None:
    random = np.random.default_rng(0)
    found = 0
    for seed in range(100):
        a, b = simulated(random, 0.105, 10), simulated(random, 0.1, 10)
        floor = floor_of_a_run(random, 10)
        found += stats.claim(stats.ratio_interval(a, b, seed=seed, resamples=500), floor) == "slower"
    assert found >= 95


def test_where_the_noise_is_larger_than_5_percent_the_resolution_says_so() -> None:
    random = np.random.default_rng(0)
    noisy = [(simulated(random, 1.0, 10, between=0.1), simulated(random, 1.0, 10, between=0.1)) for _ in range(10)]
    intervals = [stats.ratio_interval(a, b, resamples=500) for a, b in noisy]
    resolution = stats.resolution(intervals, stats.noise_floor(noisy))
    assert resolution is not None
    assert resolution > 0.05


def test_without_a_floor_or_from_one_round_a_difference_within_the_noise_margin_is_not_claimed() -> None:
    one, two = [[0.9, 0.9, 0.9]], [[0.1, 0.1, 0.1]]
    assert stats.NOISE_MARGIN > 0.9 / 0.1
    assert stats.claim(stats.ratio_interval(one, two), 0.01) == "≈"
    assert stats.claim(stats.ratio_interval(one * 3, two * 3), None) == "≈"
    assert stats.claim(stats.ratio_interval(one * 3, two * 3), 0.01) == "slower"
    assert stats.claim(stats.ratio_interval(two * 3, one * 3), 0.01) == "faster"


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("floor", [None, 0.2])
def test_a_difference_beyond_the_noise_margin_is_claimed_whatever_the_run_measured_of_its_noise(
    rounds: int, floor: float | None
) -> None:
    slow, fast = [[1.1, 1.2, 1.3]] * rounds, [[0.1, 0.1, 0.1]] * rounds
    assert stats.claim(stats.ratio_interval(slow, fast), floor) == "slower"
    assert stats.claim(stats.ratio_interval(fast, slow), floor) == "faster"


def test_samples_that_differ_by_more_than_the_ratio_claim_nothing() -> None:
    wild = [[0.1, 0.1, 5.0, 40.0, 40.0]]
    assert stats.ratio_interval(wild, [[0.1] * 5]).value > stats.NOISE_MARGIN
    assert stats.claim(stats.ratio_interval(wild, [[0.1] * 5]), None) == "≈"


def test_the_noise_margin_exceeds_whatever_changed_between_the_rounds_of_a_recorded_run() -> None:
    folders = [file.parent for file in (Path(__file__).parents[3] / "results").glob("*/records.jsonl")]
    largest = 1.0
    for folder in folders:
        times = rankable_times(of_kind(read_records(folder), Measurement), exact_only=False)
        for workload in {workload for by_workload in times.values() for workload in by_workload}:
            logs = [
                np.log([np.median(samples) for samples in times[name][workload]])
                for name in times
                if workload in times[name]
            ]
            of_all = [medians for medians in logs if len(medians) == max(map(len, logs))]
            changes = np.ptp(np.array(of_all)[:, None] - np.array(of_all)[None, :], axis=2)
            largest = max(largest, float(np.exp(changes.max())))
    assert folders
    assert 1.5 * largest < stats.NOISE_MARGIN


positive = st.floats(1e-6, 1e3)
some_rounds = st.lists(st.lists(positive, min_size=1, max_size=6), min_size=1, max_size=5)


@given(some_rounds, some_rounds)
def test_the_interval_holds_its_estimate_and_swapping_the_sides_inverts_it(a: Rounds, b: Rounds) -> None:
    interval = stats.ratio_interval(a, b, resamples=50)
    assert interval.low <= interval.value * (1 + 1e-9)
    assert interval.value <= interval.high * (1 + 1e-9)
    assert stats.ratio_interval(b, a, resamples=50).value == pytest.approx(1 / interval.value)


@given(some_rounds, st.floats(1e-3, 1e3))
def test_scaling_one_side_scales_the_ratio(a: Rounds, factor: float) -> None:
    scaled = [[sample * factor for sample in samples] for samples in a]
    assert stats.ratio_interval(scaled, a, resamples=20).value == pytest.approx(factor)


@given(st.lists(positive, min_size=1))
def test_the_spread_is_the_median_deviation_as_a_share_of_the_median(samples: list[float]) -> None:
    middle = statistics.median(samples)
    deviation = statistics.median(abs(sample - middle) for sample in samples)
    assert stats.spread(samples) == pytest.approx(deviation / middle)


def test_no_samples_are_an_error_and_not_a_number() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        stats.ratio_interval([], [[1.0]])


def test_ranks_follow_the_geometric_mean_over_the_shared_workloads_and_probabilities_sum_to_1() -> None:
    random = np.random.default_rng(1)
    times = {
        "fast": {"w1": simulated(random, 1.0, 5), "w2": simulated(random, 1.0, 5)},
        "slow": {"w1": simulated(random, 4.0, 5), "w2": simulated(random, 1.0, 5), "w3": simulated(random, 0.01, 5)},
        "twin": {"w1": simulated(random, 1.0, 5), "w2": simulated(random, 1.0, 5)},
    }
    ranked = stats.rank(times, resamples=500)
    assert ranked[-1].name == "slow"
    assert ranked[-1].ratio.value == pytest.approx(2, rel=0.05)
    assert ranked[0].to_above is None
    assert ranked[-1].to_above is not None
    assert ranked[-1].to_above.value == pytest.approx(ranked[-1].ratio.value / ranked[1].ratio.value)
    assert ranked[-1].rank_probabilities[2] > 0.99
    for entry in ranked:
        assert sum(entry.rank_probabilities) == pytest.approx(1)
    assert stats.rank({"a": {"w1": [[1.0]]}, "b": {"w2": [[1.0]]}}) == []


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_the_exponent_of_a_power_law_is_found_within_its_interval(exponent: float) -> None:
    random = np.random.default_rng(3)
    points = [(2.0**k, 1e-9 * (2.0**k) ** exponent * math.exp(random.normal(0, 0.03))) for k in range(8, 16)]
    fit = stats.fit_exponent(points)
    assert fit is not None
    assert fit.low <= exponent <= fit.high
    assert fit.high - fit.low < 0.3
    assert fit.lower_bound is None


def test_a_timeout_gives_a_lower_bound_of_the_exponent() -> None:
    fit = stats.fit_exponent([(1000, 0.1), (2000, 0.4), (4000, 1.6)], timeout=(8000, 6.4))
    assert fit is not None
    assert fit.lower_bound == pytest.approx(2)
    assert stats.fit_exponent([(1000, 0.1)]) is None


def test_student_t_is_exact_in_the_table_and_close_beyond_it() -> None:
    assert stats.student_t_975(2) == 4.3027
    assert stats.student_t_975(30) == pytest.approx(2.0423, rel=2e-3)
    assert stats.student_t_975(10_000) == pytest.approx(1.96, rel=1e-3)
