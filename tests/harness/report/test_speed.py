"""Tables of speed: medians, which differences may be claimed, which implementations are ranked."""

from __future__ import annotations

import pytest
from records_by_hand import rows_of, steady, timed

from harness.outcome import Outcome
from harness.records import AnyRecord, Measurement
from harness.report.tables import render_terminal, speed, tables


def test_megabytes_per_second_are_bytes_over_seconds_of_one_pass() -> None:
    (row,) = rows_of([*timed("naive", [[0.05, 0.05, 0.05]] * 2)], "speed")
    assert row["median"] == pytest.approx(1_000_000 / 0.05 / 1e6)
    assert row["unit"] == "MB/s"


def test_short_calls_are_shown_in_microseconds_and_loads_in_milliseconds() -> None:
    records = [
        *timed("naive", [[2e-6]], "short/m/c", n_bytes=50),
        *timed("naive", [[0.25]], "load/m", task="load"),
    ]
    rows = {row["workload"]: row for row in rows_of([*records], "speed")}
    assert rows["short/m/c"]["median"] == pytest.approx(2.0)
    assert rows["load/m"]["median"] == pytest.approx(250.0)


def test_the_fastest_comes_first_and_failures_stay_visible_with_their_reason() -> None:
    records = [
        *timed("naive", steady(0.4)),
        *timed("priority", steady(0.1)),
        *timed("tiktoken", [[]], outcome=Outcome.PANIC, reason="PanicException: overflow"),
    ]
    rows = rows_of([*records], "speed")
    assert [row["implementation"] for row in rows] == ["priority", "naive", "tiktoken"]
    assert rows[2]["median"] is None
    assert rows[2]["times_best"] is None
    assert "panic: PanicException: overflow" in render_terminal(records)


def test_one_bad_round_takes_the_rank() -> None:
    records = [*timed("naive", steady(0.1)), *timed("priority", steady(0.05))]
    records[-1] = timed("priority", [[], [], []], outcome=Outcome.MISMATCH, reason="ids differ")[2]
    rows = rows_of([*records], "speed")
    assert [(row["implementation"], row["status"]) for row in rows] == [("naive", "right"), ("priority", "mismatch")]


def test_an_inexact_implementation_is_shown_and_never_ranked() -> None:
    records = [
        *timed("greedy", steady(0.01), exact=False),
        *timed("naive", steady(0.1)),
        *timed("priority", steady(0.2)),
    ]
    rows = rows_of([*records], "speed")
    assert [(row["implementation"], row["ratio"]) for row in rows][2] == ("greedy", "—")
    assert "greedy" not in [row["implementation"] for row in rows_of([*records], "ranking")]


def with_copy(*records: Measurement) -> list[AnyRecord]:
    return [
        *records,
        *timed("tiktoken", steady(0.2)),
        *timed("tiktoken", steady(0.201), copy=1),
    ]


def test_a_clear_difference_is_claimed_and_a_small_one_is_marked() -> None:
    records = with_copy(
        *timed("naive", steady(0.1)), *timed("priority", steady(0.1002)), *timed("wordcount", steady(0.3))
    )
    rows = {row["implementation"]: row for row in rows_of(records, "speed") if row["workload"] == "encode/m/c"}
    assert rows["priority"]["ratio"].startswith("≈")
    assert rows["priority"]["alike"] == "≈"
    assert rows["wordcount"]["ratio"] == "3.00"
    assert rows["wordcount"]["alike"] == ""


def test_one_alone_has_no_place() -> None:
    records = [*timed("naive", steady(0.1))]
    (row,) = rows_of([*records], "ranking")
    assert (row["place"], row["probability"], row["sure"]) == (None, None, "—")
    assert "A single implementation has no place" in tables(records)["ranking"].note


def test_the_second_copy_measures_noise_and_is_no_row() -> None:
    records = with_copy(*timed("naive", steady(0.1)))
    assert [row["implementation"] for row in rows_of(records, "speed")] == ["naive", "tiktoken"]
    assert speed.noise_floor(records) == pytest.approx(0.005, rel=0.01)


def test_the_ranking_is_over_the_workloads_all_share() -> None:
    workloads = [f"encode/m/{corpus}" for corpus in "abcd"]
    records = [
        record
        for workload in workloads
        for record in (*timed("naive", steady(0.4), workload), *timed("priority", steady(0.1), workload))
    ]
    for workload in workloads[1:]:
        records += timed("wordcount", steady(0.01), workload)
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in table.rows] == ["wordcount", "priority", "naive"]
    assert "over 3 workloads" in table.title


def test_who_was_timed_on_too_few_workloads_is_not_ranked() -> None:
    records = [
        *timed("naive", steady(0.4)), *timed("naive", steady(0.4), "encode/m/d"),
        *timed("priority", steady(0.1)), *timed("priority", steady(0.1), "encode/m/d"),
        *timed("wordcount", steady(0.01)), *timed("wordcount", [[]], "encode/m/d", "timeout", reason="3 s"),
    ]  # fmt: skip
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in table.rows] == ["priority", "naive"]
    assert "over 2 workloads" in table.title


def test_without_a_copy_only_what_is_beyond_all_noise_is_claimed() -> None:
    records = [*timed("naive", steady(0.1)), *timed("priority", steady(0.9)), *timed("wordcount", steady(139))]
    assert [row["ratio"] for row in rows_of([*records], "speed")] == ["1.00", "≈ 9.00", "1,390"]
    ranked = rows_of([*records], "ranking")
    assert [row["ratio"] for row in ranked] == ["1.00", "≈ 9.00", "1,390"]
    assert [row["sure"] for row in ranked] == ["≈", "≈", "100 %"]
    for table in ("speed", "ranking"):
        assert "only a ratio above 10" in tables(records)[table].note


def test_a_workload_says_its_noise_floor_and_whether_it_may_be_cited() -> None:
    text = render_terminal(with_copy(*timed("naive", steady(0.1)), *timed("priority", steady(0.1))))
    assert "noise floor 0." in text
    assert "too noisy to cite" not in text
    noisy = [*timed("naive", steady(0.1)), *timed("naive", steady(0.2), copy=1)]
    assert "too noisy to cite" in render_terminal([*noisy])


def test_documents_show_the_median_and_the_99th_percentile_of_a_call() -> None:
    (row,) = rows_of([*timed("naive", [[0.1]], call_times=[(500, 99), (600, 1)])], "speed")
    assert row["calls"] == "20.2 · 20.2"
