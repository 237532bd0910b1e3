"""A verdict: the stage that differs first, what differs there, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explanations import Certainty, Stage


@dataclass(slots=True)
class Verdict:
    """The first stage that differs, and why."""

    stage: Stage
    what: str
    certainty: Certainty = "certain"
    evidence: list[str] = field(default_factory=list)
    byte: int | None = None
    """Of the text the merges see: where the difference begins."""
    step: int | None = None
    rank: int | None = None
