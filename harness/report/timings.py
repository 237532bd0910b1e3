"""Measurements gathered: for each workload and implementation, its rounds, or the verdict that stands in their place.

Everything about time and memory that is shown derives from these; samples stay raw here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.records import Measurement, Status, of_kind

Unit = Literal["MB/s", "µs per call", "ms", "s"]

UNIT_OF_TASK: dict[str, Unit] = {"encode-short": "µs per call", "load": "ms", "train": "s"}
"""What a task is told in; every other task in MB/s of text."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One implementation on one workload."""

    workload: str
    implementation: str
    task: str
    model: str
    corpus: str
    status: Status
    reason: str
    rounds: tuple[tuple[float, ...], ...]
    """Seconds of one pass, by round and sample; empty where the verdict is not ok."""
    n_bytes: int
    n_calls: int
    n_tokens: int
    threads: int
    peak_memory_bytes: int | None

    @property
    def unit(self) -> Unit:
        """What this task's figures are told in."""
        return UNIT_OF_TASK.get(self.task, "MB/s")

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger figure is the better one."""
        return self.unit == "MB/s"

    def figure_of(self, seconds: float) -> float:
        """Seconds of one pass in the task's unit."""
        if self.unit == "MB/s":
            return self.n_bytes / seconds / 1e6 if seconds else float("inf")
        if self.unit == "µs per call":
            return seconds / max(1, self.n_calls) * 1e6
        return seconds * 1e3 if self.unit == "ms" else seconds

    def seconds_per_unit(self) -> tuple[tuple[float, ...], ...]:
        """Rounds made comparable between implementations given unequal slices: seconds per byte, call or pass."""
        per = {"MB/s": self.n_bytes, "µs per call": self.n_calls}.get(self.unit, 1)
        return tuple(tuple(seconds / max(1, per) for seconds in samples) for samples in self.rounds)


def timings(records: Iterable[object]) -> list[Timing]:
    """One timing for each workload and implementation, in order of first appearance.

    A single round that is not ok decides: what failed once is not ranked. Of a round recorded twice the last counts.
    """
    gathered: dict[tuple[str, str], dict[int, Measurement]] = {}
    for m in of_kind(records, Measurement):
        gathered.setdefault((m.workload, m.implementation), {})[m.round] = m
    return [_timing(list(rounds.values())) for rounds in gathered.values()]


def _timing(rounds: list[Measurement]) -> Timing:
    failed = next((m for m in rounds if m.status != "ok" or not m.samples_seconds), None)
    first = failed or rounds[0]
    status: Status = first.status
    reason = first.reason
    if failed is not None and failed.status == "ok":
        status, reason = "crash", "a round holds no samples"
    peaks = [m.peak_memory_bytes for m in rounds if m.peak_memory_bytes is not None]
    return Timing(
        workload=first.workload,
        implementation=first.implementation,
        task=first.task,
        model=first.model,
        corpus=first.corpus,
        status=status,
        reason=reason,
        rounds=()
        if failed
        else tuple(tuple(seconds / max(1, m.loops) for seconds in m.samples_seconds) for m in rounds),
        n_bytes=first.n_bytes,
        n_calls=first.n_calls,
        n_tokens=first.n_tokens,
        threads=first.threads,
        peak_memory_bytes=max(peaks, default=None),
    )
