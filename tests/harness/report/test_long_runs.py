"""Tables of what shows over a while, from records by hand."""

from __future__ import annotations

import pytest

from harness.records import Measurement, TextMemory
from harness.report.table import Row, Table, plain_rows
from harness.report.tables import render_terminal, tables


def measured(state: str, implementation: str, **changes: object) -> Measurement:
    fields: dict[str, object] = {
        "workload": f"lead-{state}", "task": "encode-documents", "model": "m", "corpus": "c", "status": "ok",
        "n_bytes": 1_000_000, "full_bytes": 1_000_000,
    }  # fmt: skip
    return Measurement(implementation=implementation, state=state, **fields | changes)  # type: ignore[arg-type]


def sustained(implementation: str, n_parts: int = 100, number: int = 0, **changes: object) -> Measurement:
    """Parts that get faster: a hundredth of a second in the first stretch, half of it afterwards."""
    return measured(
        "sustained",
        implementation,
        round=number,
        samples_seconds=([0.01] * 10 + [0.005] * 90)[:n_parts],
        samples_wanted=100,
        resident_bytes=[50_000_000 + 100_000 * part for part in range(n_parts)],
        call_times=[(300, 995), (400, 4), (500, 1)],
        **changes,
    )


def by_implementation(table: Table) -> dict[str, Row]:
    return {row["implementation"]: row for row in plain_rows(table.frame)}


def test_new_documents_are_shown_by_stretch_with_their_slowest_calls_and_their_memory() -> None:
    records = [
        sustained("a"),
        sustained("a", number=1),
        sustained("slow", n_parts=15),
        sustained("wrong", status="mismatch"),
        sustained("a", number=0, copy=1, n_parts=3),
    ]
    rows = by_implementation(tables(records)["sustained"])
    assert list(rows) == ["a", "slow"]
    a = rows["a"]
    assert (a["stretch_1"], a["stretch_2"], a["stretch_10"]) == pytest.approx((100, 200, 200))
    assert a["p50"] == pytest.approx(1.02**300.5 / 1e3)
    assert a["p99"] == a["p50"]
    assert a["p999"] == pytest.approx(1.02**400.5 / 1e3)
    assert a["resident_bytes"] == 59_900_000
    assert a["growth_bytes"] == pytest.approx(100_000 * 100)
    assert rows["slow"]["shown_parts"] == "15 of 100"
    assert rows["slow"]["stretch_2"] == pytest.approx(200)
    assert rows["slow"]["stretch_3"] is None


def test_long_texts_are_shown_with_what_the_system_did() -> None:
    paused = {"after an idle pause": [0.01, 0.02], "after another's work": [0.05, 0.05]}
    records = [
        measured("second-call", "a", samples_seconds=[0.01], page_faults=[67], system_seconds=[0.036]),
        measured("second-call", "b", samples_seconds=[0.004]),
        measured(
            "after-pause", "a", samples_seconds=[0.01, 0.05, 0.02, 0.05], parts_seconds=paused,
            page_faults=[1, 9, 0, 2], system_seconds=[0.0, 0.004, 0.0, 0.0],
        ),
    ]  # fmt: skip
    rows = plain_rows(tables(records)["long-texts"].frame)
    paused_row, fast, slow = rows
    assert (fast["implementation"], fast["speed"], fast["page_faults"]) == ("b", pytest.approx(250), None)
    assert (slow["page_faults"], slow["system_ms"]) == (67, pytest.approx(36))
    assert paused_row["after an idle pause"] == pytest.approx(1 / 0.015)
    assert paused_row["after another's work"] == pytest.approx(20)
    assert (paused_row["page_faults"], paused_row["system_ms"]) == (9, pytest.approx(4))


def test_who_remembers_texts_is_named_and_nobody_else() -> None:
    def found(name: str, **changes: object) -> TextMemory:
        fields: dict[str, object] = {"model": "m", "task": "encode", "met_seconds": [1.0], "new_seconds": [25.0]}
        return TextMemory(implementation=name, **fields | changes)  # type: ignore[arg-type]

    records = [
        found("cheat", remembers=True),
        found("disk", remembers=True, earlier=True),
        found("honest", new_seconds=[1.0]),
        found("dead", status="crash", reason="died", met_seconds=[], new_seconds=[]),
    ]
    rows = by_implementation(tables(records)["text-memory"])
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "cheat": "the same process", "disk": "an earlier process", "dead": "crash: died",
    }  # fmt: skip
    assert rows["cheat"]["ratio"] == 25
    assert "Who remembers whole texts" in render_terminal(records)
    assert "text-memory" not in tables([found("honest")])
