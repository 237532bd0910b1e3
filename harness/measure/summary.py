"""What the passes of a run say of each workload: ratios to the fastest, speeds, the noise floor. The one place.

Ratios are taken within a round, over the documents both have read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import msgspec

from harness.grouping import grouped
from harness.measure.stats import Estimate, Interval, difference, estimate, floor_of, percentile
from harness.outcome import Outcome
from harness.records import Clock, Counterexample, Measurement, Pass

CITABLE_FLOOR = 0.03
"""A workload with a higher noise floor may not be cited."""
SCALE_PREFIX = "scale/"
"""Prefix of the workloads of `bpebench run --scale`, which measure growth and are not compared as speeds."""
PERCENTILES = (0.5, 0.99)


class SummaryRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One implementation on one workload."""

    implementation: str
    outcome: Outcome
    reason: str = ""
    exact: bool = True
    time_ratio: Interval | None = None
    """Its time over that of the workload's fastest right contestant, by the workload's clock."""
    to_above: Interval | None = None
    """Its time over that of the contestant ranked before it."""
    bytes_per_second: Interval | None = None
    seconds_per_call: Interval | None = None
    call_percentiles: dict[str, float] = {}
    """Seconds that this share of single calls do not exceed, for documents one by one."""
    lost: float = 0.0
    """Share of its passes that lost the processor."""
    peak_memory_bytes: int | None = None
    counterexample: Counterexample | None = None


class WorkloadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One workload of a run."""

    name: str
    task: str
    state: str
    model: str
    corpus: str
    threads: int
    floor: float | None
    """How far from 1 the ratios of copies may lie, as a share; None if nothing ran twice."""
    citable: bool
    clock: Clock
    """`processor` if one-threaded work is ranked by processor time, because wall time differs from it by more than the
    floor."""
    rows: list[SummaryRow]
    """Fastest first; then those that were not timed."""

    @property
    def is_noisy(self) -> bool:
        """Return whether its noise floor, if one was measured, is too high to cite it."""
        return self.floor is not None and not self.citable


def is_growth(workload: str) -> bool:
    """Return whether a workload is one of `bpebench run --scale`."""
    return workload.startswith(SCALE_PREFIX)


def summaries(records: Iterable[Measurement]) -> list[WorkloadSummary]:
    """Return a summary of each workload, in order of first appearance, without those of growth."""
    return [summary_of(of) for of in by_workload(records).values()]


class Passes(NamedTuple):
    """The passes of one contestant on one workload, by opening and round."""

    implementation: str
    copy: int
    records: list[Measurement]

    @property
    def failed(self) -> Measurement | None:
        """Return the first record with another outcome than right."""
        return next((record for record in self.records if record.outcome is not Outcome.RIGHT), None)

    @property
    def is_ranked(self) -> bool:
        """Return whether it is right, timed and exact."""
        return self.failed is None and any(r.passes for r in self.records) and all(r.exact for r in self.records)

    @property
    def timed(self) -> list[Pass]:
        """Return the passes of all openings."""
        return [timed for record in self.records for timed in record.passes]

    @property
    def seconds_per_byte(self) -> float:
        """Return the median over its passes; 0 without any."""
        return median([timed.seconds() / max(1, timed.n_bytes) for timed in self.timed] or [0.0])

    def estimate(self, value: Callable[[Pass], float]) -> Estimate:
        """Return the logarithm of a value of its passes; those that lost the processor count only without others."""
        kept = any(not timed.lost for timed in self.timed)
        chosen = ([timed for timed in of.passes if not (kept and timed.lost)] for of in self.records)
        return estimate([[math.log(value(timed)) for timed in some] for some in chosen])


def by_contestant(records: Sequence[Measurement]) -> list[Passes]:
    """Return the passes of each contestant of one workload, in order of first appearance."""
    openings: dict[tuple[str, int], dict[int, Measurement]] = {}
    for record in records:
        openings.setdefault((record.implementation, record.copy), {})[record.opening] = record
    return [Passes(name, copy, [of[n] for n in sorted(of)]) for (name, copy), of in openings.items()]


def ratio(a: Passes, b: Passes, clock: Clock = "wall") -> Estimate | None:
    """Return the logarithm of the time of `a` over that of `b`, within rounds; None if they share none.

    Passes that lost the processor are left out where at least half of the rounds remain.
    """
    of_b = {(record.opening, timed.round): timed for record in b.records for timed in record.passes}
    rounds = [[(timed, of_b.get((record.opening, timed.round))) for timed in record.passes] for record in a.records]
    pairs = [[(x, y) for x, y in of if y is not None] for of in rounds]
    kept = [[(x, y) for x, y in of if not (x.lost or y.lost)] for of in pairs]
    pairs = kept if 2 * sum(map(len, kept)) >= sum(map(len, pairs)) else pairs
    logs = [[log for x, y in of if (log := _log_ratio(x, y, clock)) is not None] for of in pairs]
    return estimate(logs) if any(logs) else None


def _log_ratio(x: Pass, y: Pass, clock: Clock) -> float | None:
    """Return the logarithm of the ratio of two passes over the most calls that both have read the clocks at."""
    common = max(set(x.calls).intersection(y.calls), default=None)
    if common is None:
        return None
    first, second = (timed.seconds(clock, timed.calls.index(common)) for timed in (x, y))
    return math.log(first / second) if min(first, second) > 0 else None


class Relative(NamedTuple):
    """The times of the ranked contestants of a workload, fastest first, relative to the fastest."""

    times: dict[str, Estimate]
    clock: Clock
    floor: float | None


def relative_times(records: Sequence[Measurement]) -> Relative:
    """Return the relative times of one workload."""
    all_passes = by_contestant(records)
    ranked = [passes for passes in all_passes if passes.copy == 0 and passes.is_ranked]
    by_name = {passes.implementation: passes for passes in ranked}
    copies = [passes for passes in all_passes if passes.copy and passes.implementation in by_name]
    pairs = [(by_name[copy.implementation], copy) for copy in copies]
    fastest = _fastest(ranked)
    clock: Clock = "wall"
    floor = _floor(pairs, clock)
    if fastest is not None and records[0].threads == 1:
        both = [(ratio(passes, fastest), ratio(passes, fastest, "processor")) for passes in ranked]
        apart = [abs(wall.value - cpu.value) for wall, cpu in both if wall is not None and cpu is not None]
        if max(apart, default=0.0) > math.log1p(CITABLE_FLOOR if floor is None else floor):
            clock = "processor"
            floor, fastest = _floor(pairs, clock), _fastest(ranked, clock)
    logs = {name: ratio(passes, fastest, clock) for name, passes in by_name.items() if fastest is not None}
    times = {name: log for name, log in logs.items() if log is not None}
    return Relative(dict(sorted(times.items(), key=lambda item: item[1].value)), clock, floor)


def summary_of(records: Sequence[Measurement]) -> WorkloadSummary:
    """Return the summary of one workload."""
    times, clock, floor = relative_times(records)
    above = {slower: faster for faster, slower in pairwise(times)}
    rows = []
    for passes in by_contestant(records):
        if passes.copy == 0:
            name = passes.implementation
            to_above = difference(times[name], times[above[name]]).interval if name in above else None
            rows.append(_row(passes, times.get(name), to_above, clock))
    place = {name: number for number, name in enumerate(times)}
    rows.sort(key=lambda row: (place.get(row.implementation, len(place)), row.bytes_per_second is None))
    first = records[0]
    return WorkloadSummary(
        name=first.workload,
        task=first.task,
        state=first.state,
        model=first.model,
        corpus=first.corpus,
        threads=first.threads,
        floor=floor,
        citable=floor is not None and floor <= CITABLE_FLOOR,
        clock=clock,
        rows=rows,
    )


def _fastest(ranked: Sequence[Passes], clock: Clock = "wall") -> Passes | None:
    """Return the contestant that no other is faster than, pair by pair."""
    best: Passes | None = None
    for passes in ranked:
        log = None if best is None else ratio(passes, best, clock)
        if best is None or (log is not None and log.value < 0):
            best = passes
    return best


def _floor(pairs: Sequence[tuple[Passes, Passes]], clock: Clock) -> float | None:
    ratios = [ratio(copy, original, clock) for original, copy in pairs]
    return floor_of([log.interval for log in ratios if log is not None and log.n_kept > 1])


def _row(passes: Passes, time: Estimate | None, to_above: Interval | None, clock: Clock) -> SummaryRow:
    """Return the row of one contestant, with figures by the clock of the workload."""
    records, timed = passes.records, passes.timed
    shown = passes.failed or records[0]
    peaks = [record.peak_memory_bytes for record in records if record.peak_memory_bytes is not None]
    row = SummaryRow(
        implementation=passes.implementation,
        outcome=shown.outcome,
        reason=shown.reason,
        exact=shown.exact,
        peak_memory_bytes=max(peaks, default=None),
        counterexample=shown.counterexample,
    )
    if passes.failed is not None or not timed:
        return row
    calls = sum((Counter(dict(record.call_times)) for record in records), Counter[int]())
    return msgspec.structs.replace(
        row,
        time_ratio=None if time is None else time.interval,
        to_above=to_above,
        bytes_per_second=passes.estimate(lambda timed: timed.n_bytes / timed.seconds(clock)).interval,
        seconds_per_call=passes.estimate(lambda timed: timed.seconds(clock) / timed.calls[-1]).interval,
        call_percentiles={f"{share:g}": percentile(calls, share) for share in PERCENTILES} if calls else {},
        lost=sum(of.lost for of in timed) / len(timed),
    )


def by_workload(records: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    """Return the records of each workload, in order of first appearance, without those of growth."""
    return grouped((of for of in records if not is_growth(of.workload)), lambda of: of.workload)


def document(records: Iterable[Measurement]) -> dict[str, Any]:
    """Return the one machine-readable answer of a run: a plain object for JSON."""
    workloads: list[dict[str, Any]] = msgspec.to_builtins(summaries(records))
    for workload in workloads:
        for row in workload["rows"]:
            for key in ("time_ratio", "to_above", "bytes_per_second", "seconds_per_call"):
                if row.get(key) is not None:
                    row[key] = dict(zip(("value", "low", "high"), row[key], strict=True))
    return {"workloads": workloads}
