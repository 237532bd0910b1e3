"""Parts of pages: tables with the command that shows them, charts in the colours of the page, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count, pairwise
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from harness.report import palette, wording
from harness.report.charts.chart import Chart, svg
from harness.report.page.run import view_of
from harness.report.page.templates import slug
from harness.report.table import Table

Block = dict[str, Any]
"""Values of one kind of block in `templates/site/layout.html`."""


def section_of(name: str, heading: str, blocks: Sequence[Block]) -> Block:
    """Return a section of a page."""
    return {"id": name, "heading": heading, "lead": "", "blocks": blocks}


def table_block(table: Table, run_or_command: str, name: str | None = None) -> Block:
    """Return a table with its command; for a run, the command that shows its table `name`."""
    command = run_or_command if name is None else f"bpebench report {run_or_command} --table {name}"
    return {"kind": "table", "view": view_of(table), "command": command}


def chart_blocks(charts: Iterable[Chart], command: str) -> list[Block]:
    """Return charts as blocks with the command that makes them; an empty list without charts."""
    shown = [{"name": slug(chart.name), "alternative": chart.alternative, "svg": themed(chart)} for chart in charts]
    return [{"kind": "charts", "charts": shown, "command": command}] if shown else []


_SAID_ELSEWHERE = re.compile(r' (?:(?:aria-[a-z]+|role|class|pointer-events|font-family)="[^"]*"|opacity="1")')
"""Attributes of an SVG image that its figure already has, or that change nothing."""


@cache
def _variables() -> dict[str, str]:
    """Return the CSS variable of each colour of a chart in the light scheme."""
    named = {values["light"].lower(): name for name, values in reversed(palette.PAGE.items())}
    named |= {palette.GRID["light"].lower(): "line"}
    named |= {c.lower(): f"kind-{kind}" for kind, c in zip(wording.KINDS, palette.KIND_COLOURS["light"], strict=True)}
    return named


def themed(chart: Chart) -> Markup:
    """Return the image of a chart as an element that uses the colours of the page, light or dark."""
    drawn = _SAID_ELSEWHERE.sub("", svg(chart, "light"))
    return Markup(re.sub(r'"(#[0-9a-fA-F]{6})"', lambda found: f'"{_colour(found[1])}"', drawn))


def _colour(written: str) -> str:
    name = _variables().get(written.lower())
    return written if name is None else f"var(--{name})"


def distinct(files: dict[Any, str]) -> dict[Any, str]:
    """Return file names made distinct, even on case-insensitive file systems."""
    taken: set[str] = set()
    found = {}
    for key, name in files.items():
        number, chosen = 1, name
        while chosen.lower() in taken:
            number += 1
            chosen = f"{name}-{number}"
        taken.add(chosen.lower())
        found[key] = chosen
    return found


def html_of(text: str) -> str:
    """Return CommonMark with tables as HTML, without its first heading, which the page already has.

    HTML and links in it are dropped: files of the repository are not on the site.
    """
    markdown = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink", "reference"])
    )
    tokens = markdown.parse(text)
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    taken: set[str] = set()
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            name = slug(after.content)
            token.attrSet("id", name if name not in taken else f"{name}-{len(taken)}")
            taken.add(name)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    number = count(1)
    box = '<div class="scroll" role="region" tabindex="0" aria-label="Table %d"><table>'
    html = re.sub("<table>", lambda _: box % next(number), html)
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
