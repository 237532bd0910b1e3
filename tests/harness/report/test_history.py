"""What is one machine, and how its figures changed from run to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records_by_hand import steady, timed

from harness.records import AnyRecord, RecordWriter
from harness.report.history import by_machine, history_rows
from harness.report.run import Run


def made(folder: Path, *records: AnyRecord, **facts: Any) -> Run:
    """A run of these records."""
    with RecordWriter(folder) as writer:
        writer.write(*records)
    machine = {"date": "2026-01-02", "cpu": "A", "packages": {"kitoken": "1.0", "tiktoken": "0.1"}} | facts
    (folder / "machine.json").write_text(json.dumps(machine))
    return Run(folder.name, folder)


def test_history_is_of_one_machine_with_the_gain_of_later_runs(tmp_path: Path) -> None:
    old = made(tmp_path / "old", *timed("kitoken", steady(0.1), "encode/m/turkish"), packages={"kitoken": "0.9"})
    faster = timed("kitoken", steady(0.05), "encode/m/turkish")
    new = made(tmp_path / "new", *faster, *timed("naive", steady(1.0)), date="2026-02-02")
    other = made(tmp_path / "other", *timed("kitoken", steady(0.1), "encode/m/turkish"), cpu_generation="AVX-512")
    groups = by_machine([new, other, old])
    assert [[run.folder.name for run in group] for group in groups] == [["new", "old"], ["other"]]
    assert other.machine_name == "A, AVX-512"
    (row,) = history_rows([new, other, old])
    assert (row["old"], row["new"]) == ("old", "new")
    assert row["gain"] == pytest.approx(2, rel=0.01)
    assert not row["claimed"]  # neither run measured its noise
