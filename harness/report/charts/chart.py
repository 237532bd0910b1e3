"""A chart: a Vega-Lite specification with its texts, and its rendering as an image."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.printable import printable_values
from harness.report import palette, wording
from harness.report.charts import plots
from harness.report.table import Row

IMAGE_WIDTH = 520
IMAGE_ONLY = ""
"""The section of a chart that pages leave out, because they show its parts instead."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its Vega-Lite specification without colours or title, and its texts."""

    name: str
    section: str
    title: str
    subtitle: str
    """What the axis shows and which direction is better."""
    alternative: str
    """The chart in a sentence or two, for readers who cannot see it."""
    spec: dict[str, Any]

    def __post_init__(self) -> None:
        # A page shows these strings unchanged, and some characters make the image renderer abort the process.
        for name in ("name", "title", "subtitle", "alternative", "spec"):
            object.__setattr__(self, name, printable_values(getattr(self, name)))


def svg(chart: Chart, scheme: palette.Scheme) -> str:
    """Render `chart` as an SVG image with title and legend, for a background of the scheme."""
    import vl_convert

    title = {"text": chart.title, "subtitle": chart.subtitle}
    spec = chart.spec | {"title": title, "description": chart.alternative, "padding": 12}
    if spec.get("width") == "container":
        spec["width"] = IMAGE_WIDTH
    config = palette.config(scheme, palette.IMAGE_FONT)
    if chart.section == "agreement":
        config["legend"] |= {"columns": 2, "symbolType": "square"}
    return str(vl_convert.vegalite_to_svg(_without_choice(spec), config=config))


def _without_choice(spec: dict[str, Any]) -> dict[str, Any]:
    """Remove input bindings, which an image cannot have: parameters keep their first value."""
    text = json.loads(json.dumps(spec), object_hook=lambda part: {k: v for k, v in part.items() if k != "bind"})
    return dict(text)


def dot_chart(
    name: str,
    section: str,
    title: str,
    rows: Sequence[Row],
    unit: str,
    better: str,
    subtitle: str = "",
    domain_of: Sequence[float] = (),
) -> Chart:
    """Return a chart of `plots.dots`; `rows` are sorted best first; missing figures are formatted here."""
    rows = [_written(row) for row in rows]
    return Chart(
        name=name,
        section=section,
        title=title,
        subtitle=subtitle or f"{unit}, logarithmic · {better} is better",
        alternative=in_words(title, rows, unit, better),
        spec=plots.dots(rows, f"{unit}, {better} is better", domain_of),
    )


def _written(row: Row) -> Row:
    interval = "" if row["low"] is None else f"{wording.figure(row['low'])}–{wording.figure(row['high'])}"
    kind = wording.kind_of(row["implementation"])
    return {"status": "ok", "kind": kind, "figure": wording.figure(row["median"]), "interval": interval} | row


def in_words(what: str, rows: Sequence[Row], unit: str, better: str) -> str:
    """Describe the figures of `rows` in a sentence, the best first, then those without a figure and why."""
    timed = [f"{row['implementation']} {row['figure']}" for row in rows if row["median"] is not None]
    failed = [f"{row['implementation']} ({row['status']})" for row in rows if row["median"] is None]
    sentence = f"{what}, {unit}, {better} is better, best first: {', '.join(timed)}."
    return sentence + (f" Without a figure: {', '.join(failed)}." if failed else "")
