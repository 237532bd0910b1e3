"""A pass is timed from the same text on for everybody, after a lead that is judged but not timed."""

from __future__ import annotations

import pytest

from harness.measure import worker
from harness.measure.entries import Round
from harness.measure.workloads import Workload, load_workloads


def _workload(**fields: object) -> Workload:
    return Workload(name="some", task="encode", analysis="", profiles=(), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_documents", [1, 3])
def test_a_pass_of_fewer_calls_has_the_same_lead(n_documents: int) -> None:
    workload = _workload(n_calls=8, n_documents=n_documents)
    calls = [[b"%d.%d" % (call, of) for of in range(n_documents)] for call in range(12)]
    complete_round = Round(calls, [b"ids of " + text for call in calls for text in call], "tiktoken")
    for n_calls in (8, 4, 1):
        of_pass = complete_round.of_calls(0, workload.lead_calls + n_calls)
        assert of_pass.calls == calls[: 4 + n_calls]
        assert of_pass.ids == [b"ids of " + text for text in of_pass.texts]


@pytest.mark.parametrize("fields", [{"n_calls": 1}, {"n_calls": 8, "state": "again"}, {"n_calls": 8, "state": "cold"}])
def test_one_call_and_text_that_is_not_new_have_no_lead(fields: dict[str, object]) -> None:
    assert _workload(**fields).lead_calls == 0


def test_the_clock_starts_after_the_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    seconds = {"lead": 100.0, "timed": 1.0}

    def call(text: str) -> str:
        now[0] += seconds[text]
        return text

    for clock in ("perf_counter", "process_time"):
        monkeypatch.setattr(worker, clock, lambda: now[0])
    monkeypatch.setattr(worker._held, "inputs", ["lead", "lead", "timed", "timed", "timed"])
    monkeypatch.setattr(worker._held, "answers", [])
    monkeypatch.setattr(worker._held, "run", call, raising=False)
    worker.lead(2)
    timed = worker.run([1, 3])
    assert (timed.wall_seconds, timed.cpu_seconds) == ([1.0, 3.0], [1.0, 3.0])
    assert worker._held.answers == ["lead", "lead", "timed", "timed", "timed"]


def test_shipped_workloads_of_short_calls_have_a_lead() -> None:
    led = [w.name for w in load_workloads() if w.lead_calls]
    assert {"short/o200k_base/english", "decode/o200k_base/code", "encode/o200k_base/turkish"} <= set(led)
