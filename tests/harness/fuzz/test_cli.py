"""`bpebench fuzz` as a user meets it: what is printed, what is kept, and the exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import impls
from harness.cli import main


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("models") / "model.json"
    impls.train("priority", ["the cat, the mat, the end"], impls.TrainingSpec(vocab_size=270)).model.save(path)
    return str(path)


@pytest.fixture
def in_this_process(sides_here: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    with sides_here():
        yield


def bpebench(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["bpebench", "fuzz", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiktoken"], "name two sides or more"),
        (["priority", "nobody", "--no-save"], "unknown implementation 'nobody'; known: naive"),
        (["priority", "regex@1.0"], "unknown implementation 'regex@1.0'"),
        (["priority", "greedy", "-m", "no-such-model"], "no-such-model"),
        (["priority", "greedy", "-m", "x", "--models"], "leave out -m"),
        (["priority", "greedy", "--expected"], "--expected goes with --models"),
        (["priority", "sentencepiece", "-c", "no-such-corpus", "-m", "MODEL"], "no-such-corpus"),
        (["--replay", "--save", "no-such-file.jsonl"], "no-such-file.jsonl: holds no counterexamples"),
    ],
)
def test_bad_usage_gets_one_clear_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    model: str,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status = bpebench(monkeypatch, *[model if argument == "MODEL" else argument for argument in arguments])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_this_process")
def test_what_is_found_is_printed_kept_and_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bpebench(monkeypatch, "priority", "greedy", "-m", model, "--texts", "3000", "--stop-after", "1") == 1
    out, err = capsys.readouterr()
    assert "expected to differ" in out
    assert "kept in results/local/counterexamples.jsonl: 1 new, 0 known before" in err
    assert bpebench(monkeypatch, "--replay", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_replayed"] == 1
    assert [one["outcome"] for one in document["replayed"]] == ["holds"]


@pytest.mark.usefixtures("in_this_process")
def test_a_replay_of_nothing_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bpebench(monkeypatch, "priority", "greedy", "-m", model, "--texts", "3000", "--stop-after", "1") == 1
    kept = Path("results/local/counterexamples.jsonl")
    kept.write_text(kept.read_text().replace('"greedy"', '"nobody-here"'))
    capsys.readouterr()
    assert bpebench(monkeypatch, "--replay") == 1
    assert "0 holds, 0 does not hold, 1 not replayed: nothing was replayed" in capsys.readouterr().out


@pytest.mark.usefixtures("in_this_process")
def test_no_difference_is_status_0_and_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bpebench(monkeypatch, "priority", "backtracking", "-m", model, "--texts", "100", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_texts"] == 100
    assert document["findings"] == []
    assert document["n_bytes"] > 0
    assert not list(tmp_path.iterdir())


def test_two_that_refuse_every_text_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str
) -> None:
    refusing = (
        "class Refusing:\n    def encode(self, text): raise ValueError\n    def decode(self, ids): raise ValueError\n"
    )
    (tmp_path / "refusing.py").write_text(refusing)
    monkeypatch.chdir(tmp_path)
    sides = ("refusing.py", "refusing.py:Refusing")
    assert bpebench(monkeypatch, *sides, "-m", model, "--texts", "100", "--no-save") == 1
    assert (
        "refusing.py:Refusing and refusing.py both answered no text, so nothing was compared" in capsys.readouterr().out
    )


def test_no_difference_is_said_of_the_texts_compared_and_not_of_those_that_both_refuse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, model: str
) -> None:
    picky = """
class Picky:
    def encode(self, text):
        if len(text) != 1:
            raise {}
        return [ord(text)]
    def decode(self, ids):
        return "".join(map(chr, ids))
"""
    for name, error in (("one", "ValueError"), ("other", "IndexError")):
        (tmp_path / f"{name}.py").write_text(picky.format(error))
    monkeypatch.chdir(tmp_path)
    arguments = ("one.py:Picky", "other.py:Picky", "-m", model, "--texts", "600", "--no-save")
    assert bpebench(monkeypatch, *arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    compared, failed = (document[name]["other.py:Picky"] for name in ("n_compared_texts", "n_failed_texts"))
    assert compared > 0 < failed
    assert compared + failed == 600
    assert bpebench(monkeypatch, *arguments) == 0
    out = capsys.readouterr().out
    assert f"other.py:Picky and one.py:Picky both failed on {failed} of the texts" in out
    assert f"no difference in {compared} comparisons" in out


def test_an_interrupted_run_ends_at_once_and_prints_its_result(tmp_path: Path, model: str) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "harness", "fuzz", "priority", "backtracking", "-m", model, "--time", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        start_new_session=True,
        # A test run in the background ignores SIGINT, and what it starts would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert running.stderr is not None
    while "texts" not in (line := running.stderr.readline()):
        assert line, "it ended by itself"
    os.killpg(running.pid, signal.SIGINT)
    out, rest = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "no difference" in out
    assert "Traceback" not in rest
    assert "interrupted" in rest
