"""Wrong decoders of streams are found by `streaming-decode`, which says what they do; right ones pass."""

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
    "ReplacesEarly": "further ids may change",
    "HoldsReplacementsBack": "holds back",
    "HoldsWordsBack": "holds back",
    "LosesTheEnd": "finish does not return",
    "DecodesEachPush": "further ids may change",
    "RepeatsAfterReplacement": "the text differs from that of `decode`",
}
"""Wrong decoder -> what is said of it."""


@pytest.fixture(scope="module")
def streams(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_streams")


@pytest.mark.parametrize("bug", FOUND)
def test_a_wrong_decoder_is_found_with_the_fewest_ids(streams: ModuleType, conform: Conform, bug: str) -> None:
    failure = the_failure(conform(getattr(streams, bug), "streaming-decode"))
    assert (failure.check, failure.stage) == ("streaming-decode", "decode")
    assert FOUND[bug] in failure.reason
    assert 0 < len(failure.counterexample.ids) <= 4


def test_a_right_decoder_passes(planted: ModuleType, conform: Conform) -> None:
    (verdict,) = conform(planted.Full, "streaming-decode").verdicts
    assert (verdict.status, verdict.n_inputs > 1_000) == ("passed", True), verdict.reason


def test_a_decoder_of_another_kind_is_not_asked(planted: ModuleType, conform: Conform) -> None:
    class Other(planted.Right):  # type: ignore[misc, name-defined]
        def decoder(self) -> dict[int, str]:
            return {}

    (verdict,) = conform(Other, "streaming-decode").verdicts
    assert verdict.status == "not asked"
    assert "its decoder() cannot be used: TypeError: dict has no push" in verdict.reason
    assert conform(planted.Right, "streaming-decode").verdicts[0].status == "not offered"
