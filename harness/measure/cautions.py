"""Warnings about a run's figures, each with a remedy. Reads summaries and machine facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.measure.summary import CITABLE_FLOOR, WorkloadSummary
from impls.core.errors import plural, some_of

MOST_LOST = 0.25
_TABLES = "`bpebench report`"


def machine_warnings(machine: Mapping[str, Any], load_before: float | None) -> list[str]:
    """Return warnings about the machine."""
    warnings: list[str] = []
    governor = machine.get("governor")
    if governor and governor != "performance":
        warnings.append(
            f"the frequency governor is {governor!r}, not 'performance'; set it with "
            "`cpupower frequency-set -g performance`, or expect slow first samples"
        )
    cores = machine.get("usable_cores") or 1
    if load_before is not None and load_before > cores / 4:
        warnings.append(f"the load was {load_before:.2f} before the run; stop other work and run again")
    if cores < 2:
        warnings.append("there is one core: the parent and its workers share it; use a machine with two or more")
    return warnings


def run_warnings(workloads: Sequence[WorkloadSummary]) -> list[str]:
    """Return warnings about the passes of a run."""
    warnings: list[str] = []
    noisy = [workload for workload in workloads if workload.floor and workload.is_noisy]
    if noisy:
        names = some_of([f"{workload.name} ({workload.floor:.1%})" for workload in noisy], _TABLES)
        warnings.append(
            f"{plural(len(noisy), 'workload')} may not be cited, with a noise floor over {CITABLE_FLOOR:.0%}: {names}; "
            "stop other work and run again, or use --profile rigorous"
        )
    rows = [row for workload in workloads for row in workload.rows if row.bytes_per_second is not None]
    lost = [row for row in rows if row.lost > MOST_LOST]
    if lost:
        warnings.append(
            f"{plural(len(lost), 'measurement')} lost the processor in more than {MOST_LOST:.0%} of the passes; stop "
            "other work and run again"
        )
    by_processor = [workload.name for workload in workloads if workload.clock == "processor"]
    if by_processor:
        warnings.append(
            f"{plural(len(by_processor), 'workload')} ranked by processor time, from which wall time differs by more "
            f"than the floor: {some_of(by_processor, _TABLES)}"
        )
    return warnings
