"""Where the command line may write: never over what the same command reads, and only where a file can be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.outcome import Outcome
from harness.records import RecordWriter, Verdict

_TEXT = "bir iki üç\n\nbir iki\n\n\n  dört \n" * 20
_READ = "is what is read; name another file to write"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> Path:
    """Return the working folder: a text, a model in it and in the cache as `mine`, and a run."""
    monkeypatch.chdir(tmp_path)
    for name in ("ok.txt", "texts/a.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(_TEXT, "utf-8")
    model = impls.train("priority", [_TEXT], impls.TrainingSpec(vocab_size=262)).model
    for path in (Path("m.json"), own_cache / "models" / "mine.json"):
        model.save(path)
    with RecordWriter(Path("run")) as writer:
        writer.write(
            Verdict(implementation="a", model="m", corpus="c", check="round-trip", status=Outcome.RIGHT, n_texts=1)
        )
    Path("t.py").write_text("T = None\n")
    Path("run/machine.json").write_text("{}")
    Path("run/plan.json").write_text("{}")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        "report run --html run/records.jsonl",
        "report run --html run/machine.json",
        "report run --html run/plan.json",
        "train -c ok.txt --extend m.json --vocab-size 270 --out m.json",
        "train -c ok.txt --extend mine --vocab-size 270 --name mine",
        "train --parity a=ok.txt --parity-dev a=texts/a.txt --vocab-size 270 --out texts/a.txt",
        "train -c texts --vocab-size 270 --out texts/a.txt",
        "train --count-only -c texts --out texts/a.txt",
        "convert mine cache/models/mine.json --to tiktoken",
    ],
)
def test_what_is_read_is_never_written_over(bpebench: Any, here: Path, command: str) -> None:
    before = contents(here)
    ended = bpebench(*command.split())
    assert (ended.status, _READ in ended.err, ended.err.count("\n") <= 4) == (2, True, True), ended.err
    assert contents(here) == before


@pytest.mark.parametrize(
    "command",
    [
        "train -c ok.txt --vocab-size 270 --out",
        "train -c ok.txt --vocab-size 270 --name",
        "train --count-only -c ok.txt --out",
        "convert m.json --to tiktoken",
        "fuzz naive greedy -m m.json --texts 1 --save",
        "check -m m.json -c ok.txt -e ^naive$ --out",
        "run --scale -m m.json -e ^naive$ --family digits --out",
        "run -m m.json -e ^naive$ --out",
        "report run --html",
        "report",
        "vocab",
    ],
)
def test_an_empty_path_is_refused(bpebench: Any, here: Path, command: str) -> None:
    before = contents(here)
    ended = bpebench(*command.split(), "")
    assert ended.status == 2
    assert "the path is empty" in ended.err or "''" in ended.err
    assert contents(here) == before


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("convert m.json texts --to tiktoken", "texts: is a folder; name a file to write"),
        ("convert m.json ok.txt/x --to tiktoken", "ok.txt is a file, not a folder"),
        ("convert m.json ok.txt/x/y --to tiktoken", "ok.txt is a file, not a folder"),
        ("train -c ok.txt --vocab-size 270 --out ok.txt/m.json", "ok.txt is a file, not a folder"),
        ("report run --html ok.txt/x.html", "ok.txt is a file, not a folder"),
        ("check -m m.json -c ok.txt -e ^naive$ --out ok.txt/x", "ok.txt is a file, not a folder"),
    ],
)
def test_a_place_where_no_file_can_be_is_named(bpebench: Any, here: Path, command: str, problem: str) -> None:
    before = contents(here)
    ended = bpebench(*command.split())
    assert (ended.status, problem in ended.err) == (2, True), ended.err
    assert not re.search(r"\.tmp|/\.", ended.err)
    assert contents(here) == before


@pytest.mark.parametrize("command", ["report run --html page.html", "compare run run"])
def test_a_damaged_description_of_the_machine_is_refused(bpebench: Any, here: Path, command: str) -> None:
    Path("run/machine.json").write_text("[1")
    before = contents(here)
    ended = bpebench(*command.split())
    assert (ended.status, "run/machine.json: is damaged" in ended.err) == (2, True), ended.err
    assert contents(here) == before
