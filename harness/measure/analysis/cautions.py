"""Warnings about a run's figures, each with a remedy. Reads records and machine facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from harness.measure.analysis.samples import measured_resolution, rounds_by_contestant
from harness.measure.analysis.stats import Rounds, spread
from harness.records import Measurement
from impls.core.errors import plural

MOST_SPREAD = 0.10
MOST_DRIFT = 0.05
WANTED_RESOLUTION = 0.05
MOST_LOAD_PER_CORE = 0.25
LEAST_SAMPLE_SECONDS = 0.05


def machine_warnings(machine: Mapping[str, Any], load_before: float | None) -> list[str]:
    """Return warnings about the machine."""
    found: list[str] = []
    governor = machine.get("governor")
    if governor and governor != "performance":
        found.append(
            f"the frequency governor is {governor!r}, not 'performance'; set it with "
            "`cpupower frequency-set -g performance`, or expect slow first samples"
        )
    if machine.get("turbo"):
        found.append("the processor raises its frequency on its own; switch turbo off for figures that repeat")
    cores = machine.get("usable_cores") or 1
    if load_before is not None and load_before > MOST_LOAD_PER_CORE * cores:
        found.append(f"the load was {load_before:.2f} before the run; stop other work and run again")
    if cores < 2:
        found.append("there is one core: the parent and its workers share it; use a machine with two or more")
    if machine.get("virtual"):
        found.append("this is a virtual machine, whose host may be busy with others; repeat the run at another time")
    if machine.get("free_memory_taken_back"):
        found.append(
            "the host reclaims free memory, and touching memory for the first time may have to wait for it; give cold "
            "workloads more rounds (--profile rigorous)"
        )
    if machine.get("pinning") is False and cores > 1:
        found.append("processes cannot be pinned to cores here; expect more spread")
    return found


def sample_warnings(records: Iterable[Measurement]) -> list[str]:
    """Return warnings about the samples."""
    records = [record for record in records if record.status == "ok" and record.samples_seconds]
    found: list[str] = []
    rounds = rounds_by_contestant(records)
    wide = [
        (spread(list(chain.from_iterable(of))), name, workload)
        for workload, contestants in rounds.items()
        for (name, _), of in contestants.items()
    ]
    wide = sorted((entry for entry in wide if entry[0] > MOST_SPREAD), reverse=True)
    if wide:
        widest, name, workload = wide[0]
        found.append(
            f"{len(wide)} of the measurements spread by more than {MOST_SPREAD:.0%} (most: {name} on {workload}, "
            f"{widest:.0%}); stop other work and run again, or use more rounds (--profile rigorous)"
        )
    change = drift([of for contestants in rounds.values() for of in contestants.values()])
    if change is not None and abs(change) > MOST_DRIFT:
        found.append(
            f"the last round was {abs(change):.0%} {'slower' if change > 0 else 'faster'} than the first; the machine "
            "warmed up or had other work; run again"
        )
    smallest = measured_resolution(records)
    if smallest is not None and smallest > WANTED_RESOLUTION:
        found.append(
            f"this run cannot resolve differences of {WANTED_RESOLUTION:.0%}: the smallest it usually resolves is "
            f"{smallest:.1%}; use --profile rigorous, or a quieter machine"
        )
    short = [
        record
        for record in records
        if record.state in ("warm-same", "same-object")
        and record.task != "load"
        and float(np.median(record.samples_seconds)) < LEAST_SAMPLE_SECONDS
    ]
    if short:
        n_short = plural(len(short), "measurement has", "measurements have")
        found.append(
            f"{n_short} samples under {LEAST_SAMPLE_SECONDS * 1000:.0f} ms, because fresh inputs take longer than the "
            f"task itself (first: {short[0].implementation} on {short[0].workload})"
        )
    return found


def drift(measured: Iterable[Rounds]) -> float | None:
    """Return how much longer the last rounds took than the first, as a share: the median over all with several."""
    changes = [math.log(float(np.median(of[-1]))) - math.log(float(np.median(of[0]))) for of in measured if len(of) > 1]
    return math.exp(float(np.median(changes))) - 1 if changes else None
