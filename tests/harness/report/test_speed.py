"""Tables of speed: medians, which differences may be claimed, which implementations are ranked."""

from __future__ import annotations

import pytest
from records_by_hand import rows_of, steady, timed

from harness.records import AnyRecord, Measurement
from harness.report.table import plain_rows
from harness.report.tables import render_terminal, speed, tables


def test_megabytes_per_second_are_bytes_over_seconds_of_one_pass() -> None:
    (row,) = rows_of([*timed("naive", [[0.5, 0.5, 0.5]] * 2, loops=10)], "speed")
    assert row["median"] == pytest.approx(1_000_000 / 0.05 / 1e6)
    assert row["unit"] == "MB/s"


def test_short_calls_are_shown_in_microseconds_and_loads_in_milliseconds() -> None:
    records = [
        *timed("naive", [[0.02]], "encode-short/m/c", task="encode-short", n_calls=10_000),
        *timed("naive", [[0.25]], "load/m", task="load"),
    ]
    rows = {row["task"]: row for row in rows_of([*records], "speed")}
    assert rows["encode-short"]["median"] == pytest.approx(2.0)
    assert rows["load"]["median"] == pytest.approx(250.0)


def test_the_fastest_comes_first_and_failures_stay_visible_with_their_reason() -> None:
    records = [
        *timed("naive", steady(0.4)),
        *timed("priority", steady(0.1)),
        *timed("tiktoken", [[]], status="panic", reason="PanicException: overflow"),
    ]
    rows = rows_of([*records], "speed")
    assert [row["implementation"] for row in rows] == ["priority", "naive", "tiktoken"]
    assert rows[2]["median"] is None
    assert rows[2]["times_best"] is None
    assert "panic: PanicException: overflow" in render_terminal(records)


def test_one_bad_round_takes_the_rank() -> None:
    records = [*timed("naive", steady(0.1)), *timed("priority", steady(0.05))]
    records[-1] = timed("priority", [[], [], []], status="mismatch", reason="ids differ")[2]
    rows = rows_of([*records], "speed")
    assert [(row["implementation"], row["status"]) for row in rows] == [("naive", "ok"), ("priority", "mismatch")]


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
        *timed("tiktoken", steady(0.2), "encode/m/d"),
        *timed("tiktoken", steady(0.201), "encode/m/d", copy=1),
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


def test_without_a_noise_floor_or_with_one_round_only_what_is_beyond_all_noise_is_claimed() -> None:
    for rounds in (1, 3):
        records = [
            *timed("naive", steady(0.1, rounds)), *timed("priority", steady(0.9, rounds)),
            *timed("wordcount", steady(139, rounds)),
        ]  # fmt: skip
        assert [row["ratio"] for row in rows_of([*records], "speed")] == ["1.00", "≈ 9.00", "1,390"]
        ranked = rows_of([*records], "ranking")
        assert [row["ratio"] for row in ranked] == ["1.00", "≈ 9.00", "1,390"]
        assert [row["sure"] for row in ranked] == ["≈", "≈", "100 %"]
        for table in ("speed", "ranking"):
            assert "only a ratio above 10" in tables(records)[table].note


def test_nobody_is_sure_of_a_place_that_is_not_claimed_from_the_neighbours() -> None:
    close = with_copy(
        *timed("naive", steady(0.1)), *timed("priority", steady(0.1004)), *timed("wordcount", steady(0.3))
    )
    close = [record for record in close if isinstance(record, Measurement) and record.workload == "encode/m/c"]
    records = [*close, *timed("tiktoken", steady(0.9)), *timed("tiktoken", steady(0.905), copy=1)]
    rows = rows_of([*records], "ranking")
    assert [row["implementation"] for row in rows] == ["naive", "priority", "wordcount", "tiktoken"]
    assert [row["place_claimed"] for row in rows] == [False, False, True, True]
    assert [row["sure"] for row in rows] == ["≈", "≈", "100 %", "100 %"]


def test_one_alone_has_no_place() -> None:
    records = [*timed("naive", steady(0.1))]
    (row,) = rows_of([*records], "ranking")
    assert (row["place"], row["probability"], row["sure"]) == (None, None, "—")
    assert "One alone has no place" in tables(records)["ranking"].note


def test_the_second_copy_measures_noise_and_is_no_row() -> None:
    records = with_copy(*timed("naive", steady(0.1)))
    assert [row["implementation"] for row in rows_of(records, "speed")] == ["naive", "tiktoken"]
    assert speed.noise_floor(records) == pytest.approx(0.005, rel=0.01)


def test_a_slice_says_of_how_much_it_is_one() -> None:
    (row,) = rows_of([*timed("naive", [[0.1]], n_bytes=20_000, full_bytes=1_000_000)], "speed")
    assert row["text"] == "20.0 kB of 1.00 MB"


def test_a_round_recorded_twice_counts_once() -> None:
    records = [*timed("naive", [[0.1], [0.1]]), *timed("naive", [[0.2], [0.2]])]
    (row,) = rows_of([*records], "speed")
    assert row["n_samples"] == 2
    assert row["median"] == pytest.approx(5.0)


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
    assert [row["implementation"] for row in plain_rows(table.frame)] == ["wordcount", "priority", "naive"]
    assert "over 3 workloads" in table.title


def test_who_was_timed_on_too_few_workloads_is_not_ranked() -> None:
    records = [
        *timed("naive", steady(0.4)), *timed("naive", steady(0.4), "encode/m/d"),
        *timed("priority", steady(0.1)), *timed("priority", steady(0.1), "encode/m/d"),
        *timed("wordcount", steady(0.01)), *timed("wordcount", [[]], "encode/m/d", "timeout", reason="3 s"),
    ]  # fmt: skip
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in plain_rows(table.frame)] == ["priority", "naive"]
    assert "over 2 workloads" in table.title


def test_rows_chosen_from_a_run_claim_no_more_than_the_whole_run() -> None:
    near = [*timed("naive", steady(0.1)), *timed("priority", steady(0.12))]
    copies = [*timed("tiktoken", steady(0.1), "encode/m/d"), *timed("tiktoken", steady(0.2), "encode/m/d", copy=1)]
    own = [*timed("tiktoken", steady(0.3)), *timed("tiktoken", steady(0.3), copy=1)]
    claimed = {row["implementation"]: row["claimed"] for row in rows_of([*near, *own], "speed")}
    assert claimed["priority"]
    whole = {
        row["implementation"]: row["claimed"]
        for row in rows_of([*near, *own], "speed", whole_run=[*near, *own, *copies])
    }
    assert (whole["priority"], whole["tiktoken"]) == (False, True)
