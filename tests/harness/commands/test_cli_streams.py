"""Streams that are closed, and an interruption at once: one line says so, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from impls import Model


def ended(arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `bpebench` by a shell, for its redirections."""
    command = f"exec {sys.executable} -m harness {arguments}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder)


def test_a_closed_standard_error_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("low lower lowest")
    made = ended("train -c text.txt -e priority --vocab-size 258 --out made.json --json 2>&-", tmp_path)
    assert made.returncode == 0
    assert json.loads(made.stdout)["n_merges"] == 2
    assert Model.load(tmp_path / "made.json").n_tokens == 258
    refused = ended("encode -m none.json low 2>&-", tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_closed_standard_output_is_one_clear_line_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("low lower lowest")
    for arguments in ("encode -m gpt2 low", "train -c text.txt --vocab-size 258 --out made.json"):
        refused = ended(f"{arguments} >&-", tmp_path)
        assert refused.returncode == 2
        assert refused.stderr == "bpebench: standard output is closed; send it to a file, a pipe or /dev/null\n"
    assert not (tmp_path / "made.json").exists()
    assert ended("encode -m gpt2 low >&- 2>&-", tmp_path).returncode == 2


_INTERRUPTED = """
import signal, sys
from importlib.abc import MetaPathFinder

class Interrupts(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
sys.meta_path.insert(0, Interrupts())
import runpy
runpy.run_module("harness", run_name="__main__")
"""


def test_an_interruption_while_modules_are_imported_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "bpebench: interrupted\n")
