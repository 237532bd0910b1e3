"""Progress is shown on standard error, with rate and estimate; with --json as a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner

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


def test_lines_show_share_rate_and_what_is_left(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("counting", 400e6, "bytes") as bar:
        clock(1)
        bar.advance(1e6)  # too soon for a line
        clock(9)
        bar.advance(99e6, "b.txt")
    assert capsys.readouterr().err.splitlines() == ["counting …", "counting 25 %, 10 MB/s, 30 s left, b.txt"]


def test_nothing_is_estimated_where_the_total_is_unknown(
    clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("evaluating", unit="bytes") as bar:
        clock(10)
        bar.advance(50e6)
    assert capsys.readouterr().err.splitlines()[-1] == "evaluating, 5 MB/s"


def test_with_json_each_line_is_an_object_and_the_last_one_the_end(clock: Callable[[float], None]) -> None:
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def verb(as_json: bool) -> None:
        with progress("measuring \u202e", 8) as bar:
            clock(4)
            bar.advance(2, "a")
            clock(0.5)
            bar.advance(6, "b")
            bar.note("warning: noisy")

    lines = [json.loads(line) for line in CliRunner().invoke(verb, ["--json"]).stderr.splitlines()]
    assert [line.get("done") for line in lines] == [0, 2, None, 8]
    assert lines[1] == {
        "progress": "measuring \u202e", "done": 2, "total": 8, "unit": "steps", "seconds": 4, "seconds_left": 12,
        "what": "a",
    }  # fmt: skip
    assert lines[2] == {"note": "warning: noisy"}
    assert lines[3]["seconds_left"] == 0


def test_an_interrupted_run_shows_how_far_it_came(clock: Callable[[float], None]) -> None:
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def verb(as_json: bool) -> None:
        with progress("measuring", 8) as bar:
            clock(0.1)
            bar.advance(3)
            raise KeyboardInterrupt

    assert json.loads(CliRunner().invoke(verb, ["--json"]).stderr.splitlines()[1])["done"] == 3


def test_without_json_a_verb_shows_plain_lines() -> None:
    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def verb(as_json: bool) -> None:
        with progress("measuring", 8):
            pass

    assert CliRunner().invoke(verb, []).stderr == "measuring …\n"
