"""How tables show each model's round trip: exact, normalising or lossy.

An exact model is shown by its name alone; for others the word follows the name. If a run did not record it, it is taken
from the catalogue of published vocabularies; for any other model it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from harness.data.catalogue import vocabulary_named
from harness.outcome import Outcome
from harness.records import Compression, Measurement, Verdict
from harness.report import wording
from harness.report.table import Table, grouped

_MEANING = {
    "exact": "every text decodes to itself",
    "normalising": "it decodes to a normal form",
    "lossy": "it loses something",
}


def recorded(records: Iterable[object]) -> dict[str, str]:
    """Map model -> round trip, for the models whose records have it."""
    kinds = (Compression, Measurement, Verdict)
    return {r.model: r.round_trip for r in records if isinstance(r, kinds) and r.round_trip}


def round_trip(model: str, known: Mapping[str, str]) -> str:
    """Return `exact`, `normalising` or `lossy`, or an empty string if unknown."""
    if model in known:
        return known[model]
    vocabulary = vocabulary_named(model)
    return "" if vocabulary is None else vocabulary.round_trip


def named(shown: str, round_trip: str) -> str:
    """Return the label of a model, with its round trip unless that is exact.

    >>> named("mistral-v1", "normalising"), named("gpt2", "exact")
    ('mistral-v1 (normalising)', 'gpt2')
    """
    return shown if round_trip in ("", "exact") else f"{shown} ({round_trip})"


def note(round_trips: Mapping[str, str]) -> str:
    """Return the note that explains the names, from a map model -> round trip; empty if none is known.

    >>> note({"gpt2": "exact", "mine": ""})
    "Round trip, derived from the models' rules: exact; not recorded of mine."
    """
    found = set(round_trips.values())
    if not any(found):
        return ""
    meanings = [f"{name}: {meaning}" for name, meaning in _MEANING.items() if name in found and name != "exact"]
    unknown = [model for model, name in round_trips.items() if not name]
    parts = [f"exact, but where a name says otherwise ({'; '.join(meanings)})" if meanings else "exact"]
    parts += [f"not recorded of {', '.join(unknown)}"] if unknown else []
    return f"Round trip, derived from the models' rules: {'; '.join(parts)}."


def with_round_trips(table: Table, known: Mapping[str, str]) -> Table:
    """Add each model's round trip to `table`, if it names models."""
    if not table.rows or "model" not in table.rows[0] or "round_trip" in table.rows[0]:
        return table
    by_model = {row["model"]: round_trip(row["model"], known) for row in table.rows if row["model"]}
    titles = dict(table.group_title)
    if table.group_by in ("model", "workload"):
        for group, rows in grouped(table.rows, itemgetter(table.group_by)).items():
            of_group = {by_model.get(row["model"], "") for row in rows}
            if len(of_group) == 1:
                titles[group] = named(titles.get(group, group), of_group.pop())
    columns = tuple(
        replace(column, write=_with_round_trip(column.write, by_model)) if column.key == "model" else column
        for column in table.columns
    )
    run = [row["model"] for row in table.rows if row.get("status", Outcome.RIGHT) is Outcome.RIGHT]
    added = note({model: by_model[model] for model in run if model in by_model})
    return replace(
        table,
        rows=[row | {"round_trip": by_model.get(row["model"], "")} for row in table.rows],
        columns=columns,
        group_title=titles,
        note=_joined(table.note, added),
    )


def _joined(first: str, second: str) -> str:
    """Join two notes with a full stop between them."""
    stop = "" if not first or first.endswith((".", "!", "?")) else "."
    return f"{first}{stop} {second}".strip() if second else first


def _with_round_trip(write: Callable[[Any], str], by_model: Mapping[str, str]) -> Callable[[Any], str]:
    return lambda model: wording.ABSENT if wording.is_absent(model) else named(write(model), by_model.get(model, ""))
