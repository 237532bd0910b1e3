"""The page of one run or many: one self-contained HTML file, which needs no network, no server and no other file.

Templates are HTML in `templates/*.html`, rendered by jinja2, which escapes every value. Unprintable characters are
replaced by backslash escapes first. Only a page's own script is allowed, by its digest (Content-Security-Policy), so
that even a fault in escaping runs nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.report import palette, wording
from harness.report.history import history_rows
from harness.report.page.explorer import explorer
from harness.report.run import Run
from harness.report.table import Column, Row, Table, table_of
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


def render(template: str, script: str = "", **values: object) -> str:
    """Render `templates/TEMPLATE` with `values` and return the page, in which only `script` may run."""
    colours = {
        scheme: "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in named.items())
        for scheme, named in palette.COLOURS.items()
    }
    page = _environment().get_template(template)
    return page.render(policy=_policy(script), script=Markup(script), colours=colours, font=palette.FONT, **values)


def script_json(value: object) -> Markup:
    """Return JSON that is safe inside a script element: without `<`, nothing can end it or open another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@cache
def asset(name: str) -> Markup:
    """Return the content of a file of `assets`."""
    return Markup(_source("assets", name))


def _source(folder: str, name: str) -> str:
    return (files("harness.report.page") / folder / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(partial(_source, "templates")),
        autoescape=True,
        finalize=_printable,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals["asset"] = asset
    environment.filters |= {"attributes": _attributes, "columns": _columns, "sort_value": _sort_value}
    return environment


def _printable(value: object) -> object:
    return value if isinstance(value, Markup) else wording.text(value)


def _attributes(values: Mapping[str, object]) -> Markup:
    """Return HTML attributes, each preceded by a space; those that are None are left out."""
    shown = {name: value for name, value in values.items() if value is not None}
    return Markup("").join(Markup(' {}="{}"').format(name, _printable(value)) for name, value in shown.items())


def _columns(table: Table) -> Sequence[Column]:
    """Return the columns of a table; on a page its groups are not headings, but a column."""
    if table.group_by is None or table.group_by in {column.key for column in table.columns}:
        return table.columns
    unit = [Column("unit", "unit")] if table.rows and "unit" in table.rows[0] else []
    return (Column(table.group_by, table.group_by), *unit, *table.columns)


def _sort_value(row: Row, column: Column) -> str:
    """Return the value that a column of figures is sorted by."""
    value = row[column.keys[0]]
    return f"{value:.7g}" if isinstance(value, float) else repr(value) if isinstance(value, int) else ""


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"
