"""The first stage in which two sides differ, what differs there, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explanations import Certainty, Stage


@dataclass(slots=True)
class StageDifference:
    """The first stage that differs, and why."""

    stage: Stage
    what: str
    certainty: Certainty = "certain"
    evidence: list[str] = field(default_factory=list)
    byte: int | None = None
    """Where the difference begins, in the text the merges see."""
    step: int | None = None
    rank: int | None = None
