"""Rows of figures as cells of JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from harness.evaluate.intervals import Figure
from harness.printable import printable


def json_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells with the value of each figure in its place, and `intervals`: [low, high] of those that have one."""
    figures = {name: cell for name, cell in cells.items() if isinstance(cell, Figure)}
    bounds = {name: [one.low, one.high] for name, one in figures.items() if (one.low, one.high) != (None, None)}
    return {**cells, **{name: one.value for name, one in figures.items()}, "intervals": bounds}


def plain_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells for CSV: a figure is followed by its `_low` and `_high`, and strings are printable."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        if isinstance(cell, Figure):
            found |= {name: cell.value, f"{name}_low": cell.low, f"{name}_high": cell.high}
        else:
            found[name] = printable(cell) if isinstance(cell, str) else cell
    return found


def csv_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return rows as CSV with a header (`columns` if there are no rows); None is an empty cell."""
    target = io.StringIO()
    plain = list(map(plain_cells, rows))
    writer = csv.DictWriter(target, list(plain[0]) if plain else columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(plain)
    return target.getvalue()
