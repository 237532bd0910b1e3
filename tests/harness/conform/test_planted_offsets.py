"""Wrong encoders with offsets are found by `offsets`, with a small text and what is wrong of which token."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, fewer, model_file, planted, the_failure

from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "fewer", "model_file", "planted"]

FOUND = {
    "BytesForCodePoints": "the token",
    "Utf16ForCodePoints": "the token",
    "StartsAfterACutCharacter": "the token",
    "EndsBeforeACutCharacter": "the token",
    "StartsOnly": "0 spans for 1 ids",
    "OtherIds": "the ids are not those of encode",
}
"""Wrong encoder -> what is said of it."""


@pytest.fixture(scope="module")
def encoders(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_offsets")


@pytest.mark.parametrize("bug", FOUND)
def test_a_wrong_encoder_is_found_with_a_small_text(encoders: ModuleType, conform: Conform, bug: str) -> None:
    failure = the_failure(conform(getattr(encoders, bug), "offsets"))
    assert (failure.check, failure.stage) == ("offsets", "offsets")
    assert FOUND[bug] in failure.reason
    assert 0 < len(failure.counterexample.text.text) <= 4


@pytest.mark.parametrize("model", ["planted", "normalised"])
def test_a_right_encoder_passes(planted: ModuleType, encoders: ModuleType, conform: Conform, model: str) -> None:
    if model == "planted":
        report = conform(encoders.Spans, "offsets")
    else:
        normalised = planted.model().with_(normalization="nfc+prefix-space")
        report = conform(
            lambda: planted.impls.load("naive", normalised), "offsets", reference="priority", model=normalised
        )
    (verdict,) = report.verdicts
    assert (verdict.status, verdict.n_inputs > 100) == ("passed", True), verdict.reason


def test_every_planted_fault_is_tried(encoders: ModuleType) -> None:
    classes = {name for name, found in vars(encoders).items() if getattr(found, "__module__", "") == encoders.__name__}
    assert classes - {"Spans"} == FOUND.keys()
