"""Which runs are of one machine, and how figures changed from run to run on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from harness.measure.comparison import compare_runs, machine_difference
from harness.measure.summary import is_growth
from harness.records import Measurement, of_kind
from harness.report.run import Run
from harness.report.table import Row


def by_machine(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs of each machine, in order of appearance; a run without a recorded machine is alone."""
    groups: list[list[Run]] = []
    for run in runs:
        same = (group for group in groups if machine_difference(group[0].machine, run.machine) is None)
        if (group := next(same, None)) is None:
            groups.append(group := [])
        group.append(run)
    return groups


def history_rows(runs: Sequence[Run]) -> Iterator[Row]:
    """Yield what two runs of one machine both timed, and any change that may be claimed.

    Every run is compared with each earlier one that shares a workload with it, by `comparison.compare_runs`.
    """
    for group in by_machine(sorted(runs, key=lambda run: (run.date, run.folder.name))):
        for old, new in combinations(group, 2):
            sides = [[m for m in of_kind(run.records, Measurement) if not is_growth(m.workload)] for run in (old, new)]
            for change in compare_runs(*sides):
                yield {
                    "cpu": new.machine.get("cpu"), "workload": change.workload, "implementation": change.implementation,
                    "old": old.folder.name, "new": new.folder.name, "claimed": change.claim != "≈",
                    "gain": 1 / change.ratio.value, "low": 1 / change.ratio.high, "high": 1 / change.ratio.low,
                }  # fmt: skip
