"""`bpebench list`: implementations, models, corpora, patterns, formats and workloads."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pkgutil import resolve_name
from typing import Any

import click

import impls
from harness.commands import options
from harness.commands.verb import Verb, argument
from harness.printable import printable
from impls.core.text.patterns import NAMED

_WIDTH = 100
_LONG = ("about", "parts", "expression")
"""Cells shown below their row, indented, because they are too long for a column."""
_IN_THE_NAME = ("task", "model", "corpus")
"""Columns left out because the name of a workload already has them; --json gives them."""


def _implementations() -> list[dict[str, Any]]:
    from harness.targets.availability import availability

    return [asdict(availability(name)) for name in impls.names()]


def _patterns() -> list[dict[str, Any]]:
    return [{"name": name, "expression": " then ".join(stages) or "(no cut)"} for name, stages in NAMED.items()]


def _formats() -> list[dict[str, Any]]:
    from impls.formats import READ_ONLY, formats

    return [{"name": name, "converts_to_it": name not in READ_ONLY} for name in (*formats(), *READ_ONLY)]


def _workloads() -> list[dict[str, Any]]:
    from harness.measure.workloads import load_workloads

    return [
        {"name": w.name, "task": w.task, "model": w.model, "corpus": w.corpus, "profiles": list(w.profiles)}
        for w in load_workloads()
    ]


_SECTIONS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "implementations": _implementations,
    "models": lambda: resolve_name("harness.data:describe_models")(),
    "corpora": lambda: resolve_name("harness.data:describe_corpora")(),
    "patterns": _patterns,
    "formats": _formats,
    "workloads": _workloads,
}


class List(Verb):
    """List implementations, models, corpora, patterns, formats and workloads: their names, or one section in full."""

    what: str | None = argument(required=False, type=click.Choice(list(_SECTIONS)), metavar="[SECTION]")

    def run(self) -> None:
        """Print the chosen sections."""
        sections = {name: section() for name, section in _SECTIONS.items() if self.what in (None, name)}
        if self.what is None:
            lines = [*_names(sections), "", "`bpebench list models`, `list corpora`, … describe each name."]
        else:
            lines = list(_lines(sections[self.what]))
        self.output(sections, "\n".join(map(printable, lines)))


def _names(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Yield each section's number of rows and their names; of workloads, which are many, only the first part."""
    for section, rows in sections.items():
        names = (row["name"].partition("/")[0] if section == "workloads" else row["name"] for row in rows)
        line = f"{section} ({len(rows)}): {', '.join(dict.fromkeys(names))}"
        yield from textwrap.wrap(line, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of at most `_WIDTH` columns, each row followed by its long cells."""
    if not rows:
        return
    columns = [key for key in rows[0] if key not in _LONG + _IN_THE_NAME]
    cells = [[_cell(row[key]) for key in columns] for row in rows]
    head, rule, *lines = options.table(cells, [key.replace("_", " ") for key in columns]).split("\n")
    yield from (head, rule)
    for line, row in zip(lines, rows, strict=True):
        yield line.rstrip()
        for key in _LONG:
            yield from textwrap.wrap(_cell(row.get(key, "")), _WIDTH, initial_indent="    ", subsequent_indent="    ")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(value) if isinstance(value, list) else str(value or "")
