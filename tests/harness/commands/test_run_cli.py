"""The exit status of `bpebench run`: what is a fault, and that a run of nothing is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from records_by_hand import steady, timed

from harness.commands.run import carry_out
from harness.measure.workloads import PROFILES, Plan
from harness.records import Measurement

PLAN = Plan(profile=PROFILES["smoke"], implementations=("naive",), workloads=(), seed=0)


def faults_of(monkeypatch: pytest.MonkeyPatch, *records: Measurement) -> int:
    monkeypatch.setattr("harness.measure.run.measure", lambda *_, **__: list(records))
    return carry_out(PLAN, Path("nowhere"), resume=False)


@pytest.mark.parametrize("status", ["refused", "missing", "unverified"])
def test_no_timing_is_a_fault(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str) -> None:
    assert faults_of(monkeypatch, *timed("naive", [[]], outcome=status)) == 1
    assert "nothing was timed" in capsys.readouterr().err
    assert faults_of(monkeypatch) == 1


@pytest.mark.parametrize(
    ("status", "n_faults"), [("refused", 0), ("timeout", 0), ("unverified", 1), ("mismatch", 1), ("panic", 1)]
)
def test_what_is_a_fault_beside_what_was_timed(monkeypatch: pytest.MonkeyPatch, status: str, n_faults: int) -> None:
    good = timed("naive", steady(0.1))
    assert faults_of(monkeypatch, *good, *timed("priority", [[]], outcome=status)) == n_faults
