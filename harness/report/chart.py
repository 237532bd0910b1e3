"""The chart of speed that a README shows: an image in two colour schemes. What one chooses, the page of a run draws."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from harness.grouping import grouped
from harness.printable import printable_values
from harness.report import palette, wording
from harness.report.table import Row

_MOST_PANELS, _MOST_NAMES, _N_LEADERS = 4, 6, 3
_ASKED_FOR = ("compiled", "tiktoken", "tokenizers", "sentencepiece")
"""Implementations that are shown if they were timed, before the fastest others."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its Vega-Lite specification without colours, with title, and the chart in a sentence or two."""

    spec: dict[str, Any]
    alternative: str


def throughput(rows: Sequence[Row]) -> Chart | None:
    """Return the chart of the plain encoding workloads that may be cited, or None without any."""
    plain = [
        row
        for row in rows
        if (row["floor"] is None or row["citable"])
        and (row["task"], row["state"], row["unit"]) == ("encode", "new text", "MB/s")
        if not row["corpus"].startswith("gen/")
    ]
    workloads = list(dict.fromkeys(row["workload"] for row in plain if row["median"] is not None))[:_MOST_PANELS]
    if not workloads:
        return None
    plain = [row for row in plain if row["workload"] in workloads]
    names = _named(plain)
    dots = [_dot(row) for row in plain if row["implementation"] in names]
    leaders = "; ".join(
        f"{workload}: " + ", ".join(f"{dot['implementation']} {dot['figure']}" for dot in some[:_N_LEADERS])
        for workload, some in grouped((dot for dot in dots if dot["median"]), lambda dot: dot["workload"]).items()
    )
    text = f"Encoding speed, MB/s, the best of each workload. {leaders}. The table has all of them."
    # Some characters make the renderer abort the process.
    return Chart(printable_values(_panels(dots, workloads)), printable_values(text))


def _named(rows: Sequence[Row]) -> set[str]:
    """Return at most `_MOST_NAMES` implementations: those people ask for, then the fastest ones."""
    fastest = sorted((row for row in rows if row["times_best"]), key=lambda row: float(row["times_best"]))
    names = [str(row["implementation"]) for row in fastest]
    return set(list(dict.fromkeys([name for name in _ASKED_FOR if name in names] + names))[:_MOST_NAMES])


def _dot(row: Row) -> Row:
    keys = ("workload", "implementation", "kind", "median", "low", "high", "status")
    return {key: row[key] for key in keys} | {"figure": wording.figure(row["median"])}


def _panels(dots: Sequence[Row], workloads: Sequence[str]) -> dict[str, Any]:
    """Return a panel for each workload with a dot and its 95 % interval for each row, or its `status`."""
    ends = [dot[key] for dot in dots for key in ("low", "high") if dot[key]]
    domain = [min(ends) / 1.15, max(ends) * 1.5]  # room at the right for the label of the last dot
    values = {
        "dots": [dot | {"edge": domain[0]} for dot in dots], "workloads": workloads, "domain": domain,
        "names": list(dict.fromkeys(dot["implementation"] for dot in dots)),
        "kinds": wording.KINDS, "shapes": palette.SHAPES,
    }  # fmt: skip
    return _filled("throughput", {key: json.dumps(value) for key, value in values.items()})


def _filled(name: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON of a template, its places filled with the text of `values`."""
    template = Template((files("harness.report") / f"{name}.json.template").read_text(encoding="utf-8"))
    document: dict[str, Any] = json.loads(template.substitute(values))
    return document


def svg(chart: Chart, scheme: palette.Scheme) -> str:
    """Render a chart as an SVG image for a background of the scheme."""
    import vl_convert

    spec = chart.spec | {"description": chart.alternative, "padding": 12}
    return str(vl_convert.vegalite_to_svg(spec, config=_filled("chart_config", palette.COLOURS[scheme])))
