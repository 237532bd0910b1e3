"""`bpebench list matrix`: which implementation runs which model, and why not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import impls
from impls.naive import Naive
from impls.operations import pieces


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The files of a model over bytes and of one over characters."""
    folder = tmp_path_factory.mktemp("models")
    for alphabet in ("bytes", "chars"):
        spec = impls.TrainingSpec(vocab_size=300, alphabet=alphabet, unknown="<unk>", pattern="none")  # type: ignore[arg-type]
        impls.train("priority", ["hello hello world"] * 2, spec).model.save(folder / f"{alphabet}.json")
    return str(folder / "bytes.json"), str(folder / "chars.json")


def test_who_runs_what_and_why_not(bpebench: Any, models: tuple[str, str]) -> None:
    by_bytes, by_characters = models
    ended = bpebench("list", "matrix", "-e", "^(naive|bytelevel)$", "-m", by_bytes, "-m", by_characters)
    assert ended.status == 0
    rows = [line.split()[1:] for line in ended.out.splitlines() if line.startswith("/")]
    assert rows == [["exact", "yes", "yes"], ["lossy", "yes", "no"]]
    refused = "works on bytes, without ends; this model's alphabet is 'chars'"
    assert f"no: bytelevel on {by_characters}: {refused}" in ended.out


def test_the_same_as_json(bpebench: Any, models: tuple[str, str]) -> None:
    found = json.loads(bpebench("list", "matrix", "-e", "^(naive|bytelevel)$", "-m", models[1], "--json").out)["matrix"]
    assert [(one["implementation"], one["status"]) for one in found] == [("naive", "right"), ("bytelevel", "refused")]


def test_one_that_fails_is_a_finding(
    models: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.commands.list import command
    from harness.process.pool import Pool

    def run_here(_: Any, function: Any, tasks: Any, done: Any) -> list[Any]:
        return [function(*task) for task in tasks]

    def drops_a_token(self: Naive, text: str) -> list[int]:
        return pieces.encode(self.model, text, self.encode_piece)[1:]

    monkeypatch.setattr(Pool, "run", run_here)
    monkeypatch.setattr(Naive, "encode_normalized", drops_a_token)
    assert command.main(["matrix", "-e", "^naive$", "-m", models[0]], standalone_mode=False) == 1
    assert (
        f"mismatch: naive on {models[0]}: the ids do not decode to the text they came from" in capsys.readouterr().out
    )


@pytest.mark.parametrize("option", [("-m", "x"), ("-e", "naive"), ("-E", "naive")])
def test_its_options_go_with_nothing_else(bpebench: Any, option: tuple[str, str]) -> None:
    ended = bpebench("list", "models", *option)
    assert ended.status == 2
    assert "-e, -E and -m go with `bpebench list matrix`" in ended.err
