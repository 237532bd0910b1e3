"""The pages that are tested: one committed run, and two of them with a hostile one."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsers import browser, open_page
from command_line import bpebench
from records_by_hand import timed

from harness.outcome import Outcome
from harness.records import AnyRecord, Counterexample, RecordWriter, Text, Verdict, write_machine
from harness.report.page.runs import render_page

__all__ = ["bpebench", "browser", "open_page"]

RESULTS = Path(__file__).resolve().parents[2] / "results"
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>\x1b[31m\u202e\ud800"


def run_of(kind: str) -> Path:
    """The newest committed run of a kind."""
    return max(path.parent for path in RESULTS.glob(f"*-{kind}*/records.jsonl"))


def hostile_records() -> list[AnyRecord]:
    """Records whose every free text tries to break out of where it is shown."""
    name, workload = HOSTILE[:-1], "</script><script>window.hacked=4</script>"
    return [
        Verdict(
            implementation="</td><script>window.hacked=3</script>", model="m|`*_", corpus="c", check="load",
            status=Outcome.CRASH, reason=name, counterexample=Counterexample(Text.of(HOSTILE), None, [1]),
        ),
        *timed("\"'><svg onload=window.hacked=5>", [[0.1]], workload),
        *timed("javascript:alert(1)", [[]], workload, "crash", reason="<!--<script>window.hacked=6</script>-->"),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "hostile"
    with RecordWriter(folder) as writer:
        writer.write(*hostile_records())
    write_machine(folder, {"cpu": "Example CPU", "date": "2026-01-01"})
    return folder


@pytest.fixture(scope="session")
def page_html() -> str:
    return render_page([run_of("tour")])


@pytest.fixture(scope="session")
def several_html(hostile_folder: Path) -> str:
    """Two runs of one machine, and the hostile one."""
    return render_page([run_of("tour"), hostile_folder, run_of("default")])


@pytest.fixture(scope="session")
def hostile_html(hostile_folder: Path) -> str:
    return render_page([hostile_folder])
