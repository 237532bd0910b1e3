"""Faults of how a tokenizer is called: which call it is, what came before, by which method, on which thread."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, model_file, planted, the_failure

from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "model_file", "planted"]

FOUND_BY = {
    "LeftoversOfALongText": ("repeated", "cache"),
    "ForgetsToGrow": ("repeated", "cache"),
    "WrongTheSecondTime": ("repeated", "cache"),
    "WrongOnceInAThousand": ("ids", "determinism"),
    "SecondDecoding": ("sizes", "cache"),
    "EatsByteOrderMark": ("ids", "normalisation"),
    "CarriageReturnAtTheEnd": ("ids", "normalisation"),
    "EndsAtZero": ("ids", "normalisation"),
    "LargeBatchesInOrderOfLength": ("batch", "batch"),
    "BatchLeavesOutEmpty": ("batch", "batch"),
    "BatchCutsLongTexts": ("batch", "batch"),
    "ArrayCutsLongTexts": ("array", "batch"),
    "ArrayOfObjects": ("python-values", "values"),
    "ArrayTooNarrow": ("python-values", "values"),
    "LendsItsArray": ("python-values", "values"),
    "CountsInBlocks": ("count", "batch"),
    "CountsByLength": ("count", "batch"),
    "DropsSinglePartOfACharacter": ("decode-every-id", "decode"),
    "BytesOfLongLists": ("bytes", "decode"),
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
    "CountingSpecialsDies": ("count", "batch"),
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
    report = conform(getattr(by_call, bug), "ids", "concatenation", "repeated")
    assert [verdict.check for verdict in report.faults] == ["ids"]


def test_the_second_call_is_no_matter_of_threads(by_call: ModuleType, conform: Conform) -> None:
    report = conform(by_call.WrongTheSecondTime, "ids", "threads", "repeated")
    assert {verdict.stage for verdict in report.failed} == {"cache"}
    assert len(report.faults) == 1


def test_a_right_count_passes_on_long_texts(planted: ModuleType, conform: Conform) -> None:
    class Counting(planted.Full):  # type: ignore[misc]
        def count(self, text: str) -> int:
            return len(self.encode(text))

    (verdict,) = conform(Counting, "count").verdicts
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


def test_a_slow_target_is_not_asked_for_more_than_a_call_may_take(planted: ModuleType, conform: Conform) -> None:
    longest = 0

    class Slow(planted.Full):  # type: ignore[misc]
        def encode(self, text: str, allowed_special: object = (), disallowed_special: object = ()) -> list[int]:
            nonlocal longest
            longest = max(longest, len(text))
            time.sleep(len(text) * 2e-5)
            return self.tokenizer.encode(text, disallowed_special=())  # type: ignore[no-any-return]

    (verdict,) = conform(Slow, "array").verdicts
    assert verdict.status == "passed", verdict.reason
    assert longest < 65_536
