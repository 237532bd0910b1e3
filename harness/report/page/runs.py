"""The page of one run or many: one self-contained HTML file, which needs no network, no server and no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.report import palette, wording
from harness.report.history import history_rows
from harness.report.page.explorer import explorer
from harness.report.page.templates import asset, render, script_json
from harness.report.run import Run
from harness.report.table import table_of
from harness.report.tables import speed


def render_page(folders: Sequence[Path]) -> str:
    """Return the page of the runs in `folders`, the newest first; raise `RecordError` if one holds no records."""
    runs = [Run(folder.name if folder.is_absolute() else folder.as_posix(), folder) for folder in folders]
    runs.sort(key=lambda run: (run.date, run.folder.name), reverse=True)
    data = explorer(runs)
    changes = sorted(history_rows(runs), key=lambda row: (row["workload"], row["implementation"]))
    return render(
        "runs.html",
        asset("tables.js") + asset("page.js") + asset("explorer.js"),
        title=f"bpebench: {runs[0].label}" if len(runs) == 1 else f"bpebench: {len(runs)} runs",
        subtitle=f"{runs[0].label} · {runs[0].where}" if len(runs) == 1 else f"{len(runs)} runs",
        begin=_begin(data),
        kinds=[(f"kind-{kind}", shape, kind) for kind, shape in zip(wording.KINDS, palette.SHAPES, strict=True)],
        view_data=script_json(data),
        runs=runs,
        history=table_of("history", changes) if changes else None,
        noise=speed.claimed_where(),
        labels=" ".join(run.label for run in runs),
    )


def _begin(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the workload that the explorer shows first, and facts of its run; None if nothing was timed."""
    run = next((run for run in data["runs"] if run["id"] == data["main"]), None)
    if run is None:
        return None
    workload = next(workload for workload in run["workloads"] if workload["name"] == data["begin"])
    return {**workload, **{key: run[key] for key in ("label", "command", "claimed")}}
