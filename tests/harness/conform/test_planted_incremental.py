"""Wrong ways of following a text are found by `incremental`, which says what they do; right ones pass."""

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
    "OverlapsByTokens": "after append the ids are not those of the text",
    "CutsAfterTheLastSpace": "after append the ids are not those of the text",
    "CutsBeforeTheLastSpace": "after append the ids are not those of the text",
    "AllIsStable": "ids are called stable, but appending",
    "AllButOneIsStable": "ids are called stable, but appending",
    "CopiesShareIds": "on a copy the ids are not those of the text",
    "EditsBytes": "after replace the ids are not those of the text",
}
"""Wrong way -> what is said of it."""


@pytest.fixture(scope="module")
def growing(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_incremental")


@pytest.mark.parametrize("bug", FOUND)
def test_a_wrong_way_of_following_a_text_is_found(growing: ModuleType, conform: Conform, bug: str) -> None:
    failure = the_failure(conform(getattr(growing, bug), "incremental"))
    assert (failure.check, failure.stage) == ("incremental", "incremental")
    assert FOUND[bug] in failure.reason
    assert failure.counterexample.n_characters <= 16


def test_right_ways_pass_with_what_they_have(growing: ModuleType, conform: Conform) -> None:
    for target, remark in ((growing.Growing, "0% of the ids stable"), (growing.Forgets, "stable; no replace; no copy")):
        (verdict,) = conform(target, "incremental").verdicts
        assert (verdict.status, verdict.n_inputs > 200) == ("passed", True), verdict.reason
        assert verdict.reason.endswith(remark)


@pytest.mark.parametrize("implementation", ["priority", "compiled", "tokenizers"])
def test_ours_pass(planted: ModuleType, conform: Conform, implementation: str) -> None:
    class Ours(planted.Right):  # type: ignore[misc, name-defined]
        inner = implementation

        def incremental(self) -> object:
            return self.tokenizer.incremental()

    (verdict,) = conform(Ours, "incremental").verdicts
    assert verdict.status == "passed", verdict.reason
    assert int(verdict.reason.partition("%")[0]) > 40


def test_what_follows_no_text_is_not_offered_or_not_asked(planted: ModuleType, conform: Conform) -> None:
    class Other(planted.Right):  # type: ignore[misc, name-defined]
        def incremental(self) -> dict[int, str]:
            return {}

    (verdict,) = conform(Other, "incremental").verdicts
    assert verdict.status == "not asked"
    assert "its incremental() cannot be used: TypeError: dict has no append" in verdict.reason
    assert conform(planted.Right, "incremental").verdicts[0].status == "not offered"
