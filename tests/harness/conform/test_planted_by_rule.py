"""Faults planted by rule, twenty of a kind: each is found by the check of its kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, fewer, model_file, planted

from harness.conform.checks import encoding
from harness.conform.verdicts import ConformanceReport

Conform = Callable[..., ConformanceReport]

__all__ = ["conform", "fewer", "model_file", "planted"]

CHECKS = {
    "code-points": ("code-points",),
    "tokens": ("tokens",),
    "transitions": ("transitions",),
    "merges": ("lengths",),
    "state": ("state", "python-values"),
    "derived": ("transitions", "spellings", "batch", "decode-any-order"),
    "spellings": ("spellings",),
    "cost": ("cost",),
}
TRIED = {
    **{kind: range(20) for kind in ("code-points", "tokens", "transitions")},
    "merges": (0, 2, 6, 9, 12, 15),
    "state": (0, 3, *range(6, 12), *range(13, 20)),
    "derived": [number for number in range(20) if number not in (4, 12)],
    "spellings": range(0, 20, 3),
    "cost": (0, 5, 11),
}
"""Of those that take long, or show only on a million characters, some are tried."""


@pytest.fixture(scope="module")
def by_rule(planted: ModuleType) -> ModuleType:
    return importlib.import_module("planted_by_rule")


@pytest.mark.parametrize("kind", CHECKS)
def test_each_fault_of_a_kind_is_found(
    by_rule: ModuleType, conform: Conform, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in TRIED[kind]:
        wrong = by_rule.KINDS[kind](number)
        if kind == "code-points":
            monkeypatch.setattr(encoding, "CODES", [*range(0x41, 0x5B), ord(wrong.character)])
        assert any(conform(wrong, check).failed for check in CHECKS[kind]), f"{kind} {number}"
