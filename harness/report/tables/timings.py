"""Timings by workload and implementation: the rounds, or a verdict instead.

All reports on time and memory derive from these; samples stay raw here, statistics are in `analysis.stats`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec.structs import replace

from harness.measure.analysis.samples import is_comparable, is_growth, seconds_per_unit
from harness.measure.analysis.stats import Interval, Rounds, ratio_interval
from harness.records import Measurement, of_kind

Unit = Literal["MB/s", "µs per call", "ms"]

UNIT_OF_TASK: dict[str, Unit] = {
    **dict.fromkeys(("encode-short", "decode-stream", "truncate", "append", "chat", "keystrokes"), "µs per call"),
    "load": "ms",
}
"""Task -> unit of its figures; every other task is shown in MB/s of text."""


@dataclass(frozen=True)
class Timing:
    """One implementation on one workload."""

    record: Measurement
    """Represents all rounds: the first that failed, else the first, with the fewest bytes and the highest memory."""
    rounds: Rounds
    """Seconds per byte (seconds, for `load`) by round and sample; empty where the verdict is not ok."""

    @property
    def ranked(self) -> bool:
        """Return whether it may be ranked: exact, not a slice of a text read only once, not from a cache of texts."""
        m = self.record
        ended_early = any(len(samples) < m.samples_wanted for samples in self.rounds)
        return m.exact and not m.remembered and not ended_early and is_comparable(m.state, m.n_bytes, m.full_bytes)

    @property
    def unit(self) -> Unit:
        """Return the unit of this task's figures."""
        return UNIT_OF_TASK.get(self.record.task, "MB/s")

    @cached_property
    def time(self) -> Interval:
        """Return seconds per byte (seconds, for `load`) with the 95 % interval."""
        return ratio_interval(self.rounds, [[1.0] for _ in self.rounds])

    @property
    def figure(self) -> Interval:
        """Return the time in the task's unit."""
        low, high = sorted((self._in_unit(self.time.low), self._in_unit(self.time.high)))
        return Interval(self._in_unit(self.time.value), low, high, self.time.rounds)

    def _in_unit(self, seconds: float) -> float:
        if self.unit == "MB/s":
            return 1 / seconds / 1e6 if seconds else float("inf")
        if self.unit == "µs per call":
            return seconds * self.record.n_bytes / max(1, self.record.n_calls) * 1e6
        return seconds * 1e3


def timings(records: Iterable[object]) -> list[Timing]:
    """Return one timing for each workload and implementation, in order of first appearance.

    Second copies and measurements of growth are left out. If any round failed, the workload is not ranked. Of a round
    recorded twice the last counts.
    """
    gathered: dict[tuple[str, str], dict[int, Measurement]] = {}
    for m in of_kind(records, Measurement):
        if m.copy == 0 and not is_growth(m.workload):
            gathered.setdefault((m.workload, m.implementation), {})[m.round] = m
    return [_timing([rounds[number] for number in sorted(rounds)]) for rounds in gathered.values()]


def _timing(rounds: list[Measurement]) -> Timing:
    failed = next((m for m in rounds if m.status != "ok" or not m.samples_seconds), None)
    record = replace(
        failed or rounds[0],
        n_bytes=min(m.n_bytes for m in rounds),
        peak_memory_bytes=max((m.peak_memory_bytes for m in rounds if m.peak_memory_bytes is not None), default=None),
        remembered=next((m.remembered for m in rounds if m.remembered), ""),
    )
    if failed is not None and failed.status == "ok":
        record = replace(record, status="crash", reason="a round holds no samples")
    return Timing(record, [] if failed else [seconds_per_unit(m) for m in rounds])
