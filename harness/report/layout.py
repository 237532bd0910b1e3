"""Render a table as terminal text, Markdown, CSV or LaTeX, or for JSON. Knows tables, but no records."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tabulate import tabulate

from harness.printable import printable, printable_values, readable
from harness.report.table import Table

Format = Literal["text", "markdown", "csv", "latex"]
_LEAST_ELASTIC = 12


def render(table: Table, format: Format, *, width: int | None = None) -> str:
    """Render `table` in `format`; in text and Markdown, elastic columns are cut so that a row has `width` columns.

    CSV holds the raw values, made printable, the others the formatted ones.
    """
    if format == "csv":
        return csv_of(table.rows)
    note = "\n".join(printable(line) for line in table.legend.split("\n"))
    table = replace(table, title=printable(table.title))
    if format == "markdown":
        return _markdown(table, note, width)
    return _latex(table) if format == "latex" else _text(table, note, width)


def as_json(table: Table) -> dict[str, object]:
    """Return title, note and raw rows, ready for JSON (lone surrogates escaped)."""
    rows = [
        {key: readable(value) if isinstance(value, str) else value for key, value in row.items()} for row in table.rows
    ]
    return {"name": table.name, "title": table.title, "note": table.legend, "rows": rows}


def _groups(table: Table, width: int | None) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the heading and the cells of each group, the cells cut so that a row has `width` columns."""
    for heading, rows in table.groups():
        cells = table.written(rows)
        yield heading, _cut(cells, table, width) if width else cells


def _written(table: Table, headings: Sequence[str], cells: Sequence[Sequence[str]], format: str) -> str:
    sides = ["right" if column.right else "left" for column in table.columns]
    return tabulate(cells, headings, tablefmt=format, disable_numparse=True, colalign=sides if cells else None)


def _text(table: Table, note: str, width: int | None) -> str:
    parts = [table.title, "=" * len(table.title), ""] if table.title else []
    headings = [column.heading for column in table.columns]
    for heading, cells in _groups(table, width):
        parts += [heading, ""] if heading else []
        head = [headings, ["─" * n for n in _widths(headings, cells)]] if any(headings) else []
        grid = _written(table, (), [*head, *cells], "plain")
        parts += [*(line.rstrip() for line in grid.splitlines()), ""]
    for line in note.splitlines():
        parts += textwrap.wrap(line, width) if width else [line]
    return "\n".join([*parts, ""] if note else parts)


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(headings, *cells, strict=True)]


def _cut(cells: list[list[str]], table: Table, width: int) -> list[list[str]]:
    """Return cells with the elastic columns shortened so that a row fits `width`, as far as possible."""
    headings = [column.heading for column in table.columns]
    wide = _widths(headings, cells)
    elastic = [i for i, column in enumerate(table.columns) if column.elastic]
    for i in sorted(elastic, key=lambda i: -wide[i]):
        too_wide = sum(wide) + 2 * (len(wide) - 1) - width
        if too_wide > 0:
            wide[i] = max(_LEAST_ELASTIC, len(headings[i]), wide[i] - too_wide)
    return [[c if len(c) <= n else c[: n - 1] + "…" for c, n in zip(row, wide, strict=True)] for row in cells]


def _markdown(table: Table, note: str, width: int | None) -> str:
    parts = [f"**{escaped_markdown(table.title)}**", ""]
    headings = [escaped_markdown(column.heading) for column in table.columns]
    # A row of pipes needs 3 columns for each cell and one more; text needs 2 between cells.
    for heading, cells in _groups(table, width and width - len(table.columns) - 3):
        parts += [f"*{escaped_markdown(heading)}*", ""] if heading else []
        cells = [[escaped_markdown(cell) for cell in row] for row in cells]
        parts += [_written(table, headings, cells, "pipe"), ""]
    parts += [escaped_markdown(note), ""] if note else []
    return "\n".join(parts)


def escaped_markdown(cell: str) -> str:
    """Escape text for Markdown, also within a table. An underscore within a word needs no escape."""
    return re.sub(r"([\\`*\[\]<>|~#&]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", cell)


def csv_of(rows: Sequence[Mapping[str, object]], columns: Iterable[str] = ()) -> str:
    """Return rows as CSV, made printable, with a header (`columns` if there are no rows); None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(printable, rows[0] if rows else columns))
    writer.writerows(map(printable_values, row.values()) for row in rows)
    return buffer.getvalue()


_LATEX_SYMBOLS: dict[str, str | int | None] = {
    "≠": r"$\neq$", "≈": r"$\approx$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "µ": r"$\mu$",
    "±": r"$\pm$", "—": "---", "–": "--", "…": r"\ldots{}", "∞": r"$\infty$", "·": r"$\cdot$",
}  # fmt: skip


def _latex(table: Table) -> str:
    parts = []
    headings = [column.heading for column in table.columns]
    for heading, cells in _groups(table, None):
        grid = _written(table, headings, cells, "latex_booktabs")
        caption = _escaped_latex(f"{table.title}: {heading}" if heading else table.title)
        grid = grid.translate(str.maketrans(_LATEX_SYMBOLS))
        parts.append("\n".join([r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", grid, r"\end{table}"]))
    return "\n\n".join(parts) + "\n"


def _escaped_latex(cell: str) -> str:
    special: dict[str, str | int | None] = {c: f"\\{c}" for c in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return cell.translate(str.maketrans(special | _LATEX_SYMBOLS))
