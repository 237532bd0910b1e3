"""Faults that the ids of a text asked for once do not show, each found by one check; honest tokenizers pass all."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, fewer, model_file, planted, the_failure

import impls
from harness.conform.checks.catalogue import CHECKS
from harness.conform.report import render
from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "fewer", "model_file", "planted"]

FOUND_BY = {
    "DropsCutCharacter": ("decode-any-order", "decode"),
    "RemembersBySum": ("decode-any-order", "cache"),
    "DecodesAsOneStream": ("decode-any-order", None),
    "EndsRepetition": ("decode-any-order", "decode"),
    "ReplacesEachByte": ("decode-any-order", "decode"),
    "UsesUpTheIds": ("python-values", "values"),
    "MultipleOf4096": ("lengths", None),
    "SixteenBitLength": ("lengths", "pieces"),
    "CutsCharactersAtBlocks": ("lengths", "normalisation"),
    "VectorTail": ("lengths", None),
    "ComposesLongTexts": ("spellings", "normalisation"),
    "SwallowsSpace": ("special-tokens", "special tokens"),
    "HoldsBackPrefix": ("special-tokens", "special tokens"),
    "AnyCase": ("special-tokens", "special tokens"),
    "BatchReadsSpecials": ("batch", "batch"),
    "NumpyIds": ("python-values", "values"),
    "FalseForZero": ("python-values", "values"),
    "FloatIds": ("python-values", "values"),
    "StringIds": ("python-values", "values"),
    "FloatArray": ("python-values", "values"),
    "LendsItsBuffer": ("python-values", "values"),
    "LendsItsCache": ("python-values", "values"),
    "LeftoversOfAnError": ("bad-input", "bad input"),
    "LeftoversOfDecoding": ("bad-input", "bad input"),
    "FirstUseByThreads": ("threads", "threads"),
    "DecodesIntoOneBuffer": ("threads", "threads"),
    "OneInManyTexts": ("state", None),
    "FullTable": ("state", "determinism"),
    "BatchPastAThousand": ("batch", "batch"),
    "QuadraticBehindMemory": ("cost", "resources"),
    "QuadraticDecoding": ("cost", "resources"),
    "SlowerByTheCall": ("state", "resources"),
}
"""Wrong tokenizer -> the check that finds it, and the stage it names (None: any)."""


@pytest.fixture(scope="module")
def elsewhere(planted: ModuleType) -> ModuleType:
    """All of them in one module."""
    found = importlib.import_module("planted_elsewhere")
    vars(found).update(vars(importlib.import_module("planted_over_time")))
    return found


@pytest.mark.parametrize("bug", FOUND_BY)
def test_a_fault_beside_the_ids_is_found_and_named(elsewhere: ModuleType, conform: Conform, bug: str) -> None:
    check, stage = FOUND_BY[bug]
    failure = the_failure(conform(getattr(elsewhere, bug), check))
    assert failure.check == check
    assert stage is None or failure.stage == stage, failure.reason
    assert failure.asked.calls > 0
    if (shown := failure.counterexample) is not None and check == "decode-any-order":
        assert shown.expected != shown.got


_SLOW = ("state", "memory", "state", "state", "cost", "lengths", "lengths", "code-points")
FAST = [check.name for check in CHECKS if check.name not in _SLOW]


@pytest.mark.parametrize(
    ("bug", "stage"),
    [
        ("LowersDottedI", "normalisation"),
        ("SpecialsAlways", "special tokens"),
        ("DropsUncovered", "normalisation"),
        ("StrReplace", "pieces or merges"),
        ("HashCache", "cache"),
        ("RemembersBySum", "cache"),
        ("ReplacesEachByte", "decode"),
        ("UsesUpTheIds", "values"),
        ("LendsItsBuffer", "values"),
        ("LeftoversOfAnError", "bad input"),
    ],
)
def test_a_fault_is_shown_once_and_looked_at_first(
    planted: ModuleType, elsewhere: ModuleType, conform: Conform, bug: str, stage: str
) -> None:
    report = conform(getattr(planted, bug, None) or getattr(elsewhere, bug), *FAST)
    assert report.first is not None
    assert report.first.stage == stage, report.first.reason
    assert all(verdict.stage in (stage, "threads") for verdict in report.faults)
    assert len({verdict.stage for verdict in report.faults}) == len(report.faults)
    assert render(report).count(f"✗ {report.first.check} ·") == 1


@pytest.fixture(scope="module")
def honest(planted: ModuleType) -> ModuleType:
    return importlib.import_module("honest")


@pytest.mark.parametrize(
    "right", ["Cached", "Threaded", "NumpyArrays", "Library", "RefusesSpecials", "IgnoresKeywords", "StrictText"]
)
def test_a_right_tokenizer_passes_however_it_is_built(honest: ModuleType, conform: Conform, right: str) -> None:
    checks = ("transitions", "tokens", "spellings", "special-tokens", "batch", "threads", "decode-any-order")
    report = conform(getattr(honest, right), "ids", "round-trip", *checks)
    assert report.conforms, [(verdict.check, verdict.reason) for verdict in report.failed]
    assert all(verdict.asked.calls for verdict in report.verdicts if verdict.status == "passed")


def test_a_slow_tokenizer_passes_by_what_it_was_asked(honest: ModuleType, conform: Conform) -> None:
    report = conform(honest.Slow, "decode-any-order", "special-tokens", "python-values", "threads")
    assert not report.failed, [(verdict.check, verdict.reason) for verdict in report.failed]
    assert not report.unjudged


def test_a_tokenizer_of_a_lossy_model_passes_and_is_held_to_the_bytes_of_the_reference(
    honest: ModuleType, conform: Conform
) -> None:
    model = honest.lossy()

    class Lossy(honest.Full):
        def __init__(self) -> None:
            super().__init__()
            self.tokenizer = impls.load("tiktoken", model)

    report = conform(
        Lossy, "ids", "round-trip", "spellings", "lengths", "decode-any-order", "special-tokens", model=model
    )
    assert report.conforms, [(verdict.check, verdict.reason) for verdict in report.failed]

    class Garbage(Lossy):
        def decode_bytes(self, ids: list[int]) -> bytes:
            return b"garbage"

    class Refuses(Lossy):
        def decode_bytes(self, ids: list[int]) -> bytes:
            raise ValueError("no")

    for wrong in (Garbage, Refuses):
        assert the_failure(conform(wrong, "spellings", model=model)).stage == "decode"
