"""What a chart is: a Vega-Lite specification and its words; and how it becomes an image."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.printable import printable_values
from harness.report import palette
from harness.report.table import Row

IMAGE_WIDTH = 520
IMAGE_ONLY = ""
"""The section of a chart that no page shows, because it shows its parts."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its Vega-Lite specification without colours or title, and its words."""

    name: str
    section: str
    title: str
    subtitle: str
    """What the axis tells and which direction is good."""
    alternative: str
    """The chart in a sentence or two, for who does not see it."""
    spec: dict[str, Any]

    def __post_init__(self) -> None:
        # A page shows these strings as they are, and the renderer of images aborts the process on some.
        for name in ("name", "title", "subtitle", "alternative", "spec"):
            object.__setattr__(self, name, printable_values(getattr(self, name)))


def svg(chart: Chart, scheme: palette.Scheme) -> str:
    """`chart` as an image with its title and legend, for a ground of the scheme's lightness."""
    import vl_convert

    spec = dict(chart.spec)
    if spec.get("width") == "container":
        spec["width"] = IMAGE_WIDTH
    spec["title"] = {"text": chart.title, "subtitle": chart.subtitle}
    spec["description"] = chart.alternative
    spec["padding"] = 12
    config = palette.config(scheme, palette.IMAGE_FONT)
    if chart.section == "agreement":
        config["legend"] |= {"columns": 2, "symbolType": "square"}
    return str(vl_convert.vegalite_to_svg(_without_choice(spec), config=config))


def _without_choice(spec: dict[str, Any]) -> dict[str, Any]:
    """An image cannot be chosen in: parameters bound to an input keep their first value."""
    text = json.loads(json.dumps(spec), object_hook=lambda part: {k: v for k, v in part.items() if k != "bind"})
    return dict(text)


def in_words(what: str, rows: Sequence[Row], unit: str, better: str) -> str:
    """The figures of `rows` in a sentence, the best first, then who has none and why."""
    timed = [f"{row['implementation']} {row['figure']}" for row in rows if row["median"] is not None]
    failed = [f"{row['implementation']} ({row['status']})" for row in rows if row["median"] is None]
    told = f"{what}, {unit}, {better} is better, best first: {', '.join(timed)}."
    return told + (f" Without a figure: {', '.join(failed)}." if failed else "")
