"""Planted tokenizers, and a conformance run without processes, for the tests that tell wrong from right ones."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import impls
from harness.conform import questions
from harness.conform.checks import encoding, state
from harness.conform.reference import Reference
from harness.conform.run import run_checks
from harness.conform.verdicts import ConformanceReport
from harness.data import load_corpus

_HERE = Path(__file__).resolve().parents[1] / "harness" / "conform"
Conform = Callable[..., ConformanceReport]


def trained(folder: Path) -> Path:
    """A vocabulary of 1,000 over the samples, cut as o200k_base is, with a short special token."""
    path = folder / "planted.json"
    spec = impls.TrainingSpec(vocab_size=1000, pattern="o200k", special_tokens=("<s>", "<|end|>"))
    texts = [*load_corpus("samples").documents(), "aaaaaaaa İİ e\u0301"]
    impls.train("compiled", texts, spec).model.save(path)
    return path


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def planted(model_file: Path) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_MODEL", str(model_file))
        patch.syspath_prepend(str(_HERE))
        patch.syspath_prepend(str(_HERE / "conform_planted"))
        yield importlib.import_module("planted_bugs")
        for name in [name for name in sys.modules if name.startswith("planted_") and name != __name__]:
            sys.modules.pop(name)
        for name in ("honest", "conform_stub"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def fewer() -> Iterator[pytest.MonkeyPatch]:
    """Questions by the thousand instead of the million, complete in kind; tests of generators use the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "CODES", [*range(0x300), *range(0x300, questions.N_CODE_POINTS, 509)])
        patch.setattr(questions, "PIECE_BYTES", (1, 2, 3, 7, 16, 17, 64, 100, 255, 256, 257, 1000, 4096, 4097, 65_537))
        patch.setattr(questions, "_TEXT_LENGTHS", (4095, 4096, 8192, 65_535, 65_536, 65_537, 70_000, 131_072))
        patch.setattr(questions, "LONG_SPELLINGS", {5_003: 1, 300_003: 22})
        patch.setattr(questions, "COST_SIZES", (1_000, 4_000, 16_000, 64_000))
        patch.setattr(questions, "N_PIECES", 250_000)
        patch.setattr(state, "HELD_CALLS", 100_000)
        yield patch


@pytest.fixture(scope="module")
def conform(planted: ModuleType, fewer: pytest.MonkeyPatch) -> Conform:
    """A run without processes: `conform(make, *checks)`."""
    stub: Any = importlib.import_module("conform_stub")
    of_planted = cache(lambda name: Reference(name, "planted", planted.model()))

    def run(
        make: Callable[[], Any], *checks: str, reference: str = "tiktoken", model: impls.Model | None = None
    ) -> ConformanceReport:
        other = of_planted(reference) if model is None else Reference(reference, "planted", model)
        return run_checks(lambda environment: stub.InProcess(make, environment), other, checks)

    return run


def the_failure(report: ConformanceReport) -> Any:
    assert report.failed, [(verdict.check, verdict.status, verdict.reason) for verdict in report.verdicts]
    return report.failed[0]
