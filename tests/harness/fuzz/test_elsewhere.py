"""Fuzzing finds what no single short text shows: decoding, sizes, special tokens, threads, one text in very many."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import impls
from harness.check.fuzz.replay import replay
from harness.check.fuzz.run import FuzzPlan, FuzzResult, FuzzRun
from harness.data import load_corpus

Hunted = Callable[[str, int], FuzzResult]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.json"
    spec = impls.TrainingSpec(vocab_size=300, pattern="cl100k", special_tokens=("<|end|>",))
    impls.train("priority", load_corpus("samples", max_bytes=20_000).documents(), spec).model.save(path)
    return path


@pytest.fixture
def hunted(sides_here: Callable[[], AbstractContextManager[None]], model: Path) -> Hunted:
    def run(target: str, n_texts: int) -> FuzzResult:
        sides = ["compiled", f"fuzz_targets:{target}"]
        plan = FuzzPlan(sides, (str(model),), seconds=None, n_texts=n_texts, stop_after=1, corpora=("samples",))
        with sides_here():
            return FuzzRun(plan).run()

    return run


@pytest.mark.parametrize(
    ("target", "n_texts", "stage"),
    [("SwallowsSpace", 80_000, "special tokens"), ("WrongPast64K", 40_000, None), ("OneInManyTexts", 40_000, None)],
)
def test_a_fault_beside_the_ids_of_one_text_is_found(
    hunted: Hunted, target: str, n_texts: int, stage: str | None
) -> None:
    result = hunted(target, n_texts)
    assert result.findings, result
    assert stage is None or result.findings[0].stage == stage


def test_a_race_between_threads_is_found(hunted: Hunted) -> None:
    result = hunted("SharedText", 40_000)
    assert [record.call for record in result.findings] == ["encode_threads"]


def test_what_decodes_differently_is_saved_with_its_ids_and_replayed(hunted: Hunted) -> None:
    (record,) = hunted("DropsCutCharacter", 20_000).findings
    assert (record.call, record.stage) == ("decode", "decode")
    assert record.counterexample.expected is not None
    assert len(record.counterexample.expected) == 1
    assert [one.outcome for one in replay([record])] == ["holds"]
