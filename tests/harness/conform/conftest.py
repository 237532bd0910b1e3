"""Planted tokenizers, and a conformance run without processes, for the tests that tell wrong from right ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from module_folders import found_in

import impls
from harness.conform import case, questions
from harness.conform.checks import encoding, state
from harness.conform.reference import Reference
from harness.conform.report import ConformanceReport
from harness.conform.run import choose, run_checks
from harness.data import load_corpus

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE / "conform_planted")]

from conform_stub import InProcess  # noqa: E402
from planted_wrapper import model  # noqa: E402

Conform = Callable[..., ConformanceReport]


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary of 1,000 over the samples, cut as o200k_base is, with a short special token."""
    path = tmp_path_factory.mktemp("planted") / "planted.json"
    spec = impls.TrainingSpec(vocab_size=1000, pattern="o200k", special_tokens=("<s>", "<|end|>"))
    texts = [*load_corpus("samples").documents(), "aaaaaaaa İİ e\u0301"]
    impls.train("compiled", texts, spec).model.save(path)
    return path


@pytest.fixture(scope="session")
def planted_model(model_file: Path) -> Iterator[impls.Model]:
    """The model of all planted tokenizers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_MODEL", str(model_file))
        yield model()


@pytest.fixture(scope="module")
def targets() -> Iterator[None]:
    with found_in(_HERE / "conform_targets"):
        yield


@pytest.fixture(scope="module")
def fewer() -> Iterator[None]:
    """Questions by the thousand instead of the million, complete in kind; tests of generators use the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "SHRINK_SECONDS", 2.0)
        patch.setattr(encoding, "CODES", [*range(0x300), *range(0x300, questions.N_CODE_POINTS, 2039)])
        patch.setattr(
            questions, "PIECE_BYTES", (1, 2, 3, 7, 16, 17, 40, 64, 65, 100, 255, 256, 257, 1000, 4096, 4097, 65_537)
        )
        patch.setattr(questions, "_TEXT_LENGTHS", (4095, 4096, 8192, 65_536, 70_000))
        patch.setattr(questions, "LONG_SPELLINGS", {5_003: 1, 120_003: 22})
        patch.setattr(questions, "COST_SIZES", (1_000, 4_000, 16_000, 64_000))
        patch.setattr(questions, "N_PIECES", 30_000)
        patch.setattr(state, "_ALL_PIECES_AT", 0.0)  # of a slow machine too
        patch.setattr(state, "HELD_CALLS", 50_000)
        yield


@pytest.fixture(scope="module")
def conform(planted_model: impls.Model, fewer: None) -> Conform:
    """A run without processes: `conform(make, *checks)`."""
    of_planted = cache(lambda name: Reference(name, "planted", planted_model))

    def run(
        make: Callable[[], Any],
        *checks: str,
        reference: str = "tiktoken",
        model: impls.Model | None = None,
        target: type[InProcess] = InProcess,
        **options: Any,
    ) -> ConformanceReport:
        other = of_planted(reference) if model is None else Reference(reference, "planted", model)
        return run_checks(lambda environment: target(make, environment), other, choose(checks), **options)

    return run
