"""The data of the explorer: every workload of every run as formatted rows, and the ratio of each pair of them.

All figures are formatted here, by `wording`; the script of the page only selects, sorts and draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from harness.grouping import grouped
from harness.measure.stats import Estimate, Interval, claim, difference
from harness.measure.summary import by_workload, relative_times
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.history import by_machine
from harness.report.run import Run
from harness.report.table import Row
from harness.report.tables import speed

PREFERRED = ("encode/o200k_base/english", "encode/o200k_base/turkish")
"""Workloads to show first: the first of these that a run has, else the run's first."""


def explorer(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the page's script reads: machines, runs, workloads, rows, ratios, and the initial choice."""
    groups = by_machine(runs)
    shown = [(run, workloads) for group in groups for run in group if (workloads := list(_workloads(run)))]
    main = max((run for run, _ in shown), key=_breadth, default=None)
    timed = [] if main is None else [row["workload"] for row in main.speed_rows if row["median"] is not None]
    return {
        "machines": [group[0].machine_name for group in groups],
        "runs": [
            {
                "id": run.folder.name,
                "machine": next(i for i, group in enumerate(groups) if run in group),
                "label": run.name,
                "command": f"bpebench report {run.label} --table speed",
                "claimed": f"≈: not confirmed. {speed.claimed_where()}",
                "workloads": workloads,
            }
            for run, workloads in shown
        ],
        "kinds": {row["implementation"]: row["kind"] for run, _ in shown for row in run.speed_rows},
        "main": main.folder.name if main is not None and timed else None,
        "begin": next((name for name in PREFERRED if name in timed), next(iter(timed), None)),
    }


def _breadth(run: Run) -> tuple[int, str]:
    """Return how many implementations a run has timed, then its date."""
    return len({row["implementation"] for row in run.speed_rows if row["median"] is not None}), run.date


def _workloads(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the workloads of a run, in the order of its tables."""
    of_workload = by_workload(of_kind(run.records, Measurement))
    for name, rows in grouped(run.speed_rows, lambda row: str(row["workload"])).items():
        first = rows[0]
        relative = relative_times(of_workload[name])
        yield {
            "name": name,
            "work": name.partition("/")[0],
            "model": first["model"],
            "text": first["corpus"],
            "threads": first["threads"],
            "unit": first["unit"],
            "about": run.analyses.get(name, "").replace("`", ""),
            "rows": [row_of(row) for row in rows],
            "ranked": list(relative.times),
            "ratios": _ratios(list(relative.times.values()), relative.floor),
        }


def row_of(row: Row) -> list[Any]:
    """Return a row of the explorer: implementation, figure, interval, × best, ≈ to the row above, calls, verdict."""
    return [
        row["implementation"],
        *(None if row[key] is None else wording.figure(row[key]) for key in ("median", "low", "high")),
        wording.compared(row["times_best"], row["claimed"]),
        row["claimed_from_above"] is False,
        wording.pair(row["call_us_50"], row["call_us_99"]),
        printable(wording.verdict(row["status"], row["reason"], row["exact"])),
    ]


def _ratios(ranked: Sequence[Estimate], floor: float | None) -> list[list[str]]:
    """Return for each baseline (first index) how many times as fast each one is: `1.23 1.20 1.26`, preceded by ≈ if not
    claimed.

    The interval of a pair is computed once, as the time of the slower over that of the faster, as in the tables.
    """
    ratios = [["1 1 1"] * len(ranked) for _ in ranked]
    for (i, first), (j, second) in combinations(enumerate(ranked), 2):
        ratio = difference(second, first).interval
        inverse = Interval(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
        mark = "≈" if claim(ratio, floor) == "≈" else ""
        ratios[j][i], ratios[i][j] = (mark + " ".join(map(wording.figure, of)) for of in (ratio, inverse))
    return ratios
