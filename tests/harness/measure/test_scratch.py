"""A run's temporary folder: gone when the run ends, and gone at the next run when the run was killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.measure.materials import Scratch

_HOLD = "from harness.measure.materials import Scratch\nheld = Scratch()\nprint(held.folder, flush=True)\ninput()\n"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_when_it_is_closed(temporary: Path) -> None:
    scratch = Scratch()
    (scratch.folder / "texts").write_bytes(b"x")
    scratch.close()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next_and_a_running_one_s_is_not(temporary: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", _HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    killed, running = (Path(process.stdout.readline().strip()) for process in processes)  # type: ignore[union-attr]
    processes[0].kill()
    processes[0].communicate()
    unrelated = temporary / "bpebench-run-of-somebody"
    unrelated.mkdir()
    assert killed.is_dir()
    own = Scratch()
    assert not killed.exists()
    assert running.is_dir()
    assert unrelated.is_dir()
    processes[1].communicate("\n", timeout=60)
    own.close()
