"""Faults of how a tokenizer is called: which call it is, what came before, by which method, on which thread."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, fewer, model_file, planted, the_failure

from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "fewer", "model_file", "planted"]

FOUND_BY = {
    "LeftoversOfALongText": ("state", "cache"),
    "ForgetsToGrow": ("state", "cache"),
    "WrongTheSecondTime": ("state", "cache"),
    "WrongOnceInAThousand": ("ids", "determinism"),
    "SecondDecoding": ("lengths", "cache"),
    "EatsByteOrderMark": ("ids", "normalisation"),
    "CarriageReturnAtTheEnd": ("ids", "normalisation"),
    "EndsAtZero": ("ids", "normalisation"),
    "LargeBatchesInOrderOfLength": ("batch", "batch"),
    "BatchLeavesOutEmpty": ("batch", "batch"),
    "BatchCutsLongTexts": ("batch", "batch"),
    "ArrayCutsLongTexts": ("spellings", "derived"),
    "ArrayOfObjects": ("python-values", "values"),
    "ArrayTooNarrow": ("python-values", "values"),
    "LendsItsArray": ("python-values", "values"),
    "CountsInBlocks": ("spellings", "derived"),
    "CountsByLength": ("spellings", "derived"),
    "DropsSinglePartOfACharacter": ("tokens", "decode"),
    "BytesOfLongLists": ("spellings", "decode"),
    "OffsetsInBytes": ("offsets", "offsets"),
    "KnowsTheMainThread": ("threads", "threads"),
    "SlotsForSixteenThreads": ("threads", "threads"),
    "ArrayOnThreads": ("threads", "threads"),
}
"""Wrong tokenizer -> the check that finds it, and the stage it names."""


DYING = {
    "TruncatingDies": ("truncate", "process"),
    "TruncatingFails": ("truncate", "truncation"),
    "DecoderDies": ("streaming-decode", "process"),
    "DecoderFails": ("streaming-decode", "decode"),
    "IncrementalDies": ("incremental", "process"),
    "ReplacingDies": ("incremental", "process"),
    "CopyingFails": ("incremental", "refusal"),
    "CountingSpecialsDies": ("special-tokens", "derived"),
    "SpansOfSpecialsDie": ("offsets", "offsets"),
    "AnyOptionDies": ("special-tokens", "process"),
    "AllowedBatchDies": ("special-tokens", "process"),
    "AllowedBatchIsEmpty": ("special-tokens", "batch"),
}
"""Likewise, of methods that end the process or raise an error of their own."""


@pytest.fixture(scope="module")
def by_call(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_by_call")


@pytest.mark.parametrize("bug", FOUND_BY)
def test_a_fault_of_how_it_is_called_is_found_and_named(by_call: ModuleType, conform: Conform, bug: str) -> None:
    check, stage = FOUND_BY[bug]
    failure = the_failure(conform(getattr(by_call, bug), check))
    assert (failure.check, failure.stage) == (check, stage), failure.reason
    assert failure.asked.calls > 0


@pytest.mark.parametrize("bug", ["EatsByteOrderMark", "EndsAtZero", "CarriageReturnAtTheEnd"])
def test_what_is_wrong_of_a_piece_is_no_fault_of_joining_them(by_call: ModuleType, conform: Conform, bug: str) -> None:
    report = conform(getattr(by_call, bug), "ids", "transitions", "state")
    assert [verdict.check for verdict in report.faults] == ["ids"]


def test_a_right_count_passes_on_long_texts(planted: ModuleType, conform: Conform) -> None:
    class Counting(planted.Full):  # type: ignore[misc]
        def count(self, text: str) -> int:
            return len(self.encode(text))

    (verdict,) = conform(Counting, "spellings").verdicts
    assert (verdict.status, verdict.n_inputs > 300) == ("passed", True)


@pytest.mark.parametrize("bug", DYING)
def test_a_method_that_dies_or_raises_is_neither_absent_nor_another(
    planted: ModuleType, conform: Conform, bug: str
) -> None:
    failure = the_failure(conform(getattr(importlib.import_module("planted_dying"), bug), DYING[bug][0]))
    assert (failure.check, failure.stage) == DYING[bug], failure.reason


def test_a_batch_that_refuses_options_is_a_remark(planted: ModuleType, conform: Conform) -> None:
    (verdict,) = conform(planted.Full, "special-tokens").verdicts
    assert verdict.status == "passed"
    assert "encode_batch with allowed_special='all', disallowed_special=[] is refused: TypeError" in verdict.reason


def test_every_planted_fault_is_tried(by_call: ModuleType) -> None:
    classes = {name for name, found in vars(by_call).items() if getattr(found, "__module__", "") == by_call.__name__}
    assert classes == FOUND_BY.keys()
