"""Colours, shapes and fonts of charts and pages, in a light and a dark scheme. Knows no data.

Colours are Okabe and Ito's (2008, "Color universal design"), lightened on a dark background; each also has its own
shape or word, so that nothing depends on colour alone.
"""

from __future__ import annotations

from typing import Any, Literal

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

SHAPES = ("circle", "diamond", "square", "triangle-up")
"""One for each kind, in the order of `KINDS`."""
KIND_COLOURS = {
    "light": ("#0072B2", "#D55E00", "#00805E", "#AA4499"),
    "dark": ("#6CB9EE", "#F5924E", "#3CC8A0", "#E08FC4"),
}
INK = {"light": "#24292F", "dark": "#DDE1E6"}
QUIET = {"light": "#5E6770", "dark": "#9AA4AE"}
GRID = {"light": "#E6E8EB", "dark": "#30363C"}
GROUND = {"light": "#FFFFFF", "dark": "#16191D"}
LINE = {"light": "#D0D5DA", "dark": "#3D444C"}
FAINT = {"light": "#F3F4F6", "dark": "#20252A"}
LINK = {"light": "#00598C", "dark": "#7CC1F0"}
PAGE = {"ground": GROUND, "ink": INK, "quiet": QUIET, "line": LINE, "faint": FAINT, "link": LINK}
"""Names of the colours in pages."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
IMAGE_FONT = "Arial, 'Helvetica Neue', Helvetica, sans-serif"
"""Fonts of images: text is measured on the machine that renders them and drawn on another."""


def config(scheme: Scheme) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a scheme; specifications themselves have no colours."""
    ink, quiet = INK[scheme], QUIET[scheme]
    labels = {"labelColor": ink, "titleColor": quiet, "labelFontSize": 12, "titleFontWeight": "normal"}
    return {
        "background": "transparent",
        "font": IMAGE_FONT,
        "view": {"stroke": None},
        "range": {"category": list(KIND_COLOURS[scheme])},
        "axis": {
            **labels, "gridColor": GRID[scheme], "domain": False, "ticks": False, "labelPadding": 6, "titlePadding": 10,
        },
        "legend": {**labels, "orient": "top", "direction": "horizontal", "symbolSize": 80, "symbolOpacity": 1},
        "title": {
            "color": ink, "subtitleColor": quiet, "fontSize": 15, "subtitleFontSize": 12, "fontWeight": 600,
            "anchor": "start", "frame": "group", "offset": 14, "subtitlePadding": 5,
        },
        "header": labels,
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": quiet},
        "point": {"filled": True, "size": 70, "opacity": 1},
    }  # fmt: skip
