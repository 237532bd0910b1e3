"""HTML elements: tables, figures, lists of facts. Everything from outside is escaped here, and nowhere else.

`Markup` marks what is already HTML; every other text is escaped.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness.report import wording
from harness.report.charts import Chart
from harness.report.table import Column, Table, plain_rows

if TYPE_CHECKING:
    import pandas as pd

_FILTER_FROM_ROWS = 15
_DETAILS_FROM_ROWS = 26
_LONG_CHARACTERS = 40
"""A cell longer than this may break over lines."""
_APART = ("turkish", "learned")
"""Tables whose groups are shown one by one; the others get a column that says the group."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: object) -> Markup:
    """Return `value` as HTML text or attribute value; unprintable characters become backslash escapes."""
    return value if isinstance(value, Markup) else Markup(html.escape(wording.text(value), quote=True))


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """`<tag …>content</tag>`; attributes: `class_` for class, `_` for `-`, True for a bare one, None to leave out."""
    written = ""
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            written += f" {name}"
        elif value is not None and value is not False:
            written += f' {name}="{escape(value)}"'
    return Markup(f"<{tag}{written}>{''.join(escape(part) for part in content)}</{tag}>")


def join(parts: Iterable[Markup]) -> Markup:
    """Concatenate pieces of HTML."""
    return Markup("\n".join(parts))


def script_json(value: object) -> Markup:
    """Return JSON that is safe inside a script element: without `<`, nothing can close it or open another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def slug(text: str) -> str:
    """Return a text as an HTML id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def table(source: Table) -> Markup:
    """Return a table that scrolls in its own box, sorts by its headings, and can be filtered where it is long.

    A very long one is collapsed under its title.
    """
    notes = [element("p", line, class_="note") for line in source.note.splitlines()]
    if source.name in _APART:
        grids = [
            element("div", _grid(source, rows, source.columns, f"{slug(source.name)}-{i}", title), class_="data")
            for i, (title, rows) in enumerate(source.groups())
        ]
        return join([*grids, *notes])
    columns = source.columns
    if source.group_by is not None and source.group_by not in {column.key for column in columns}:
        unit = [Column("unit", "unit")] if "unit" in source.frame else []
        columns = (Column(source.group_by, source.group_by), *unit, *columns)
    grid = _grid(source, source.frame, columns, slug(source.name), source.title)
    if len(source.frame) < _DETAILS_FROM_ROWS:
        return element("div", grid, *notes, class_="data")
    summary = element("summary", f"{source.title} ({len(source.frame):,} rows)")
    return element("details", summary, grid, *notes, class_="data")


def _grid(source: Table, frame: pd.DataFrame, columns: tuple[Column, ...], name: str, title: str) -> Markup:
    rows = plain_rows(frame)
    name = f"table-{name}"
    body = element(
        "table",
        element("caption", title, id=f"{name}-caption", class_="visually-hidden"),
        element("thead", element("tr", *(_heading(column) for column in columns))),
        element("tbody", *(_row(row, columns) for row in rows)),
        id=name,
        class_="sortable",
    )
    scrolling = element("div", body, class_="scroll", role="region", aria_labelledby=f"{name}-caption", tabindex="0")
    tools = [_tools(name, title, len(rows))] if len(rows) >= _FILTER_FROM_ROWS else []
    folded = source.name not in _APART and len(rows) >= _DETAILS_FROM_ROWS
    heading = [] if folded else [element("h3", title)]
    return join([element("div", *heading, *tools, class_="bar"), scrolling])


def _tools(name: str, title: str, n_rows: int) -> Markup:
    hidden = element("span", f" “{title}”", class_="visually-hidden")
    label = element("label", "Filter", hidden, Markup('<input type="search" autocomplete="off" spellcheck="false">'))
    count = element("output", f"{n_rows} of {n_rows} rows", aria_live="polite")
    return element("div", label, count, class_="tools", data_table=name, hidden=True)


def _heading(column: Column) -> Markup:
    side = "right" if column.right else None
    if not column.heading:
        return element("th", element("span", "mark", class_="visually-hidden"), scope="col")
    return element("th", element("button", column.heading, type="button"), scope="col", aria_sort="none", class_=side)


def _row(row: Mapping[str, Any], columns: tuple[Column, ...]) -> Markup:
    cells = []
    for i, column in enumerate(columns):
        value = row[column.key]
        shown = column.write(value)
        sortable = _sort_value(row, column) if column.right else None
        side = "right" if column.right else "long" if column.elastic and len(shown) > _LONG_CHARACTERS else None
        if i == 0:
            cells.append(element("th", shown, scope="row", class_=side, data_value=sortable))
        else:
            cells.append(element("td", shown, class_=side, data_value=sortable))
    failed = row.get("status") not in (None, "ok", "equal", "differs")
    return element("tr", *cells, class_="failed" if failed else None)


_SORTED_BY = {"interval": "low", "ratio": "times_best", "text": "n_bytes"}
"""Columns written in words, and the figure they sort by."""


def _sort_value(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(_SORTED_BY.get(column.key, column.key), row[column.key])
    return "" if value is None or not isinstance(value, int | float) else repr(value)


def figure(chart: Chart, choice: Markup | None = None) -> Markup:
    """Return a chart with its caption, and with a description for readers who cannot see it."""
    caption = element("figcaption", element("strong", chart.title), chart.subtitle)
    plot = element("div", class_="plot", role="img", aria_label=chart.alternative, data_chart=chart.name)
    return element("figure", caption, *([choice] if choice else []), plot)


def facts(values: Mapping[str, object]) -> Markup:
    """Return a list of names and values; values may themselves be lists and mappings."""
    parts: list[Markup] = []
    for name, value in values.items():
        if value is None or value == "" or value == [] or value == {}:
            continue
        parts += [element("dt", str(name).replace("_", " ")), element("dd", _fact(str(name), value))]
    return element("dl", *parts, class_="facts")


def _fact(name: str, value: object) -> Markup:
    if isinstance(value, Mapping):
        return facts({str(key): inner for key, inner in value.items()})
    if isinstance(value, list):
        if any(isinstance(inner, Mapping | list) for inner in value):
            return join(_fact(name, inner) for inner in value)
        return escape(", ".join(map(str, value)))
    if isinstance(value, bool):
        return escape("yes" if value else "no")
    if isinstance(value, int) and name.endswith("bytes"):
        return escape(wording.size(value))
    if isinstance(value, float):
        return escape(wording.figure(value))
    return escape(value)
