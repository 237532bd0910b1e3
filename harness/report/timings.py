"""Measurements by workload and implementation: the rounds, or a verdict instead of them.

Everything shown about time and memory derives from these; samples stay raw here, `measure.stats` has the statistics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.measure.samples import is_comparable, is_growth, seconds_per_unit
from harness.measure.stats import Interval, Rounds, ratio_interval
from harness.records import Measurement, Remembered, Status, of_kind

Unit = Literal["MB/s", "µs per call", "ms"]

UNIT_OF_TASK: dict[str, Unit] = {"encode-short": "µs per call", "load": "ms"}
"""The unit of a task; every other task is shown in MB/s of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One implementation on one workload."""

    workload: str
    implementation: str
    exact: bool
    task: str
    state: str
    model: str
    corpus: str
    status: Status
    reason: str
    rounds: Rounds
    """Seconds per byte (seconds, for `load`) by round and sample; empty where the verdict is not ok."""
    n_bytes: int
    """Bytes of one pass, the minimum over rounds."""
    full_bytes: int
    n_calls: int
    n_tokens: int
    threads: int
    peak_memory_bytes: int | None
    remembered: Remembered = ""
    n_wanted: int = 0
    """Samples a `sustained` round should have; it has fewer where the time ran out."""

    @property
    def ranked(self) -> bool:
        """Return whether it may be ranked: exact, not a slice of a text read only once, not from memory."""
        ended_early = any(len(samples) < self.n_wanted for samples in self.rounds)
        return (
            self.exact
            and not self.remembered
            and not ended_early
            and is_comparable(self.state, self.n_bytes, self.full_bytes)
        )

    @property
    def unit(self) -> Unit:
        """Return the unit of this task's figures."""
        return UNIT_OF_TASK.get(self.task, "MB/s")

    def figure_of(self, seconds: float) -> float:
        """Convert seconds per byte (seconds, for `load`) to the task's unit."""
        if self.unit == "MB/s":
            return 1 / seconds / 1e6 if seconds else float("inf")
        if self.unit == "µs per call":
            return seconds * self.n_bytes / max(1, self.n_calls) * 1e6
        return seconds * 1e3

    def time(self) -> Interval:
        """Return seconds per byte (seconds, for `load`) with the 95 % interval."""
        return ratio_interval(self.rounds, [[1.0] for _ in self.rounds])


def timings(records: Iterable[object]) -> list[Timing]:
    """Return one timing for each workload and implementation, in order of first appearance.

    Second copies and measurements of growth are left out. One round that is not ok decides: what failed once is not
    ranked. Of a round recorded twice the last counts.
    """
    gathered: dict[tuple[str, str], dict[int, Measurement]] = {}
    for m in of_kind(records, Measurement):
        if m.copy == 0 and not is_growth(m.workload):
            gathered.setdefault((m.workload, m.implementation), {})[m.round] = m
    return [_timing([rounds[number] for number in sorted(rounds)]) for rounds in gathered.values()]


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
        exact=first.exact,
        task=first.task,
        state=first.state,
        model=first.model,
        corpus=first.corpus,
        status=status,
        reason=reason,
        rounds=[] if failed else [seconds_per_unit(m) for m in rounds],
        n_bytes=min(m.n_bytes for m in rounds),
        full_bytes=first.full_bytes,
        n_calls=first.n_calls,
        n_tokens=first.n_tokens,
        threads=first.threads,
        peak_memory_bytes=max(peaks, default=None),
        n_wanted=first.samples_wanted,
        remembered=next((m.remembered for m in rounds if m.remembered), ""),
    )
