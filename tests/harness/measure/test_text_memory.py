"""Times that memory of whole texts may have answered are recorded, marked and not ranked."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from toy_runs import PROFILE, everything, workload

from harness.measure.analysis.samples import rankable_times
from harness.measure.protocol import Failed
from harness.measure.run.text_memory import TextMemoryDetector
from harness.measure.schedule import Plan
from harness.measure.worker import WorkerFailed
from harness.records import AnyRecord, Measurement, Status, TextMemory, of_kind
from harness.report.tables.speed import noise_floor, shown_verdict, speed_rows


@pytest.fixture(scope="module")
def remembered(toys: None) -> list[AnyRecord]:
    """A run of one that works at every call and of two that remember texts, in a process and on disk."""
    names = ("toy-working", "toy-remembering", "toy-remembering-on-disk")
    shared = {"max_bytes": 2_000, "whole": True}
    workloads = (workload("warm", **shared), workload("cold", state="cold", **shared))
    return everything(
        Plan(profile=msgspec.structs.replace(PROFILE, rounds=1), implementations=names, workloads=workloads)
    )


def test_memory_of_whole_texts_is_recorded_and_said_of_what_it_may_have_answered(remembered: list[AnyRecord]) -> None:
    said = {(m.implementation, m.workload): m.remembered for m in of_kind(remembered, Measurement) if m.status == "ok"}
    assert said == {
        ("toy-working", "warm"): "",
        ("toy-working", "cold"): "",
        ("toy-remembering", "warm"): "process",
        ("toy-remembering", "cold"): "",
        ("toy-remembering-on-disk", "warm"): "machine",
        ("toy-remembering-on-disk", "cold"): "machine",
    }
    looked = {(t.implementation, t.task, t.earlier): t.remembers for t in of_kind(remembered, TextMemory)}
    assert looked == {
        ("toy-working", "encode", False): False,
        ("toy-working", "encode", True): False,
        ("toy-remembering", "encode", False): True,
        ("toy-remembering", "encode", True): False,
        ("toy-remembering-on-disk", "encode", False): False,
        ("toy-remembering-on-disk", "encode", True): True,
    }


def test_what_may_come_from_memory_is_not_ranked(remembered: list[AnyRecord]) -> None:
    ranked = {name: set(by_workload) for name, by_workload in rankable_times(of_kind(remembered, Measurement)).items()}
    assert ranked == {"toy-working": {"warm", "cold"}, "toy-remembering": {"cold"}}
    verdicts = {
        (row["implementation"], row["workload"]): (row["ranked"], shown_verdict(row))
        for row in speed_rows(remembered, noise_floor(remembered))
    }
    assert verdicts["toy-working", "warm"] == (True, "")
    assert verdicts["toy-remembering", "cold"] == (True, "")
    for key in (("toy-remembering", "warm"), ("toy-remembering-on-disk", "cold")):
        assert verdicts[key][0] is False
        assert "remembers whole texts" in verdicts[key][1]


@pytest.mark.parametrize(("status", "recorded"), [("timeout", True), ("crash", True), ("unsupported", False)])
def test_who_does_not_start_to_be_looked_at_is_recorded(status: Status, recorded: bool) -> None:
    def open_(*_: object) -> None:
        raise WorkerFailed(Failed(status=status, reason="why"), dead=True)

    setup = SimpleNamespace(materials=SimpleNamespace(texts=lambda _: None), open=open_)
    written: list[TextMemory] = []
    detector = TextMemoryDetector(setup, written.append, PROFILE)  # type: ignore[arg-type]
    detector.detect("i", [workload(), workload(task="count")])
    assert [(t.task, t.status, t.reason) for t in written] == [
        (task, status, "why") for task in ("count", "encode") if recorded
    ]
    assert detector.remembered("i", workload()) == ("unknown" if recorded else "")


def test_what_could_not_be_looked_at_is_not_ranked_where_texts_repeat() -> None:
    detector = TextMemoryDetector(None, None, PROFILE)  # type: ignore[arg-type]
    detector.note(TextMemory(implementation="i", model="toy", task="encode", status="timeout"))
    assert detector.remembered("i", workload()) == "unknown"
    assert detector.remembered("i", workload(state="warm-between")) == "unknown"
    assert detector.remembered("i", workload(state="cold")) == ""
    assert detector.remembered("i", workload(task="count")) == ""
    assert detector.remembered("j", workload()) == ""
