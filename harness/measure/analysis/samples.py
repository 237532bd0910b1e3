"""Convert records to rounds of seconds per byte, the input of the statistics."""

from __future__ import annotations

from collections.abc import Iterable

from harness.measure.analysis.stats import Rounds, noise_floor, ratio_interval, resolution
from harness.measure.workloads import ONCE_ONLY
from harness.records import Measurement

SCALE_PREFIX = "scale/"
"""Prefix of the workloads of `bpebench scale`."""

Contestant = tuple[str, int]
"""Implementation and number of its copy."""


def seconds_per_unit(record: Measurement) -> list[float]:
    """Return seconds per byte of each sample, so that slices of different sizes compare; for `load`, seconds."""
    passes = record.loops * (record.n_bytes if record.task != "load" and record.n_bytes else 1)
    return [seconds / passes for seconds in record.samples_seconds]


def rounds_by_contestant(records: Iterable[Measurement]) -> dict[str, dict[Contestant, Rounds]]:
    """Map workload -> (implementation, copy) -> samples by round in order, for everything verified and timed."""
    found: dict[str, dict[Contestant, dict[int, list[float]]]] = {}
    for record in records:
        if record.status != "ok" or not record.samples_seconds:
            continue
        by_round = found.setdefault(record.workload, {}).setdefault((record.implementation, record.copy), {})
        by_round.setdefault(record.round, []).extend(seconds_per_unit(record))
    return {
        workload: {
            contestant: [by_round[number] for number in sorted(by_round)]
            for contestant, by_round in contestants.items()
        }
        for workload, contestants in found.items()
    }


def copies(rounds: dict[str, dict[Contestant, Rounds]]) -> list[tuple[Rounds, Rounds]]:
    """Return the rounds of both copies for each workload on which one implementation ran twice."""
    return [
        (contestants[name, 0], contestants[name, 1])
        for contestants in rounds.values()
        for name, copy in contestants
        if copy == 1 and (name, 0) in contestants
    ]


def measured_floor(records: Iterable[Measurement]) -> float | None:
    """Return the noise floor of a run, as a share; None if nothing ran twice."""
    return noise_floor(copies(rounds_by_contestant(records)))


def measured_resolution(records: Iterable[Measurement]) -> float | None:
    """Return the smallest difference, as a share, that a run usually resolves, from its copies; None without."""
    pairs = copies(rounds_by_contestant(records))
    return resolution([ratio_interval(a, b) for a, b in pairs], noise_floor(pairs))


_WHOLE = 0.95
"""Texts read in turn differ a little in size: a slice of at least this share of the largest counts as whole."""


def is_comparable(state: str, n_bytes: int, full_bytes: int) -> bool:
    """Return whether a slice's seconds per byte represent the whole; they do not if each text is read only once."""
    return state not in ONCE_ONLY or n_bytes >= _WHOLE * full_bytes


def is_growth(workload: str) -> bool:
    """Return whether a workload is one of `bpebench scale`, which measures growth and is not compared as a speed."""
    return workload.startswith(SCALE_PREFIX)


def rankable_times(records: Iterable[Measurement], *, exact_only: bool = True) -> dict[str, dict[str, Rounds]]:
    """Map implementation -> workload -> rounds, for workloads on which none of its rounds failed, without copies.

    Also left out are `sustained` runs that ended early, slices of text read for the first time (the cost of the first
    call weighs more on them than on the whole), and results that may come from a cache of whole texts.
    """
    records = [record for record in records if record.copy == 0]
    failed = {(record.implementation, record.workload) for record in records if record.status != "ok"}
    comparable = [
        record
        for record in records
        if (record.exact or not exact_only)
        and is_comparable(record.state, record.n_bytes, record.full_bytes)
        and not record.remembered
        and len(record.samples_seconds) >= record.samples_wanted
    ]
    times: dict[str, dict[str, Rounds]] = {}
    for workload, contestants in rounds_by_contestant(comparable).items():
        for (name, _), rounds in contestants.items():
            if (name, workload) not in failed:
                times.setdefault(name, {})[workload] = rounds
    return times
