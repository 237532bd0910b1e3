"""What a table is: a frame of raw values, and how each column is headed, written and aligned."""

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
    """How one column of a frame is shown."""

    key: str
    heading: str
    write: Callable[[Any], str] = wording.text
    right: bool = False
    elastic: bool = False
    """May be cut short on a narrow terminal (reasons, texts)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A titled frame. `frame` holds raw values, one row a line; `columns` says what is shown and how."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    columns: tuple[Column, ...] = ()
    group_by: str | None = None
    """A column of the frame whose values become headings, each over its own rows."""
    group_title: dict[str, str] = field(default_factory=dict)

    def groups(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """(heading, rows) in order of appearance; one group without heading where nothing groups."""
        if self.group_by is None:
            yield "", self.frame
            return
        for value in self.frame[self.group_by].unique():
            yield wording.text(self.group_title.get(value, value)), self.frame[self.frame[self.group_by] == value]

    def written(self, rows: pd.DataFrame) -> list[list[str]]:
        """The cells of `rows` as shown."""
        return [[printable(column.write(row[column.key])) for column in self.columns] for row in plain_rows(rows)]


def plain_rows(frame: pd.DataFrame) -> list[Row]:
    """Rows as dicts of plain Python values, None for what is absent."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    if wording.is_absent(value):
        return None
    return value.item() if hasattr(value, "item") else value


def frame_of(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """A frame with exactly these columns, also where there are no rows; absent values stay None."""
    return pd.DataFrame({key: pd.Series([row.get(key) for row in rows], dtype=object) for key in columns})
