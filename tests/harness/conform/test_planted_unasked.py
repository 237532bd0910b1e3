"""Faults where a check is easily blind, each found by one check and named with its stage."""

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
    "SpecialsInLongTexts": ("special-tokens", "special tokens"),
    "EightSpecialsAtMost": ("special-tokens", "special tokens"),
    "CacheIgnoresOptions": ("special-tokens", "cache"),
    "BatchIgnoresAllowed": ("special-tokens", "batch"),
    "OffsetsReadSpecials": ("offsets", "offsets"),
    "AfterATypeError": ("python-values", "values"),
    "SubclassOfStr": ("python-values", "values"),
    "TokenBytesOfNineBits": ("tokens", "vocabulary"),
    "OneIdTooFew": ("tokens", "vocabulary"),
    "DeclaresOtherSpecials": ("tokens", "special tokens"),
    "LimitOf31Bits": ("truncate", "truncation"),
    "DecodesNothingToASpace": ("decode-any-order", "decode"),
    "CutsLongSingleTokens": ("tokens", "decode"),
    "EncodesWhatItDecoded": ("decode-any-order", "cache"),
    "DecodersShareBytes": ("python-values", "values"),
    "DeletionsDoNothing": ("incremental", "incremental"),
    "AppendingNothingCuts": ("incremental", "incremental"),
    "GrowsPast4096": ("incremental", "incremental"),
    "GrownShareATail": ("python-values", "values"),
    "ChunksAtWhiteSpace": ("lengths", "pieces"),
    "CacheByEnds": ("state", "cache"),
    "BatchOfOneInHalves": ("batch", "batch"),
    "SavingSpoils": ("save-load", "saving"),
    "LoadForgetsDecoding": ("save-load", "saving"),
    "LoadForgetsSpecials": ("save-load", "saving"),
    "MixedThreads": ("threads", "threads"),
    "CountOnThreads": ("threads", "threads"),
    "BytesOnThreads": ("threads", "threads"),
    "SpecialsOnThreads": ("threads", "threads"),
}
"""Wrong tokenizer -> the check that finds it, and the stage it names."""


@pytest.fixture(scope="module")
def unasked(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_unasked")


@pytest.mark.parametrize("bug", FOUND_BY)
def test_a_fault_out_of_sight_is_found_and_named(unasked: ModuleType, conform: Conform, bug: str) -> None:
    check, stage = FOUND_BY[bug]
    failure = the_failure(conform(getattr(unasked, bug), check))
    assert (failure.check, failure.stage) == (check, stage), failure.reason
    assert failure.reason


@pytest.mark.parametrize("check", sorted({check for check, _ in FOUND_BY.values()}))
def test_a_right_tokenizer_passes_every_one_of_these_checks(planted: ModuleType, conform: Conform, check: str) -> None:
    (verdict,) = conform(planted.Full, check).verdicts
    assert verdict.status in ("passed", "same as reference", "not offered"), verdict.reason
