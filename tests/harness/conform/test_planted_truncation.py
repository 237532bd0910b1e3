"""Wrong cuts and wrong limits are found by `truncate`, which says what they do; right ones pass."""

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
    "CutsInsideACharacter": "is no beginning of the text",
    "OneTokenTooMany": "ids when it is encoded alone",
    "OneTokenTooFew": "cuts a text of",
    "OneCharacterTooMany": "cuts off 1 characters more",
    "CutsByCharacters": "ids when it is encoded alone",
    "NeverEncodesTheBeginning": "ids when it is encoded alone",
    "NeverEncodesTheEnd": "ids when it is encoded alone",
    "LeftIsRight": "is no end of the text",
    "WordsAtSpaces": "characters more than it must",
    "ReadsAHead": "cuts off 16 characters more",
    "RefusesZero": "is refused: ValueError",
    "FitsOneMore": "says True",
    "StopsAtTheLimit": "says 0",
    "NeverStops": "says",
}
"""Wrong tokenizer -> what is said of it."""


@pytest.fixture(scope="module")
def cutting(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_truncation")


@pytest.mark.parametrize("bug", FOUND)
def test_a_wrong_cut_or_limit_is_found_with_a_small_text(cutting: ModuleType, conform: Conform, bug: str) -> None:
    failure = the_failure(conform(getattr(cutting, bug), "truncate"))
    assert (failure.check, failure.stage) == ("truncate", "truncation")
    assert FOUND[bug] in failure.reason
    assert failure.counterexample.n_characters <= 40


def test_right_ones_pass(planted: ModuleType, cutting: ModuleType, conform: Conform) -> None:
    for right in (planted.Full, cutting.OnlyFits):
        (verdict,) = conform(right, "truncate").verdicts
        assert (verdict.status, verdict.n_inputs > 1_000) == ("passed", True), verdict.reason


def test_a_truncate_of_another_kind_is_not_asked(planted: ModuleType, cutting: ModuleType, conform: Conform) -> None:
    (verdict,) = conform(cutting.OfAnotherKind, "truncate").verdicts
    assert (verdict.status, verdict.n_inputs) == ("not asked", 0)
    assert "its truncate takes other arguments: TypeError" in verdict.reason
    assert conform(planted.Right, "truncate").verdicts[0].status == "not offered"
