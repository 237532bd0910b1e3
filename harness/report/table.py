"""A table: raw values by row, with the heading, format and alignment of each column; and the last of records."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from harness.grouping import grouped
from harness.printable import printable
from harness.records import of_kind
from harness.report import wording

Row = dict[str, Any]
"""Raw values of one row by column."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """How to show one column."""

    key: str
    heading: str
    write: Callable[..., str] = wording.text
    right: bool = False
    elastic: bool = False
    """Whether the column may be shortened on a narrow terminal (reasons, texts)."""
    meaning: str = ""
    """What the heading means; the legend has it where the column is shown."""
    of: Sequence[str] = ()
    """Keys of the values that `write` takes, if not the column's own."""
    workload: str = ""
    """The workload whose figures it shows; empty if rows or cells say that."""

    @property
    def keys(self) -> Sequence[str]:
        """Return the keys of the values it shows; it is sorted by the first."""
        return self.of or (self.key,)

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the formatted cell of a row."""
        return printable(self.write(*map(row.get, self.keys)))


@dataclass(frozen=True, slots=True)
class Table:
    """Titled rows of raw values, all with the same keys; `columns` says which are shown and how."""

    name: str
    title: str
    rows: Sequence[Row]
    note: str = ""
    columns: tuple[Column, ...] = ()
    group_by: str | None = None
    """The key whose values become headings above their rows."""
    group_title: Mapping[str, str] = field(default_factory=dict)
    left_out: str = ""
    """Lines on what has no row; a selection of the rows goes without them."""

    def groups(self) -> Iterator[tuple[str, Sequence[Row]]]:
        """Return (heading, rows) in order of appearance; a single group without heading if there is no `group_by`."""
        if self.group_by is None:
            yield "", self.rows
            return
        for value, rows in grouped(self.rows, itemgetter(self.group_by)).items():
            yield wording.text(self.group_title.get(value, value)), rows

    @property
    def legend(self) -> str:
        """Return what the headings of the columns mean, and the note."""
        meanings = "; ".join(column.meaning for column in self.columns if column.meaning)
        return (f"{meanings}. {self.note}" if meanings else self.note) + self.left_out

    def written(self, rows: Iterable[Row]) -> list[list[str]]:
        """Return the formatted cells of `rows`."""
        return [[column.cell(row) for column in self.columns] for row in rows]


_FIGURES = (
    "figure", "count", "percent", "money", "size", "duration", "plus_minus", "interval", "compared", "pair", "sure",
    "word_or_figure",
)  # fmt: skip
"""Functions of `wording` that format figures, which are aligned to the right."""
_NUMBER = re.compile(r"(?:[≈<≥−-]? ?[\d.,]+(?:[ %×a-zA-Zµ]{0,4})?(?: ± (?:[\d.,e-]+|\?))?|—|)")


@cache
def declared() -> dict[str, dict[str, Any]]:
    """Return what `tables.toml` says, by table."""
    return tomllib.loads((files("harness.report") / "tables.toml").read_text(encoding="utf-8"))


def _column(key: str, heading: str = "", write: str = "text", right: bool = False, **more: Any) -> Column:
    return Column(key, heading or key, getattr(wording, write), right or write in _FIGURES, **more)


def declared_columns(name: str) -> list[Column]:
    """Return the columns that `tables.toml` has for a table."""
    return [_column(**column) for column in declared()[name]["columns"]]


def table_of(
    name: str,
    rows: Sequence[Row],
    columns: Iterable[Column] | None = None,
    *,
    without: Collection[str] = (),
    group_title: Mapping[str, str] | None = None,
    left_out: str = "",
    **words: str,
) -> Table:
    """Return the table `name` of `tables.toml`, with its rows in order.

    `columns` are given for a table whose columns depend on its rows; those named in `without` are not shown. `words`
    fill the braces of headings, title and note.
    """
    about = declared()[name]
    keys = dict.fromkeys(key for row in rows for key in row)
    if columns is None:
        optional = about.get("optional", ())
        columns = [
            replace(column, heading=column.heading.format(**words))
            for column in declared_columns(name)
            if column.key not in without
            if column.key not in optional or any(column.cell(row) not in ("", wording.ABSENT) for row in rows)
        ]
    return Table(
        name=name,
        title=about["title"].format(**words),
        rows=[{key: row.get(key) for key in keys} for row in rows],
        note=about.get("note", "").format(**words),
        columns=tuple(columns),
        group_by=about.get("group_by"),
        group_title=group_title or {},
        left_out=left_out,
    )


def plain_table(headings: Sequence[str], cells: Iterable[Sequence[object]]) -> Table:
    """Return a table of these headings and cells, which `tables.toml` need not declare; figures are to the right."""
    rows = [{str(i): printable(cell) for i, cell in enumerate(row)} for row in cells]
    columns = [
        Column(str(i), printable(heading), right=bool(rows) and all(_NUMBER.fullmatch(row[str(i)]) for row in rows))
        for i, heading in enumerate(headings)
    ]
    return Table("", "", rows, columns=tuple(columns))


def ratio(part: float, total: float) -> float | None:
    """Return the ratio of two numbers; None if `total` is 0."""
    return part / total if total else None


def latest(records: Iterable[object], kind: type[T], *fields: str) -> list[T]:
    """Return the last record of a kind for each value of `fields`, in order of first appearance."""
    key = attrgetter(*fields)
    return list({key(record): record for record in of_kind(records, kind)}.values())
