"""`bpebench fuzz` as a user meets it: what is printed, what is kept, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from harness.check.fuzz.run import FuzzRun


@pytest.fixture
def model(saved: Any) -> str:
    return str(saved("the cat, the mat, the end", vocab_size=270))


@pytest.fixture(autouse=True)
def sides(sides_here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sides answer in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with sides_here():
        yield


def test_what_is_found_is_printed_kept_and_replayed(bpebench: Any, model: str) -> None:
    ended = bpebench("fuzz", "priority", "greedy", "-m", model, "--texts", "3000", "--stop-after", "1")
    assert (ended.status, "expected to differ" in ended.out) == (1, True)
    assert "saved in results/local/counterexamples.jsonl: 1 new, 0 already there" in ended.err
    again = bpebench("fuzz", "--replay", "--json")
    document = json.loads(again.out)
    assert (again.status, document["n_replayed"]) == (0, 1)
    assert [one["outcome"] for one in document["replayed"]] == ["holds"]
    kept = Path("results/local/counterexamples.jsonl")
    kept.write_text(kept.read_text().replace('"greedy"', '"nobody-here"'))
    nothing = bpebench("fuzz", "--replay")
    assert nothing.status == 1
    assert "0 holds, 0 does not hold, 1 not replayed: nothing was replayed" in nothing.out


def test_no_difference_is_status_0_and_one_document(bpebench: Any, model: str, tmp_path: Path) -> None:
    ended = bpebench("fuzz", "priority", "backtracking", "-m", model, "--texts", "100", "--json")
    document = json.loads(ended.out)
    assert (ended.status, document["n_texts"], document["findings"]) == (0, 100, [])
    assert document["n_bytes"] > 0
    assert not list(tmp_path.iterdir())


def test_what_both_refuse_does_not_count_as_compared(bpebench: Any, model: str) -> None:
    texts = ("-m", model, "--texts", "600", "--no-save")
    both = bpebench("fuzz", "fuzz_targets:RefusesTexts", "fuzz_targets:RefusesTexts", *texts)
    assert (both.status, "so nothing was compared" in both.out) == (1, True)
    pair = ("fuzz_targets:TakesOneCharacter", "fuzz_targets:RaisesIndexError")
    document = json.loads(bpebench("fuzz", *pair, *texts, "--json").out)
    compared, failed = (document[name][pair[1]] for name in ("n_compared_texts", "n_failed_texts"))
    assert compared > 0 < failed
    assert compared + failed == 600
    ended = bpebench("fuzz", *pair, *texts)
    assert ended.status == 0
    assert f"both failed on {failed} of the texts" in ended.out
    assert f"no difference in {compared} comparisons" in ended.out


def test_an_interrupted_run_prints_its_result(bpebench: Any, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FuzzRun, "_compare", Mock(side_effect=KeyboardInterrupt))
    ended = bpebench("fuzz", "priority", "backtracking", "-m", model, "--time", "600")
    assert (ended.status, "no difference" in ended.out, "interrupted" in ended.err) == (130, True, True)
