"""The page of a run: one HTML file with everything in it, which needs no network, no server and no other file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from harness.records import MACHINE_FILE, read_records
from harness.report import palette, plots, speed, wording
from harness.report.chart import IMAGE_ONLY, Chart
from harness.report.charts import charts
from harness.report.headlines import headlines
from harness.report.page_tables import view_of
from harness.report.tables import DEFAULT_PRICE_PER_MILLION, Table, tables
from harness.report.templates import asset, render, script_json

BIAS = (
    "The authors of this suite also wrote the implementations marked pure and compiled, and used these workloads "
    "while developing them. The other implementations were developed without them.",
    "Everything is called from Python: every figure includes the cost of a call and of a list of ids. Differences "
    "are larger when encoding from Rust or C++.",
    "Most workloads repeat one text, which favours caches of pieces. The cold and the warm-other workloads do not.",
    "Texts are Turkish and English dictionary prose, Python code, and messages of a program in 18 languages. "
    "Chat logs, web pages, mathematics and long CJK prose may rank differently.",
    "Models reach every library by conversion from one neutral form. A library optimised for its own files may load "
    "more slowly here.",
    "Identical ids are required before anything is timed, so a tokenizer that trades exactness for speed is shown "
    "but not ranked.",
    "Single-threaded workloads run on one pinned core; large machines, other memory and other cores will differ.",
)
"""What this suite may favour."""

_INTRODUCTIONS = {
    "turkish": "One Turkish text under several vocabularies: the tokens it takes and what they cost.",
    "agreement": "Before anything is timed, every pair of implementations encodes the same texts and must give the "
    "same ids where theory requires it.",
    "speed": "Each dot is the median of its rounds with its 95 % interval, on a logarithmic axis, the best first. "
    "What failed or differs is listed, never ranked.",
    "compression": "A larger or better suited vocabulary gives fewer tokens; a faster implementation takes less time. "
    "Nothing on the dashed front is beaten in both.",
    "scaling": "Generated texts of growing length, each read once: time should not grow faster than length.",
    "memory": "The memory to hold a model and encode with it, and the time until the first id.",
    "threads": "One call for many documents, on one thread and on several.",
    "training": "How fast merges are learned, how their frequency falls, and which trainers learn the same merges.",
    "failures": "Every failure, with its reason and the smallest text that shows it.",
}
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
"""Id, heading and tables of each section between the summary and the provenance."""


def read_machine(folder: Path) -> dict[str, Any]:
    """What is known of where a run was made; empty where nothing is or the file cannot be read."""
    try:
        found = json.loads((folder / MACHINE_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_analyses(folder: Path) -> dict[str, str]:
    """Workload -> what it is for, in prose, from the run's plan; empty where it has none."""
    try:
        plan = json.loads((folder / "plan.json").read_bytes())
        return {str(w["name"]): " ".join(str(w.get("analysis", "")).split()) for w in plan["workloads"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def render_page(run_folder: Path, *, price_per_million: float = DEFAULT_PRICE_PER_MILLION) -> str:
    """The page of the run in `run_folder`; raises `RecordError` where it holds no records."""
    records = read_records(run_folder)
    return page_of(
        records,
        machine=read_machine(run_folder),
        analyses=read_analyses(run_folder),
        run=run_folder.name if run_folder.is_absolute() else run_folder.as_posix(),
        price_per_million=price_per_million,
    )


def page_of(
    records: Sequence[object],
    *,
    machine: Mapping[str, Any],
    run: str,
    analyses: Mapping[str, str] | None = None,
    price_per_million: float = DEFAULT_PRICE_PER_MILLION,
) -> str:
    """Return the page of these records."""
    rows = speed.speed_rows(records)
    found = tables(records, price_per_million, rows)
    drawn = [chart for chart in charts(records, rows) if chart.section != IMAGE_ONLY]
    overview, warnings, lines = found.get("overview"), machine.get("warnings"), headlines(records)
    summary = [{"name": "summary", "heading": "Summary"}] if lines or overview is not None or warnings else []
    sections = [*summary, *_middle(found, drawn, analyses or {}), {"name": "provenance", "heading": "Provenance"}]
    where = ", ".join(str(machine[key]) for key in ("date", "profile", "cpu") if machine.get(key))
    vega = _vega_bundle()
    return render(
        "run.html",
        vega,
        asset("page.js"),
        title=f"bpebench: {run}",
        subtitle=f"Run {run}" + (f" · {where}" if where else ""),
        sections=sections,
        headlines=lines,
        overview=None if overview is None else view_of(overview),
        warnings=warnings if isinstance(warnings, list) else [],
        bias=BIAS,
        noise=_noise(records),
        command=machine.get("command") or "bpebench run",
        run=run,
        machine={key: value for key, value in machine.items() if key not in ("command", "warnings", "noise_floor")},
        choice_id=plots.CHOICE_ID,
        vega=vega,
        chart_data=_chart_data(drawn),
    )


def _middle(
    found: Mapping[str, Table], drawn: Sequence[Chart], analyses: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield what `run.html` shows of each section that has a table or a chart."""
    for name, heading, names in _SECTIONS:
        views = {key: view_of(found[key]) for key in names if key in found}
        here = [chart for chart in drawn if chart.section == name]
        if not views and not here:
            continue
        first = [views.pop("ranking")] if "ranking" in views else []
        yield {
            "name": name,
            "heading": heading,
            "lead": _INTRODUCTIONS[name],
            "first": first,
            "charts": here,
            "legend": _AGREEMENT_LEGEND if name == "agreement" else _LEGEND,
            "tables": list(views.values()),
            "analyses": _analyses(found["speed"], analyses) if "speed" in views else {},
        }


_LEGEND = {
    "label": "Kinds of implementation",
    "marks": [(f"kind-{kind}", shape, kind) for kind, shape in zip(wording.KINDS, palette.SHAPES, strict=True)],
}
_AGREEMENT_LEGEND = {
    "label": "What a cell says",
    "marks": [(f"agreement-{i}", "square", status) for i, status in enumerate(palette.AGREEMENTS)],
}


def _analyses(speeds: Table, analyses: Mapping[str, str]) -> dict[str, str]:
    """Return what workloads measure, by their names: those of one text together."""
    by_text: dict[str, list[str]] = {}
    for name in speeds.frame["workload"].unique():
        if text := analyses.get(name):
            by_text.setdefault(text, []).append(name)
    return {", ".join(names): text for text, names in by_text.items()}


def _noise(records: Sequence[object]) -> str:
    floor = speed.noise_floor(records)
    if floor is None:
        return f"This run measured no implementation twice. {speed.claimed_where(None, 1)}"
    return (
        f"Two copies of one implementation differed by at most {wording.percent(floor)} in this run; "
        "no smaller difference is claimed."
    )


def _chart_data(drawn: Sequence[Chart]) -> Markup:
    """Return the charts as `page.js` reads them; the page has legends and titles of its own."""
    config = {scheme: palette.config(scheme) | {"legend": {"disable": True}} for scheme in palette.SCHEMES}
    return script_json(
        {"charts": {chart.name: chart.spec for chart in drawn}, "config": config, "choice": plots.CHOICE_ID}
    )


@cache
def _vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that leaves only `vegaEmbed` behind."""
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(function(){" + bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--") + "\n})();"
