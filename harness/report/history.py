"""Which machine a run measured, and how figures changed from run to run on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from harness.measure.comparison import compare_runs, machine_difference
from harness.measure.summary import is_growth
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.run import Run
from harness.report.table import Row


def date_of(run: Run) -> str:
    """Return the date of a run, or an empty string if it is not recorded."""
    return str(run.machine.get("date") or "")


def machine_name(run: Run) -> str:
    """Return a machine in words: processor and its generation, cores, memory."""
    facts = run.machine
    cores, memory = facts.get("usable_cores"), facts.get("memory_bytes")
    parts = [str(facts.get("cpu") or facts.get("architecture") or "machine not recorded")]
    parts += [generation] if isinstance(generation := facts.get("cpu_generation"), str) else []
    parts += [wording.counted(cores, "core")] if isinstance(cores, int) else []
    return ", ".join(parts + ([wording.size(memory)] if isinstance(memory, int) else []))


def run_name(run: Run) -> str:
    """Return a run in words: date and name without the date."""
    date = date_of(run)
    return f"{date} {run.folder.name.removeprefix(date).strip('-')}".strip()


def by_machine(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs of each machine, in order of appearance; a run without a recorded machine is alone."""
    groups: list[list[Run]] = []
    for run in runs:
        same = (group for group in groups if machine_difference(group[0].machine, run.machine) is None)
        group = next(same, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return groups


def history_rows(runs: Sequence[Run]) -> Iterator[Row]:
    """Yield what two runs of one machine both timed, and any change that may be claimed.

    Every run is compared with each earlier one that shares a workload with it, by `comparison.compare_runs`.
    """
    ordered = sorted(runs, key=lambda run: (date_of(run), run.folder.name))
    for group in by_machine(ordered):
        for old, new in combinations(group, 2):
            sides = [[m for m in of_kind(run.records, Measurement) if not is_growth(m.workload)] for run in (old, new)]
            for change in compare_runs(*sides):
                yield {
                    "cpu": new.machine.get("cpu"), "workload": change.workload, "implementation": change.implementation,
                    "old": old.folder.name, "new": new.folder.name, "claimed": change.claim != "≈",
                    "gain": 1 / change.ratio.value, "low": 1 / change.ratio.high, "high": 1 / change.ratio.low,
                }  # fmt: skip
