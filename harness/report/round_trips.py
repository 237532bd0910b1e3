"""How tables mark a model that does not give every text back: by `normalising` or `lossy` after its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.records import Compression, Measurement, Verdict
from harness.report.table import Table


def recorded(records: Iterable[object]) -> dict[str, str]:
    """Map model -> round trip, for the models whose records have it."""
    kinds = (Compression, Measurement, Verdict)
    return {r.model: r.round_trip for r in records if isinstance(r, kinds) and r.round_trip}


def named(shown: str, round_trip: str) -> str:
    """Return the label of a model, with its round trip unless that is exact.

    >>> named("mistral-v1", "normalising"), named("gpt2", "exact")
    ('mistral-v1 (normalising)', 'gpt2')
    """
    return shown if round_trip in ("", "exact") else f"{shown} ({round_trip})"


def with_round_trips(table: Table, known: Mapping[str, str]) -> Table:
    """Mark the models in the cells of `table` and in the headings of its groups."""
    titles = dict(table.group_title)
    if table.group_by in ("model", "workload"):
        for row in table.rows:
            group = row[table.group_by]
            titles[group] = named(table.group_title.get(group, group), known.get(row["model"], ""))
    columns = tuple(
        replace(column, write=_marked(column.write, known)) if column.key == "model" else column
        for column in table.columns
    )
    return replace(table, columns=columns, group_title=titles)


def _marked(write: Callable[[Any], str], known: Mapping[str, str]) -> Callable[[Any], str]:
    return lambda model: named(write(model), known.get(model, ""))
