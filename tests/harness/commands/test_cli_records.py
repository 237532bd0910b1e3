"""The verbs that record what they found, and what `report` shows of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("here")


def described(folder: Path) -> dict[str, Any]:
    """Return the facts beside the records of a folder, which name no path of this machine."""
    content = (folder / "machine.json").read_text("utf-8")
    assert str(folder.parent) not in content
    found: dict[str, Any] = json.loads(content)
    assert {"command", "date", "cpu", "packages", "unicode", "suite", "load_before", "load_after"} <= set(found)
    return found


def test_scaling_is_recorded_with_what_it_was_made_on(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = ["run", "--scale", "-m", str(model_file), "-e", "^wordcount$", "--family", "digits", "--doublings", "5"]
    command += ["--rounds", "1", "--out", str(folder)]
    assert "wordcount" in bpebench(*command).out
    machine = described(folder)
    assert machine["resumed"] == 0
    assert "gen/digits:1024" in machine["digests"]["corpora"]
    assert machine["unicode"]["wordcount"]
    assert "Scaling" in bpebench("report", str(folder)).out
    assert bpebench(*command).status == 2
    assert bpebench(*command, "--resume").status == 0
    again = described(folder)
    assert again["resumed"] == 1
    assert again["load_before"] == machine["load_before"]


def test_check_of_the_samples_finds_no_fault(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    ended = bpebench(
        "check", "-m", str(model_file), "-c", "samples/tr", "-e", "priority|wordcount", "--out", str(tmp_path / "run")
    )
    assert ended.status == 0
    assert "everything that must agree agrees" in ended.out
    again = bpebench("check", "-m", str(model_file), "-c", "samples/tr", "-e", "naive", "--out", str(tmp_path / "run"))
    assert again.status == 2
    assert "already holds records" in again.err
    machine = described(tmp_path / "run")
    assert set(machine["digests"]["models"]) == {model_file.stem}
    assert set(machine["digests"]["corpora"]) == {"samples/tr"}
    assert "priority" in bpebench("report", str(tmp_path / "run")).out


def test_check_records_names_and_no_paths(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    private = tmp_path / "alice smith" / "work"
    private.mkdir(parents=True)
    model, text = private / "mine.json", private / "tr.txt"
    model.write_bytes(model_file.read_bytes())
    text.write_text("evler ve kitaplar\n", encoding="utf-8")
    folder = tmp_path / "run"
    bpebench("check", "-m", str(model), "-c", str(text), "-e", "priority|wordcount", "--out", str(folder))
    published = "".join(file.read_text("utf-8") for file in folder.iterdir())
    assert "alice" not in published
    assert {"tr.txt", "mine"} <= {record[key] for record in records_of(folder) for key in ("corpus", "model")}


def records_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text("utf-8").splitlines()]


def test_check_compares_trainers_and_records_it(bpebench: Any, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("hug hug pug pun pun bun hugs\n", encoding="utf-8")
    command = ["check", "--trainers", "-c", str(text), "-e", "tiktoken|naive"]
    ended = bpebench(*command, "--out", str(tmp_path / "run"))
    assert ended.status == 0
    assert "everything that must agree agrees (1 comparisons" in ended.out
    assert set(described(tmp_path / "run")["digests"]["corpora"]) == {"text.txt"}
    shown = bpebench("report", str(tmp_path / "run"))
    assert "Trainers: do they learn the same merges?" in shown.out
    (found,) = json.loads(bpebench(*command, "--json").out)["agreements"]
    assert found["rule"] == "first met"


def test_tables_of_check_fit_the_terminal(bpebench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("hug hug pug pun pun bun hugs\n", encoding="utf-8")
    monkeypatch.setattr("harness.commands.options.terminal_width", lambda: 100)
    shown = bpebench("check", "--trainers", "-c", "text.txt", "-e", "tiktoken|rustbpe").out
    assert max(map(len, shown.splitlines())) <= 100
