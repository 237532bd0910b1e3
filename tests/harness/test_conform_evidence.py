"""What a verdict rests on, and which failures are one fault."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
from planted_tokenizers import conform, model_file, planted

from harness.conform.verdicts import Report, Verdict, mark_repeated

Conform = Callable[..., Report]

__all__ = ["conform", "model_file", "planted"]


def test_what_ends_every_check_is_one_fault(planted: ModuleType, conform: Conform) -> None:
    class Floats(planted.Right):
        def encode(self, text: str) -> list[int]:
            return [float(i) for i in super().encode(text)]  # type: ignore[misc]

    report = conform(Floats, "ids", "round-trip", "concatenation")
    assert len(report.failed) > 1
    assert [verdict.check for verdict in report.faults] == ["ids"]


def test_calls_without_an_answer_and_growth_are_one_fault() -> None:
    late = Verdict(check="long-texts", status="failed", stage="resources", reason="timeout: took longer than 10 s")
    grows = Verdict(check="growth", status="failed", stage="resources", reason="on words time grows as length to the 2")
    large = Verdict(check="memory", status="failed", stage="resources", reason="9000 bytes a byte of text")
    mark_repeated([late, grows, large])
    assert [verdict.same_as for verdict in (late, grows, large)] == ["", "long-texts", ""]


def test_nothing_passes_without_a_case(planted: ModuleType, conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.conform.checks.decoding.texts_for", lambda case: [])

    class Offsets(planted.Right):
        def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
            return "", []

    (verdict,) = conform(Offsets, "offsets").verdicts
    assert (verdict.status, verdict.reason) == ("not asked", "no case was judged")


def test_a_verdict_says_what_it_rests_on(planted: ModuleType, conform: Conform) -> None:
    (verdict,) = conform(planted.Right, "ids").verdicts
    assert verdict.asked.calls > 0
    assert verdict.asked.texts >= verdict.n_inputs > 1_000
    assert verdict.asked.bytes > 10_000
