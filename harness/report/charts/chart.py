"""A chart: a Vega-Lite specification with its texts, and its rendering as an image."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from harness.printable import printable_values
from harness.report import palette, wording

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
    return str(vl_convert.vegalite_to_svg(spec, config=config))


_IN_THE_FIGURE = re.compile(r' (?:(?:aria-[a-z]+|role|class|pointer-events|font-family)="[^"]*"|opacity="1")')
"""Attributes of an SVG image that its figure on a page already has, or that change nothing."""


def themed(chart: Chart) -> str:
    """Return the image of a chart as an element of a page, whose CSS variables give the colours of its scheme."""
    image = _IN_THE_FIGURE.sub("", svg(chart, "light"))
    return re.sub(r'"(#[0-9a-fA-F]{6})"', lambda match: f'"{_variables().get(match[1].lower(), match[1])}"', image)


@cache
def _variables() -> dict[str, str]:
    """Return the CSS variable of each colour of the light scheme."""
    named = [(palette.GRID["light"], "line")]
    named += [(colours["light"], name) for name, colours in palette.PAGE.items()]
    named += [(c, f"kind-{kind}") for c, kind in zip(palette.KIND_COLOURS["light"], wording.KINDS, strict=True)]
    return {colour.lower(): f"var(--{name})" for colour, name in named}
