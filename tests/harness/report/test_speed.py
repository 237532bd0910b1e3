"""Tables of speed: medians, which differences may be claimed, which implementations are ranked."""

from __future__ import annotations

import pytest
from records_by_hand import cells_of, rows_of, steady, timed

from harness.outcome import Outcome
from harness.records import AnyRecord
from harness.report.tables import render_terminal, speed, tables


def test_figures_have_the_unit_of_their_workload() -> None:
    records = [
        *timed("naive", [[0.05, 0.05, 0.05]] * 2),
        *timed("naive", [[2e-6]], "short/m/c", n_bytes=50),
        *timed("naive", [[0.25]], "load/m", task="load"),
        *timed("naive", [[0.1]], "documents/m/c", call_times=[(500, 99), (600, 1)]),
    ]
    rows = {row["workload"]: row for row in rows_of([*records], "speed")}
    figures = [(row["median"], row["unit"]) for row in rows.values()]
    assert figures[0] == (pytest.approx(10), "MB/s")
    assert (rows["encode/m/c"]["median"], rows["encode/m/c"]["unit"]) == (pytest.approx(20), "MB/s")
    assert (rows["short/m/c"]["median"], rows["short/m/c"]["unit"]) == (pytest.approx(2.0), "µs per call")
    assert (rows["load/m"]["median"], rows["load/m"]["unit"]) == (pytest.approx(250.0), "ms")
    assert "20.2 · 20.2" in [cells["calls"] for cells in cells_of([*records], "speed")]


def test_the_fastest_comes_first_and_what_failed_or_is_inexact_stays_visible_unranked() -> None:
    records = [
        *timed("naive", steady(0.4)),
        *timed("priority", steady(0.1)),
        *timed("greedy", steady(0.01), exact=False),
        *timed("wordcount", steady(0.05)),
        *timed("tiktoken", [[]], outcome=Outcome.PANIC, reason="PanicException: overflow"),
    ]
    records[-2] = timed("wordcount", [[], [], []], outcome=Outcome.MISMATCH, reason="ids differ")[2]  # one bad opening
    assert [(row["implementation"], row["ratio"], row["verdict"]) for row in cells_of([*records], "speed")] == [
        ("priority", "1.00", ""), ("naive", "≈ 4.00", ""), ("greedy", "—", "different ids by design; not ranked"),
        ("wordcount", "—", "mismatch: ids differ"), ("tiktoken", "—", "panic: PanicException: overflow"),
    ]  # fmt: skip
    assert "panic: PanicException: overflow" in render_terminal(records)
    assert [row["implementation"] for row in rows_of([*records], "ranking")] == ["priority", "naive"]


def test_a_clear_difference_is_claimed_a_small_one_is_marked_and_a_copy_measures_noise() -> None:
    seconds = {"naive": 0.1, "priority": 0.1002, "wordcount": 0.3, "tiktoken": 0.2}
    records: list[AnyRecord] = [record for name, some in seconds.items() for record in timed(name, steady(some))]
    records += timed("tiktoken", steady(0.201), copy=1)
    rows = {row["implementation"]: row for row in cells_of(records, "speed")}
    assert list(rows) == ["naive", "priority", "tiktoken", "wordcount"]
    assert (rows["naive"]["median"], rows["naive"]["ratio"]) == ("9.97", "1.00")
    assert (rows["priority"]["median"], rows["priority"]["ratio"]) == ("≈ 9.95", "≈ 1.00")
    assert (rows["wordcount"]["median"], rows["wordcount"]["ratio"]) == ("3.32", "3.00")
    assert speed.noise_floor(records) == pytest.approx(0.005, rel=0.01)
    text = render_terminal(records)
    assert "noise floor 0." in text
    assert "too noisy to cite" not in text
    noisy = [*timed("naive", steady(0.1)), *timed("naive", steady(0.2), copy=1)]
    assert "too noisy to cite" in render_terminal([*noisy])


def test_the_ranking_is_over_the_workloads_that_all_who_ran_most_of_them_share() -> None:
    workloads = [f"encode/m/{corpus}" for corpus in "abcd"]
    records = [
        record for name, seconds in (("naive", 0.4), ("priority", 0.1)) for workload in workloads
        for record in timed(name, steady(seconds), workload)
    ]  # fmt: skip
    for workload in workloads[1:]:
        records += timed("wordcount", steady(0.01), workload)
    records += [*timed("compiled", steady(0.001), workloads[0]), *timed("compiled", [[]], workloads[1], "timeout")]
    table = tables([*records])["ranking"]
    assert [row["implementation"] for row in table.rows] == ["wordcount", "priority", "naive"]
    assert "over 3 workloads" in table.title
    (alone,) = cells_of([*timed("naive", steady(0.1))], "ranking")
    assert (alone["place"], alone["sure"]) == ("—", "—")


def test_without_a_copy_only_what_is_beyond_all_noise_is_claimed() -> None:
    records = [*timed("naive", steady(0.1)), *timed("priority", steady(0.9)), *timed("wordcount", steady(139))]
    for table in ("speed", "ranking"):
        assert [row["ratio"] for row in cells_of([*records], table)] == ["1.00", "≈ 9.00", "1,390"]
        assert "only a ratio above 10" in tables(records)[table].note
    assert [row["sure"] for row in cells_of([*records], "ranking")] == ["≈", "≈", "100 %"]
