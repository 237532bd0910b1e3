"""The page of a run: one self-contained HTML file, which needs no network, no server and no other file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.report import palette, wording
from harness.report.charts import plots
from harness.report.charts.chart import IMAGE_ONLY, Chart
from harness.report.page.templates import asset, render, script_json, slug
from harness.report.run import Run
from harness.report.table import Column, Table, grouped, plain_rows
from harness.report.tables import speed
from harness.report.tables.compression import DEFAULT_PRICE_PER_MILLION

_FILTER_FROM_ROWS = 15
_DETAILS_FROM_ROWS = 26
_LONG_CHARACTERS = 40
"""A cell longer than this may break over lines."""
_SEPARATE = ("turkish", "learned")
"""Tables whose groups are shown one at a time; the others get a column that names the group."""
_SORTED_BY = {"interval": "low", "ratio": "times_best", "text": "n_bytes"}
"""Columns written in words -> the figure they sort by."""


def view_of(source: Table) -> dict[str, Any]:
    """Return the values with which `templates/pieces.html` shows a table; a very long table is folded."""
    apart, name = source.name in _SEPARATE, f"table-{slug(source.name)}"
    columns = source.columns if apart else _columns(source)
    groups = source.groups() if apart else [(source.title, source.frame)]
    return {
        "title": source.title,
        "count": f"{len(source.frame):,}",
        "apart": apart,
        "folded": not apart and len(source.frame) >= _DETAILS_FROM_ROWS,
        "columns": columns,
        "grids": [
            {
                "id": f"{name}-{i}" if apart else name,
                "title": title,
                "rows": [_row(row, columns) for row in plain_rows(rows)],
            }
            for i, (title, rows) in enumerate(groups)
        ],
        "filter_from": _FILTER_FROM_ROWS,
        "notes": source.note.splitlines(),
    }


def _columns(source: Table) -> tuple[Column, ...]:
    if source.group_by is None or source.group_by in {column.key for column in source.columns}:
        return source.columns
    unit = [Column("unit", "unit")] if "unit" in source.frame else []
    return (Column(source.group_by, source.group_by), *unit, *source.columns)


def _row(row: Mapping[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    failed = row.get("status") not in (None, "ok", "equal", "differs")
    return {"failed": failed, "cells": [_cell(row, column) for column in columns]}


def _cell(row: Mapping[str, Any], column: Column) -> dict[str, Any]:
    shown = column.write(row[column.key])
    side = "right" if column.right else "long" if column.elastic and len(shown) > _LONG_CHARACTERS else None
    return {"shown": shown, "side": side, "sort": _sort_value(row, column) if column.right else None}


def _sort_value(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(_SORTED_BY.get(column.key, column.key), row[column.key])
    if isinstance(value, float):
        return f"{value:.7g}"
    return repr(value) if isinstance(value, int) else ""


_SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("turkish", "Turkish comparison", ("turkish",)),
    ("agreement", "Agreement", ("agreement-pairs", "round-trip")),
    ("speed", "Speed", ("ranking", "speed")),
    ("compression", "Compression against speed", ("compression",)),
    ("scaling", "Scaling", ("breaks", "scaling")),
    ("memory", "Memory and load time", ("memory",)),
    ("threads", "Threads", ()),
    ("training", "Training", ("training", "trained", "learned", "trainers", "trainer-pairs")),
    ("failures", "Failures and counterexamples", ("failures", "counterexamples")),
)
"""Id, heading and tables of each section between the summary and the provenance; `run.html` introduces them."""


def render_page(run_folder: Path, *, price_per_million: float = DEFAULT_PRICE_PER_MILLION) -> str:
    """Return the page of the run in `run_folder`; raise `RecordError` if it holds no records."""
    run = Run(run_folder.name if run_folder.is_absolute() else run_folder.as_posix(), run_folder)
    found, machine = run.tables(price_per_million), run.machine
    drawn = [chart for chart in run.charts.values() if chart.section != IMAGE_ONLY]
    overview = found.get("overview")
    summary = (
        [{"name": "summary", "heading": "Summary"}] if run.headlines or overview is not None or run.warnings else []
    )
    sections = [*summary, *_middle(found, drawn, run.analyses), {"name": "provenance", "heading": "Provenance"}]
    where = ", ".join(str(machine[key]) for key in ("date", "profile", "cpu") if machine.get(key))
    vega = _vega_bundle()
    return render(
        "run.html",
        vega,
        asset("tables.js") + asset("page.js"),
        evaluating=True,
        title=f"bpebench: {run.label}",
        subtitle=f"Run {run.label}" + (f" · {where}" if where else ""),
        sections=sections,
        headlines=run.headlines,
        overview=None if overview is None else view_of(overview),
        warnings=run.warnings,
        noise=_noise(run.records),
        command=machine.get("command") or "bpebench run",
        run=run.label,
        machine={key: value for key, value in machine.items() if key not in ("command", "warnings", "noise_floor")},
        choice_id=plots.CHOICE_ID,
        vega=vega,
        chart_data=_chart_data(drawn),
    )


def _middle(
    found: Mapping[str, Table], drawn: Sequence[Chart], analyses: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the values of each section of `run.html` that has a table or a chart."""
    for name, heading, names in _SECTIONS:
        views = {key: view_of(found[key]) for key in names if key in found}
        here = [chart for chart in drawn if chart.section == name]
        if not views and not here:
            continue
        yield {
            "name": name,
            "heading": heading,
            "charts": here,
            "marks": _AGREEMENT_MARKS if name == "agreement" else KIND_MARKS,
            "tables": views,
            "analyses": _analyses(found["speed"], analyses) if "speed" in views else {},
        }


KIND_MARKS = [(f"kind-{kind}", shape, kind) for kind, shape in zip(wording.KINDS, palette.SHAPES, strict=True)]
_AGREEMENT_MARKS = [(f"agreement-{i}", "square", status) for i, status in enumerate(palette.AGREEMENTS)]
"""Id, shape and meaning of each entry of a legend."""


def _analyses(speeds: Table, analyses: Mapping[str, str]) -> dict[str, str]:
    """Return what workloads measure, by the names of the workloads that share a description."""
    analysed = [str(name) for name in speeds.frame["workload"].unique() if analyses.get(name)]
    return {", ".join(names): text for text, names in grouped(analysed, analyses.__getitem__).items()}


def _noise(records: Sequence[object]) -> str:
    floor = speed.noise_floor(records)
    if floor is None:
        return f"This run measured no implementation twice. {speed.claimed_where(None, ())}"
    return (
        f"Two copies of one implementation differed by at most {wording.percent(floor)} in this run; "
        "no smaller difference is claimed."
    )


def _chart_data(drawn: Sequence[Chart]) -> Markup:
    """Return the charts as `page.js` reads them; the page has its own legends and titles."""
    config = {scheme: palette.config(scheme) | {"legend": {"disable": True}} for scheme in palette.SCHEMES}
    return script_json(
        {"charts": {chart.name: chart.spec for chart in drawn}, "config": config, "choice": plots.CHOICE_ID}
    )


@cache
def _vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that defines only `vegaEmbed`."""
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(function(){" + bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--") + "\n})();"
