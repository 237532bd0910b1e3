"""Progress is shown on standard error, with rate and estimate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness import progress as shown_by
from harness.progress import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Replace the clock by one that a test moves."""
    now = [100.0]
    monkeypatch.setattr(shown_by.time, "monotonic", lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


def test_lines_show_share_rate_and_rest(clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]) -> None:
    with progress("counting", 400e6, "bytes") as bar:
        clock(1)
        bar.advance(1e6)  # too soon for a line
        clock(9)
        bar.advance(99e6, "b.txt")
    assert capsys.readouterr().err.splitlines() == ["counting …", "counting 25 %, 10 MB/s, 30 s left, b.txt"]


def test_no_total_no_estimate(clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]) -> None:
    with progress("evaluating", unit="bytes") as bar:
        clock(10)
        bar.advance(50e6)
    assert capsys.readouterr().err.splitlines()[-1] == "evaluating, 5 MB/s"
