"""The page of one run or many: one self-contained HTML file, which needs no network, no server and no other file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.outcome import Outcome
from harness.report import palette, wording
from harness.report.history import by_machine, date_of, history_rows, machine_name
from harness.report.page.explorer import explorer
from harness.report.page.templates import asset, render, script_json, slug
from harness.report.run import Run
from harness.report.table import Column, Table, table_of
from harness.report.tables import speed

_FILTER_FROM_ROWS = 15
_LONG_CHARACTERS = 40
"""A cell longer than this may break over lines."""


def view_of(source: Table, prefix: str = "") -> dict[str, Any]:
    """Return the values with which `templates/pieces.html` shows a table; `prefix` makes its id unique on the page."""
    columns = _columns(source)
    return {
        "id": f"{prefix}table-{slug(source.name)}",
        "title": source.title,
        "headings": [_heading(column) for column in columns],
        "rows": [_row(row, columns) for row in source.rows],
        "filter_from": _FILTER_FROM_ROWS,
        "notes": source.legend.splitlines(),
    }


def _heading(column: Column) -> dict[str, Any]:
    """Return the heading of a column; one that a terminal numbers has its name here, written downwards."""
    is_numbered = column.heading.isdigit()
    name = column.key.removeprefix("vs ") if is_numbered else column.heading
    return {"text": name, "right": column.right, "downwards": is_numbered}


def _columns(source: Table) -> tuple[Column, ...]:
    if source.group_by is None or source.group_by in {column.key for column in source.columns}:
        return source.columns
    unit = [Column("unit", "unit")] if source.rows and "unit" in source.rows[0] else []
    return (Column(source.group_by, source.group_by), *unit, *source.columns)


def _row(row: Mapping[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    failed = row.get("status") not in (None, Outcome.RIGHT, "equal", "differs")
    return {"failed": failed, "cells": [_cell(row, column) for column in columns]}


def _cell(row: Mapping[str, Any], column: Column) -> dict[str, Any]:
    shown = column.cell(row)
    side = "right" if column.right else "long" if column.elastic and len(shown) > _LONG_CHARACTERS else None
    return {"shown": shown, "side": side, "sort": _sort_value(row, column) if column.right else None}


def _sort_value(row: Mapping[str, Any], column: Column) -> str:
    value = row[column.keys[0]]
    if isinstance(value, float):
        return f"{value:.7g}"
    return repr(value) if isinstance(value, int) else ""


_PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("agreement", "Agreement", ("agreement", "round-trip")),
    ("speed", "Speed", ("ranking", "speed")),
    ("compression", "Compression", ("compression",)),
    ("scaling", "Scaling", ("scaling",)),
    ("memory", "Memory and load time", ("memory",)),
    ("training", "Training", ("training", "trained")),
    ("failures", "Failures and counterexamples", ("failures", "counterexamples")),
)
"""Id, heading and tables of each folded part of a run; `runs.html` introduces them."""


def render_page(folders: Sequence[Path]) -> str:
    """Return the page of the runs in `folders`, the newest first; raise `RecordError` if one holds no records."""
    runs = [Run(folder.name if folder.is_absolute() else folder.as_posix(), folder) for folder in folders]
    runs.sort(key=lambda run: (date_of(run), run.folder.name), reverse=True)
    data = explorer(runs)
    begin = _begin(data)
    history = _history(runs)
    where = ", ".join(str(runs[0].machine[key]) for key in ("date", "profile", "cpu") if runs[0].machine.get(key))
    return render(
        "runs.html",
        asset("tables.js") + asset("page.js") + asset("explorer.js"),
        title=f"bpebench: {runs[0].label if len(runs) == 1 else wording.counted(len(runs), 'run')}",
        subtitle=f"{runs[0].label} · {where}".strip(" ·") if len(runs) == 1 else wording.counted(len(runs), "run"),
        begin=begin,
        kinds=[(f"kind-{kind}", shape, kind) for kind, shape in zip(wording.KINDS, palette.SHAPES, strict=True)],
        view_data=script_json(data),
        runs=[_run(run, f"r{i}-" if i else "") for i, run in enumerate(runs)],
        history=view_of(history) if history.rows else None,
        labels=" ".join(run.label for run in runs),
    )


def _begin(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the workload that the explorer shows first, and facts of its run; None if nothing was timed."""
    run = next((run for run in data["runs"] if run["id"] == data["main"]), None)
    if run is None:
        return None
    workload = next(workload for workload in run["workloads"] if workload["name"] == data["begin"])
    return {**workload, **{key: run[key] for key in ("label", "command", "claimed")}}


def _history(runs: Sequence[Run]) -> Table:
    several = [run for group in by_machine(runs) if len(group) > 1 for run in group]
    rows = sorted(history_rows(several), key=lambda row: (row["workload"], row["implementation"]))
    return table_of("history", rows)


def _run(run: Run, prefix: str) -> dict[str, Any]:
    """Return the values of the section of a run."""
    tables, machine = run.tables, run.machine
    facts = {k: v for k, v in machine.items() if k not in ("command", "warnings")}
    overview = tables.get("overview")
    return {
        "id": f"{prefix}run",
        "prefix": prefix,
        "label": run.label,
        "where": " · ".join(filter(None, (date_of(run), machine_name(run)))),
        "headlines": run.headlines,
        "overview": None if overview is None else view_of(overview, prefix),
        "warnings": run.warnings,
        "parts": list(_parts(run, tables, prefix)),
        "noise": speed.claimed_where(),
        "command": machine.get("command") or "bpebench run",
        "machine": json.dumps(facts, ensure_ascii=False, indent=1).splitlines() if facts else ["Not recorded."],
    }


def _parts(run: Run, tables: Mapping[str, Table], prefix: str) -> Iterator[dict[str, Any]]:
    """Yield the values of each part of a run that has a table."""
    for name, heading, names in _PARTS:
        if views := {key: view_of(tables[key], prefix) for key in names if key in tables}:
            yield {
                "id": prefix + name,
                "name": name,
                "heading": heading,
                "count": wording.counted(len(views), "table"),
                "tables": views,
            }
