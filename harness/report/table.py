"""A table: a frame of raw values, with the heading, format and alignment of each column; and grouping of records."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any, TypeVar

import pandas as pd

from harness.printable import printable
from harness.records import of_kind
from harness.report import wording

Row = dict[str, Any]
"""Raw values of one row by column."""
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Column:
    """How to show one column of a frame."""

    key: str
    heading: str
    write: Callable[[Any], str] = wording.text
    right: bool = False
    elastic: bool = False
    """Whether the column may be shortened on a narrow terminal (reasons, texts)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A titled frame. `frame` holds raw values, one row per line; `columns` says which are shown and how."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    columns: tuple[Column, ...] = ()
    group_by: str | None = None
    """A column of the frame whose values become headings above their rows."""
    group_title: dict[str, str] = field(default_factory=dict)

    def groups(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Return (heading, rows) in order of appearance; a single group without heading if there is no `group_by`."""
        if self.group_by is None:
            yield "", self.frame
            return
        for value in self.frame[self.group_by].unique():
            yield wording.text(self.group_title.get(value, value)), self.frame[self.frame[self.group_by] == value]

    def written(self, rows: pd.DataFrame) -> list[list[str]]:
        """Return the formatted cells of `rows`."""
        return [[printable(column.write(row[column.key])) for column in self.columns] for row in plain_rows(rows)]


_FIGURES = ("figure", "count", "percent", "money", "size", "duration", "plus_minus", "middle", "percent_of")
"""Functions of `wording` that format figures."""


@cache
def _declared() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("harness.report") / "tables.toml").read_text(encoding="utf-8"))


def _column(
    key: str, heading: str | None = None, write: str = "text", right: bool = False, elastic: bool = False
) -> Column:
    heading = key if heading is None else heading
    return Column(key, heading, getattr(wording, write), right or write in _FIGURES, elastic)


def table_of(
    name: str,
    rows: Sequence[Row],
    columns: Iterable[Column] | None = None,
    *,
    without: Collection[str] = (),
    group_title: Mapping[str, str] | None = None,
    **words: str,
) -> Table:
    """Return the table `name` of `tables.toml`; `rows` have the frame's columns, in order.

    `columns` are given for a table whose columns depend on its rows; those named in `without` are not shown. `words`
    fill the braces of headings, title and note.
    """
    declared = _declared()[name]
    declared = _declared()[declared["like"]] | declared if "like" in declared else declared
    keys = dict.fromkeys(key for row in rows for key in row)
    # Series of objects keep None and integers as they are; a frame of rows would turn them into floats.
    frame = pd.DataFrame({key: pd.Series([row.get(key) for row in rows], dtype=object) for key in keys})
    if columns is None:
        silent = {key for key in declared.get("optional", ()) if not any(row.get(key) for row in rows)}
        columns = [_column(**column) for column in declared["columns"] if column["key"] not in {*without, *silent}]
        columns = [replace(column, heading=column.heading.format(**words)) for column in columns]
    return Table(
        name=name,
        title=declared["title"].format(**words),
        frame=frame,
        note=declared.get("note", "").format(**words),
        columns=tuple(columns),
        group_by=declared.get("group_by"),
        group_title=dict(group_title or {}),
    )


def triangle(who: str, names: Sequence[str], cells: Mapping[frozenset[str], str]) -> list[Row]:
    """Return the rows of a matrix of pairs: number, name (under `who`), and the cell with each name before it."""
    return [
        {"number": i + 1, who: name}
        | {f"vs {one}": cells.get(frozenset((name, one)), "n/a") if j < i else "" for j, one in enumerate(names[:-1])}
        for i, name in enumerate(names)
    ]


def triangle_columns(who: str, names: Sequence[str], write: Callable[[Any], str] = wording.text) -> Iterator[Column]:
    """Yield the columns of `triangle`, whose cells are formatted by `write`."""
    yield Column("number", "", str, right=True)
    yield Column(who, who)
    for number, name in enumerate(names[:-1], 1):
        yield Column(f"vs {name}", f"{number}", write)


def plain_rows(frame: pd.DataFrame) -> list[Row]:
    """Return rows as dicts of plain Python values, None for missing ones."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    if wording.is_absent(value):
        return None
    return value.item() if hasattr(value, "item") else value


def ratio(part: float, whole: float) -> float | None:
    """Return the ratio of two numbers; None if `whole` is 0."""
    return part / whole if whole else None


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the items by key, both in order of appearance."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def latest(records: Iterable[object], kind: type[T], *fields: str) -> list[T]:
    """Return the last record of a kind for each value of `fields`, in order of first appearance."""
    key = attrgetter(*fields)
    return list({key(record): record for record in of_kind(records, kind)}.values())
