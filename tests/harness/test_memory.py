"""Memory of a process, and free memory touched before what is called once is timed."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness import memory
from harness.measure import worker
from harness.measure.protocol import Job, Measure, Measured
from harness.measure.texts import write_texts
from harness.measure.workloads import State, Task
from impls import Model
from impls.priority import Priority

MEGABYTES = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="the highest memory is started anew on Linux only")
def test_free_memory_is_touched_and_freed() -> None:
    memory.reset_peak()
    before = memory.resident_bytes()
    assert memory.touch_free_memory(64 * MEGABYTES) == 64 * MEGABYTES
    assert memory.resident_bytes() < before + 16 * MEGABYTES
    highest = memory.peak_bytes()
    assert highest is not None
    assert highest > before + 48 * MEGABYTES


def test_no_more_than_a_quarter_of_what_is_free_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 8 * MEGABYTES

    monkeypatch.setattr(psutil, "virtual_memory", Little)
    assert memory.touch_free_memory() == 2 * MEGABYTES
    Little.available = 0
    assert memory.touch_free_memory() == 0


@pytest.mark.parametrize(
    ("task", "state", "touched"),
    [
        ("encode", "cold", True),
        ("encode-array", "warm-other", True),
        ("load", "cold", True),
        ("encode", "warm-same", False),
        ("encode", "warm-between", False),
    ],
)
def test_free_memory_is_touched_before_what_is_called_once(
    task: Task, state: State, touched: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary: list[str] = []

    class Noting(Priority):
        def encode(self, text: str, **options: Any) -> list[int]:
            diary.append("call")
            return super().encode(text, **options)

    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    model.save(tmp_path / "model.json")
    write_texts(tmp_path / "texts", [b"a text"] * 6)
    job = Job(task=task, state=state, texts=str(tmp_path / "texts"), model_file=str(tmp_path / "model.json"))
    opening = worker.Opening(Noting, Noting(model), model, memory.resident_bytes(), False, 0.0)
    monkeypatch.setattr(memory, "touch_free_memory", lambda: diary.append("touched"))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    measured = worker.measure(Measure(job=job, expected=None, n_samples=1, sample_seconds=0.001), opening)
    assert isinstance(measured, Measured)
    assert diary[0] == ("touched" if touched else "call")
    assert diary.count("touched") == touched
    assert measured.peak_memory_bytes is not None
    assert measured.peak_memory_bytes < 256 * MEGABYTES
