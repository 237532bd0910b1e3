"""Tables as a page shows them: each in a box that scrolls, sorted by its headings, filtered where it is long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report.page.templates import slug
from harness.report.table import Column, Table, plain_rows

_FILTER_FROM_ROWS = 15
_DETAILS_FROM_ROWS = 26
_LONG_CHARACTERS = 40
"""A cell longer than this may break over lines."""
_SEPARATE = ("turkish", "learned")
"""Tables whose groups are shown one by one; the others get a column that says the group."""
_SORTED_BY = {"interval": "low", "ratio": "times_best", "text": "n_bytes"}
"""Columns written in words, and the figure they sort by."""


def view_of(source: Table) -> dict[str, Any]:
    """Return what `templates/pieces.html` shows of a table; a very long one is folded behind its title."""
    apart, name = source.name in _SEPARATE, f"table-{slug(source.name)}"
    columns = source.columns if apart else _columns(source)
    groups = source.groups() if apart else [(source.title, source.frame)]
    return {
        "title": source.title,
        "count": f"{len(source.frame):,}",
        "apart": apart,
        "folded": not apart and len(source.frame) >= _DETAILS_FROM_ROWS,
        "columns": columns,
        "grids": [
            {
                "id": f"{name}-{i}" if apart else name,
                "title": title,
                "rows": [_row(row, columns) for row in plain_rows(rows)],
            }
            for i, (title, rows) in enumerate(groups)
        ],
        "filter_from": _FILTER_FROM_ROWS,
        "notes": source.note.splitlines(),
    }


def _columns(source: Table) -> tuple[Column, ...]:
    if source.group_by is None or source.group_by in {column.key for column in source.columns}:
        return source.columns
    unit = [Column("unit", "unit")] if "unit" in source.frame else []
    return (Column(source.group_by, source.group_by), *unit, *source.columns)


def _row(row: Mapping[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    failed = row.get("status") not in (None, "ok", "equal", "differs")
    return {"failed": failed, "cells": [_cell(row, column) for column in columns]}


def _cell(row: Mapping[str, Any], column: Column) -> dict[str, Any]:
    shown = column.write(row[column.key])
    side = "right" if column.right else "long" if column.elastic and len(shown) > _LONG_CHARACTERS else None
    return {"shown": shown, "side": side, "sort": _sort_value(row, column) if column.right else None}


def _sort_value(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(_SORTED_BY.get(column.key, column.key), row[column.key])
    if isinstance(value, float):
        return f"{value:.7g}"
    return repr(value) if isinstance(value, int) else ""
