"""The page of a run: one self-contained HTML file that needs no network, server or other file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.records import MACHINE_FILE, read_records
from harness.report import palette, plots, speed, wording
from harness.report.chart import IMAGE_ONLY, Chart
from harness.report.charts import charts
from harness.report.document import Section, document
from harness.report.headlines import headlines
from harness.report.markup import Markup, element, facts, figure, join, table
from harness.report.tables import DEFAULT_PRICE_PER_MILLION, Table, tables

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
    """Return the facts of the machine a run was made on; empty without a readable file."""
    try:
        found = json.loads((folder / MACHINE_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_analyses(folder: Path) -> dict[str, str]:
    """Map workload -> its analysis, in prose, from the run's plan; empty without a plan."""
    try:
        plan = json.loads((folder / "plan.json").read_bytes())
        return {str(w["name"]): " ".join(str(w.get("analysis", "")).split()) for w in plan["workloads"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def render_page(run_folder: Path, *, price_per_million: float = DEFAULT_PRICE_PER_MILLION) -> str:
    """Render the page of the run in `run_folder`; raise `RecordError` where it holds no records."""
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
    """Render the page of these records."""
    rows = speed.speed_rows(records)
    found = tables(records, price_per_million, rows)
    drawn = [chart for chart in charts(records, rows) if chart.section != IMAGE_ONLY]
    sections = [
        _summary(records, machine, found.get("overview")),
        *_middle(found, drawn, analyses or {}),
        _provenance(records, machine, run),
    ]
    sections = [section for section in sections if section[2]]
    where = ", ".join(str(machine[key]) for key in ("date", "profile", "cpu") if machine.get(key))
    return document(f"bpebench: {run}", f"Run {run}" + (f" · {where}" if where else ""), sections, drawn)


def _summary(records: Sequence[object], machine: Mapping[str, Any], overview: Table | None) -> Section:
    tiles = [element("div", element("dt", h.figure), element("dd", h.text)) for h in headlines(records)]
    parts = [element("dl", *tiles, class_="tiles")] if tiles else []
    if overview is not None:
        parts.append(table(overview))
    warnings = machine.get("warnings")
    if isinstance(warnings, list) and warnings:
        parts.append(element("h3", "Take these figures with care"))
        parts.append(element("ul", *(element("li", warning) for warning in warnings), class_="plainlist note"))
    return "summary", "Summary", join(parts)


def _middle(found: Mapping[str, Table], drawn: Sequence[Chart], analyses: Mapping[str, str]) -> list[Section]:
    sections = []
    for name, heading, names in _SECTIONS:
        parts: list[Markup] = []
        here = [chart for chart in drawn if chart.section == name]
        of_tables = [table(found[key]) for key in names if key in found]
        if name == "speed" and of_tables:
            parts += [of_tables.pop(0)] if "ranking" in found else []
        if here:
            parts.append(_agreement_legend() if name == "agreement" else _legend())
            parts.append(_figures(here))
        parts += of_tables
        if name == "speed" and parts:
            parts += _analyses(found, analyses)
        if parts:
            parts.insert(0, element("p", _INTRODUCTIONS[name], class_="lead"))
        sections.append((name, heading, join(parts)))
    return sections


def _figures(here: Sequence[Chart]) -> Markup:
    drawn = []
    for chart in here:
        choice = None
        if chart.name == "agreement" and chart.spec.get("params"):
            choice = element("div", id=plots.CHOICE_ID, class_="choice")
        drawn.append(figure(chart, choice))
    single = len(here) == 1
    return element("div", *drawn, class_="charts single" if single else "charts")


_SHAPES = {
    "circle": '<circle cx="6" cy="6" r="5"/>',
    "diamond": '<path d="M6 0 12 6 6 12 0 6Z"/>',
    "square": '<path d="M1 1H11V11H1Z"/>',
    "triangle-up": '<path d="M6 1 12 11.5H0Z"/>',
}


def _legend() -> Markup:
    items = []
    for kind, shape in zip(wording.KINDS, palette.SHAPES, strict=True):
        mark = f'<svg viewBox="0 0 12 12" aria-hidden="true" fill="var(--kind-{kind})">{_SHAPES[shape]}</svg>'
        items.append(element("li", Markup(mark), kind))
    return element("ul", *items, class_="legend", aria_label="Kinds of implementation")


def _agreement_legend() -> Markup:
    items = []
    for i, status in enumerate(palette.AGREEMENTS):
        mark = f'<svg viewBox="0 0 12 12" aria-hidden="true" fill="var(--agreement-{i})">{_SHAPES["square"]}</svg>'
        items.append(element("li", Markup(mark), status))
    return element("ul", *items, class_="legend", aria_label="What a cell says")


def _analyses(found: Mapping[str, Table], analyses: Mapping[str, str]) -> list[Markup]:
    if "speed" not in found:
        return []
    shown = {name: analyses[name] for name in found["speed"].frame["workload"].unique() if analyses.get(name)}
    by_text: dict[str, list[str]] = {}
    for name, text in shown.items():
        by_text.setdefault(text, []).append(name)
    if not by_text:
        return []
    summary = element("summary", "What each workload measures")
    return [
        element("details", summary, facts({", ".join(names): text for text, names in by_text.items()}), class_="data")
    ]


def _provenance(records: Sequence[object], machine: Mapping[str, Any], run: str) -> Section:
    floor = speed.noise_floor(records)
    noise = (
        "Two copies of one implementation differed by at most "
        f"{wording.percent(floor)} in this run; no smaller difference is claimed."
        if floor is not None
        else f"This run measured no implementation twice. {speed.claimed_where(None, 1)}"
    )
    command = machine.get("command")
    parts = [
        element("h3", "Noise floor"),
        element("p", noise),
        element("h3", "What this suite may favour"),
        element("ul", *(element("li", line) for line in BIAS), class_="plainlist"),
        element("h3", "The exact command"),
        element("p", "These figures were made by the first command, this page by the second."),
        element("pre", element("code", command or "bpebench run")),
        element("pre", element("code", f"bpebench report {run} --html page.html")),
        element("h3", "Machine and versions"),
    ]
    rest = {key: value for key, value in machine.items() if key not in ("command", "warnings", "noise_floor")}
    parts.append(facts(rest) if rest else element("p", "Not recorded."))
    return "provenance", "Provenance", join(parts)
