"""The result of a sweep over all code points: each engine's version, and the ranges classified differently."""

from __future__ import annotations

from typing import Literal

import msgspec

Reason = Literal["unicode version", "class", "lost"]
REASONS: dict[Reason, str] = {
    "unicode version": "newer than one of the engines",
    "class": "both know it but classify it differently",
    "lost": "the tokens do not spell the text",
}


class Engine(msgspec.Struct, kw_only=True):
    """One engine: whether it answered, and which Unicode version it knows."""

    name: str
    status: Literal["ok", "unsupported", "missing", "crash"]
    reason: str = ""
    version: str | None = None
    """The newest Unicode version whose letters it knows."""
    n_differing: int = 0
    """Code points on which it differs from the reference."""
    seconds: float = 0.0


class Range(msgspec.Struct, kw_only=True):
    """Adjacent code points on which an engine differs from the reference in the same way."""

    engine: str
    first: int
    last: int
    reason: Reason
    reference_class: str
    """The class by which the reference cuts around it."""
    engine_class: str
    name: str
    """Name of the first, where Python knows one."""


class UnicodeSweep(msgspec.Struct, kw_only=True):
    """All engines over all code points, under one pattern."""

    pattern: str
    reference: str
    n_code_points: int
    n_contexts: int
    engines: list[Engine]
    ranges: list[Range]

    @property
    def answered(self) -> list[Engine]:
        """The engines that answered."""
        return [engine for engine in self.engines if engine.status == "ok"]

    @property
    def is_fault(self) -> bool:
        """Whether something differs that no Unicode version explains, an engine died, or nothing was compared.

        A single engine is asked only for its version.
        """
        if len(self.answered) < min(2, len(self.engines)):
            return True
        return any(found.reason != "unicode version" for found in self.ranges) or any(
            engine.status == "crash" for engine in self.engines
        )
