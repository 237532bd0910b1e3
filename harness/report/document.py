"""The HTML document around the sections: head, navigation, scripts, colours. Knows no record.

Scripts are allowed only by digest (Content-Security-Policy), so that even a bug in escaping runs nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from harness.report import palette, plots, wording
from harness.report.chart import Chart
from harness.report.markup import Markup, element, escape, join, script_json

Section = tuple[str, str, Markup]
"""Id, heading, content."""


def document(title: str, subtitle: str, sections: Sequence[Section], drawn: Sequence[Chart]) -> str:
    """Return the whole page: `sections` in order, and the charts their figures name."""
    bundle, own = _vega_bundle(), _asset("page.js")
    data = {
        "charts": {chart.name: chart.spec for chart in drawn},
        "config": {scheme: _page_config(scheme) for scheme in palette.SCHEMES},
        "choice": plots.CHOICE_ID,
    }
    links = (element("li", element("a", heading, href=f"#{name}")) for name, heading, _ in sections)
    body = join(
        [
            element("a", "Skip to the results", href="#main", class_="skip"),
            element(
                "div",
                element(
                    "header",
                    element("h1", "bpebench"),
                    element("p", subtitle),
                    element(
                        "button", "Dark", id="scheme", class_="plain", type="button", aria_pressed="false", hidden=True
                    ),
                    class_="top",
                ),
                element("nav", element("ul", *links), aria_label="Sections"),
                element("main", *map(_section, sections), id="main", tabindex="-1"),
                class_="layout",
            ),
        ]
    )
    head = join(
        [
            Markup('<meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(bundle, own))}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="color-scheme" content="light dark">'),
            Markup('<link rel="icon" href="data:,">'),
            element("title", title),
            Markup(f"<style>{colours()}{_asset('page.css')}</style>"),
        ]
    )
    scripts = (
        f'<script type="application/json" id="chart-data">{script_json(data)}</script>\n'
        f"<script>{bundle}</script>\n<script>{own}</script>"
    )
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n{scripts}\n</body>\n</html>\n'


def _section(section: Section) -> Markup:
    name, heading, content = section
    title = element("h2", heading, id=f"{name}-heading")
    return element("section", title, content, id=name, aria_labelledby=f"{name}-heading")


def _page_config(scheme: palette.Scheme) -> dict[str, Any]:
    """Return the chart configuration of a page, which has its own legends and titles."""
    return palette.config(scheme) | {"legend": {"disable": True}}


@cache
def _asset(name: str) -> str:
    return (files("harness.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def _vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that defines only `vegaEmbed`."""
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(function(){" + bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--") + "\n})();"


def _policy(*scripts: str) -> str:
    digests = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    # Vega compiles its expressions with Function, hence unsafe-eval; they come from our specifications only.
    return f"default-src 'none'; script-src {digests} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


def colours() -> str:
    """Return the schemes as CSS variables: by the system's preference, overridden by the page's switch."""
    light, dark = (_variables(scheme) for scheme in palette.SCHEMES)
    return (
        f":root{{color-scheme:light;--font:{palette.FONT};{light}}}"
        f"@media (prefers-color-scheme: dark){{:root:not([data-scheme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-scheme=dark]{{color-scheme:dark;{dark}}}\n"
    )


def _variables(scheme: palette.Scheme) -> str:
    values = {
        "ground": palette.GROUND[scheme], "ink": palette.INK[scheme], "quiet": palette.QUIET[scheme],
        "line": palette.LINE[scheme], "faint": palette.FAINT[scheme], "link": palette.LINK[scheme],
    }  # fmt: skip
    kinds = dict(zip(wording.KINDS, palette.KIND_COLOURS[scheme], strict=True))
    values |= {f"kind-{kind}": colour for kind, colour in kinds.items()}
    values |= {f"agreement-{i}": colour for i, colour in enumerate(palette.AGREEMENT_COLOURS[scheme])}
    return "".join(f"--{name}:{value};" for name, value in values.items())
