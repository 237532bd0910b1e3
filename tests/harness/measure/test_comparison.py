"""From records to claims: comparing runs, ranks, cautions, throughput."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from harness.measure.analysis import cautions
from harness.measure.analysis.comparison import InvalidCondition, compare_runs, parse_condition, ranking
from harness.measure.analysis.samples import is_comparable, measured_floor, measured_resolution
from harness.measure.token_use import compression
from harness.records import Measurement
from impls import Model, Tokenizer


def records(
    name: str, seconds: float, *, copy: int = 0, rounds: int = 6, noise: float = 0.003, seed: int = 0, **more: Any
) -> list[Measurement]:
    random = np.random.default_rng([seed, copy, len(name)])
    fields = {"task": "encode", "model": "m", "corpus": "c", "status": "ok", "n_bytes": 1000, "loops": 2}
    return [
        Measurement(
            **{"workload": "encode/m/c", "implementation": name, "copy": copy, "round": number}  # type: ignore[arg-type]
            | fields
            | {"samples_seconds": (2 * seconds * np.exp(random.normal(0, noise, 5))).tolist()}
            | more,
        )
        for number in range(rounds)
    ]


def a_run(slow: float = 1.0, seed: int = 0) -> list[Measurement]:
    return [
        *records("one", 0.1 * slow, seed=seed),
        *records("one", 0.1 * slow, copy=1, seed=seed),
        *records("three", 0.3, seed=seed),
        *records("guess", 0.01, exact=False, seed=seed),
    ]


def test_a_slower_run_is_found_and_one_like_the_other_is_not() -> None:
    differences = {d.implementation: d for d in compare_runs(a_run(), a_run(slow=1.1, seed=1))}
    assert differences["one"].claim == "slower"
    assert differences["one"].ratio.value == pytest.approx(1.1, rel=0.02)
    assert differences["three"].claim == differences["guess"].claim == "≈"
    condition = parse_condition("slower>5%")
    assert [d.implementation for d in differences.values() if condition.holds(d)] == ["one"]
    assert not any(
        parse_condition("slower>20%").holds(d) or parse_condition("faster>1%").holds(d) for d in differences.values()
    )


def test_without_a_copy_in_both_runs_nothing_is_claimed() -> None:
    without = [record for record in a_run(slow=2) if not record.copy]
    assert measured_floor(without) is None
    assert {d.claim for d in compare_runs(a_run(), without)} == {"≈"}


@pytest.mark.parametrize("text", ["", "slower", "slower>5", "slower<5%", "bigger>5%", "slower>-1%"])
def test_an_invalid_condition_is_refused(text: str) -> None:
    with pytest.raises(InvalidCondition, match="slower>5%"):
        parse_condition(text)


def test_exact_implementations_of_a_run_are_ranked() -> None:
    assert [entry.name for entry in ranking(a_run())[0]] == ["one", "three"]
    assert ranking([]) == ([], [])


def test_who_was_timed_on_few_of_the_workloads_leaves_the_ranking_to_the_others() -> None:
    common = [r for w in ("one", "two", "three") for name in "ab" for r in records(name, 0.1, workload=w)]
    ranked, shared = ranking([*common, *records("rare", 0.1, workload="four")])
    assert {entry.name for entry in ranked} == {"a", "b"}
    assert shared == ["one", "three", "two"]


def test_what_failed_in_any_round_is_not_ranked() -> None:
    failed = [*a_run(), *records("three", 0.3, status="mismatch", rounds=1)]
    assert [entry.name for entry in ranking(failed)[0]] == ["one"]


@pytest.mark.parametrize("state", ["cold", "warm-other", "sustained", "warm-same"])
def test_a_round_that_died_takes_the_rank_whatever_it_had_read_by_then(state: str) -> None:
    died = records("three", 0.3, status="crash", rounds=1, state=state, n_bytes=0, full_bytes=1000)
    assert [entry.name for entry in ranking([*a_run(), *died])[0]] == ["one"]


def test_slices_of_different_size_are_compared_by_time_per_byte() -> None:
    half = records("half", 0.05, n_bytes=500)
    ratios = {entry.name: entry.ratio.value for entry in ranking([*a_run(), *half])[0]}
    assert ratios["one"] == pytest.approx(ratios["half"], rel=0.02)


def test_wide_spread_drift_and_short_samples_are_warned_of_with_advice() -> None:
    assert cautions.sample_warnings(records("quiet", 0.1)) == []
    wide = cautions.sample_warnings(records("wide", 0.1, noise=0.4))
    assert any("spread" in warning and "run again" in warning for warning in wide)
    drifting = [
        record for number in range(4) for record in records("d", 0.1 * 1.1**number, rounds=4)[number : number + 1]
    ]
    assert any("slower than the first" in warning for warning in cautions.sample_warnings(drifting))
    assert any("50 ms" in warning for warning in cautions.sample_warnings(records("short", 0.001)))


def test_a_run_too_noisy_to_tell_5_percent_says_so_and_how_much_it_can_tell() -> None:
    def two_copies(noise: float) -> list[Measurement]:
        return [
            record
            for copy in (0, 1)
            for number in range(4)
            for record in records("one", 0.1 * math.exp(noise * (-1) ** (number + copy)), copy=copy)[
                number : number + 1
            ]
        ]

    assert not any("cannot resolve" in warning for warning in cautions.sample_warnings(two_copies(0.0)))
    (warning,) = [w for w in cautions.sample_warnings(two_copies(0.1)) if "cannot resolve" in w]
    smallest = measured_resolution(two_copies(0.1))
    assert smallest is not None
    assert f"{smallest:.1%}" in warning


def test_a_machine_is_warned_of_by_what_it_says() -> None:
    quiet = {"governor": "performance", "turbo": False, "usable_cores": 4, "virtual": False, "pinning": True}
    assert cautions.machine_warnings(quiet, 0.1) == []
    for fact, value, word in (
        ("governor", "powersave", "governor"),
        ("turbo", True, "turbo"),
        ("usable_cores", 1, "one core"),
        ("virtual", True, "virtual"),
        ("free_memory_taken_back", True, "reclaims free memory"),
        ("pinning", False, "pinned"),
    ):
        (warning,) = cautions.machine_warnings(quiet | {fact: value}, 0.1)
        assert word in warning
    assert any("stop other work" in warning for warning in cautions.machine_warnings(quiet, 3.0))


class Pairs(Tokenizer):
    """Every two bytes are one token."""

    name = "pairs"

    def _encode_text(self, text: str) -> list[int]:
        return [0] * math.ceil(len(text.encode()) / 2)


def test_compression_counts_bytes_characters_words_and_tokens() -> None:
    tokenizer = Pairs(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    found = compression(tokenizer, ["iki söz", "", "bir"], model="m", corpus="c")
    assert (found.n_texts, found.n_bytes, found.n_characters, found.n_words, found.n_tokens) == (2, 11, 10, 3, 6)
    assert found.vocab_size == 256


def test_slices_of_text_read_once_are_not_compared() -> None:
    assert is_comparable("warm-same", 10, 100)
    assert is_comparable("cold", 100, 100)
    assert not is_comparable("cold", 10, 100)
    assert is_comparable("warm-other", 99, 100)
    assert not is_comparable("warm-other", 50, 100)
