"""What may be said of a run, and of two runs."""

from __future__ import annotations

import math

import pytest
from records_by_hand import steady, timed
from refusals import refused

from harness.measure import cautions
from harness.measure.comparison import InvalidCondition, compare_runs, parse_condition, ranking, untimed_in_new
from harness.measure.summary import document, relative_times, summaries
from harness.measure.token_use import compression
from harness.outcome import Outcome
from harness.records import Measurement, Pass
from impls import Model, Tokenizer


def a_run(seconds: float = 1.0) -> list[Measurement]:
    return [
        *timed("a", steady(seconds)),
        *timed("a", steady(1.001 * seconds), copy=1),
        *timed("b", steady(2 * seconds)),
    ]


def test_ratios_are_taken_to_the_fastest_right_one_and_the_copy_gives_the_floor() -> None:
    (workload,) = summaries([*a_run(), *timed("c", steady(0.1), outcome=Outcome.MISMATCH)])
    assert [row.implementation for row in workload.rows] == ["a", "b", "c"]
    a, b, c = workload.rows
    assert a.time_ratio.value == 1
    assert b.time_ratio.value == pytest.approx(2)
    assert b.to_above == pytest.approx(b.time_ratio)
    assert (c.time_ratio, c.outcome) == (None, Outcome.MISMATCH)
    assert workload.floor == pytest.approx(0.001, abs=1e-4)
    assert workload.citable


def test_a_slow_one_is_compared_over_the_documents_that_both_have_read() -> None:
    fast, slow = timed("fast", [[0.0]]), timed("slow", [[0.0]])
    fast[0].passes = [Pass(0, False, 800, [1, 8], [0.5, 1.0], [0.5, 1.0])]
    slow[0].passes = [Pass(0, False, 100, [1], [5.0], [5.0])]
    assert relative_times([*fast, *slow]).times["slow"].interval.value == pytest.approx(10)


def test_a_slow_one_is_compared_with_the_passes_of_its_own_rounds_alone() -> None:
    ahead = [[0.001 * (opening + 1) + 0.0001 * n for n in range(12)] for opening in range(12)]
    slow = [[4 * seconds for seconds in some[:4]] for some in ahead[:4]]
    result = relative_times([*timed("fast", ahead), *timed("slow", slow)]).times["slow"].interval
    assert result == pytest.approx((4, 4, 4))


def test_a_pass_that_lost_the_processor_does_not_count_where_others_remain() -> None:
    one, other = timed("one", [[1.0, 1.0, 1.0]]), timed("other", [[2.0, 2.0, 9.0]])
    other[0].passes[2] = Pass(2, True, 1_000_000, [1], [9.0], [2.0])
    result = relative_times([*one, *other])
    assert (result.times["other"].interval.value, result.clock) == (pytest.approx(2), "wall")


def test_what_waits_for_the_processor_is_ranked_by_processor_time() -> None:
    one, other = timed("one", [[1.0]]), timed("other", [[2.0]])
    one[0].passes = [Pass(0, False, 100, [1], [3.0], [1.0])]
    result = relative_times([*one, *other])
    assert (list(result.times), result.clock) == (["one", "other"], "processor")


def test_the_document_is_plain_and_has_what_was_promised() -> None:
    (workload,) = document(a_run())["workloads"]
    assert (workload["name"], workload["state"], workload["citable"]) == ("encode/m/c", "new text", True)
    (row, _) = workload["rows"]
    assert (row["implementation"], row["outcome"]) == ("a", "right")
    assert set(row["time_ratio"]) == {"value", "low", "high"}
    assert row["bytes_per_second"]["value"] == pytest.approx(1e6, rel=0.01)


def test_a_slower_run_is_found_and_one_like_the_other_is_not() -> None:
    slower = {(d.implementation, d.claim) for d in compare_runs(a_run(), a_run(1.2))}
    assert slower == {("a", "slower"), ("b", "slower")}
    assert {d.claim for d in compare_runs(a_run(), a_run())} == {"≈"}
    without = [record for record in a_run(1.2) if not record.copy]
    assert {d.claim for d in compare_runs(a_run(), without)} == {"≈"}


def test_what_is_no_longer_timed_is_told_with_its_reason() -> None:
    failed = timed("b", [[]], outcome=Outcome.TIMEOUT)
    (untimed,) = untimed_in_new(a_run(), [*timed("a", steady(1)), *failed])
    assert untimed == ("encode/m/c", "b", "timeout")


@pytest.mark.parametrize("text", ["slower", "slower>5", "worse>5%", "slower>-1%"])
def test_an_invalid_condition_is_refused(text: str) -> None:
    refused(InvalidCondition, None, parse_condition, text)


def test_what_is_no_encoding_is_not_ranked() -> None:
    assert ranking(timed("a", steady(1), task="train")) == ([], [])


def test_a_noisy_workload_and_lost_passes_are_warned_of_with_advice() -> None:
    noisy = [*timed("a", [[1.0], [2.0], [1.0]]), *timed("a", [[1.0], [1.0], [2.0]], copy=1)]
    (warning,) = cautions.run_warnings(summaries(noisy))
    assert "1 workload may not be cited" in warning
    assert "--profile rigorous" in warning
    lost = timed("a", steady(1))
    for record in lost:
        record.passes = [Pass(0, True, 100, [1], [1.0], [1.0])]
    (warning,) = cautions.run_warnings(summaries(lost))
    assert "lost the processor" in warning


def test_a_machine_is_warned_of_by_what_it_says() -> None:
    quiet = {"governor": "performance", "usable_cores": 4}
    assert cautions.machine_warnings(quiet, 0.1) == []
    for fact, value, word in (("governor", "powersave", "governor"), ("usable_cores", 1, "one core")):
        (warning,) = cautions.machine_warnings(quiet | {fact: value}, 0.1)
        assert word in warning
    assert any("stop other work" in warning for warning in cautions.machine_warnings(quiet, 3.0))


class Pairs(Tokenizer):
    """Every two bytes are one token."""

    name = "pairs"

    def encode_normalized(self, text: str) -> list[int]:
        return [0] * math.ceil(len(text.encode()) / 2)


def test_compression_counts_bytes_characters_words_and_tokens() -> None:
    tokenizer = Pairs(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    result = compression(tokenizer, ["iki söz", "", "bir"], model="m", corpus="c")
    assert (result.n_texts, result.n_bytes, result.n_characters, result.n_words, result.n_tokens) == (2, 11, 10, 3, 6)
    assert result.vocab_size == 256
