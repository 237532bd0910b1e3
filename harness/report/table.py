"""A table: a frame of raw values, and how each column is headed, formatted and aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from harness.printable import printable
from harness.report import wording

Row = dict[str, Any]
"""Raw values of one row by column."""


@dataclass(frozen=True, slots=True)
class Column:
    """How to show one column of a frame."""

    key: str
    heading: str
    write: Callable[[Any], str] = wording.text
    right: bool = False
    elastic: bool = False
    """May be cut short on a narrow terminal (reasons, texts)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A titled frame. `frame` holds raw values, one row per line; `columns` says what is shown and how."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    columns: tuple[Column, ...] = ()
    group_by: str | None = None
    """A column of the frame whose values become headings over their rows."""
    group_title: dict[str, str] = field(default_factory=dict)

    def groups(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Return (heading, rows) in order of appearance; one group without heading where nothing groups."""
        if self.group_by is None:
            yield "", self.frame
            return
        for value in self.frame[self.group_by].unique():
            yield wording.text(self.group_title.get(value, value)), self.frame[self.frame[self.group_by] == value]

    def written(self, rows: pd.DataFrame) -> list[list[str]]:
        """Return the formatted cells of `rows`."""
        return [[printable(column.write(row[column.key])) for column in self.columns] for row in plain_rows(rows)]


def plain_rows(frame: pd.DataFrame) -> list[Row]:
    """Return rows as dicts of plain Python values, None for what is absent."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    if wording.is_absent(value):
        return None
    return value.item() if hasattr(value, "item") else value


def frame_of(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Return a frame with exactly these columns, even without rows; absent values stay None."""
    return pd.DataFrame({key: pd.Series([row.get(key) for row in rows], dtype=object) for key in columns})
