"""`bpebench list`: implementations, models, corpora, patterns, formats, workloads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

import impls
from harness.commands import options
from impls.core.text.patterns import NAMED

_MATRIX = "matrix"
_WIDTH = 100
_LONG = ("about", "parts", "expression")
"""What is shown below its row, indented: too long for a column."""
_IN_THE_NAME = ("task", "model", "corpus")
"""What the name of a workload says already; --json gives them."""


@click.command("list")
@click.argument(
    "what",
    required=False,
    type=click.Choice(["implementations", "models", "corpora", "patterns", "formats", "workloads", _MATRIX]),
)
@options.implementations
@options.models
@options.as_json
def command(
    what: str | None, implementation: str | None, exclude: str | None, models: tuple[str, ...], as_json: bool
) -> None:
    """List implementations, models, corpora, patterns, formats, workloads.

    `bpebench list matrix` tries every implementation (-e, -E) on every cached model (-m) and shows which runs which,
    with the reason where one cannot, and the round trip. That takes a few seconds per model.
    """
    if what == _MATRIX:
        from harness.commands.check import default_models
        from harness.commands.list_matrix import list_matrix
        from harness.data import available_models

        chosen = options.choose_implementations(implementation, exclude)
        list_matrix(chosen, models or available_models() or default_models(), as_json=as_json)
        return
    if implementation is not None or exclude is not None or models:
        raise click.UsageError(f"-e, -E and -m go with `bpebench list {_MATRIX}`")
    sections = {
        "implementations": _implementations,
        "models": _models,
        "corpora": _corpora,
        "patterns": _patterns,
        "formats": _formats,
        "workloads": _workloads,
    }
    found = {name: section() for name, section in sections.items() if what in (None, name)}
    if as_json:
        options.print_json(found)
        return
    for name, rows in found.items():
        click.echo(f"{name}\n")
        for line in _lines(rows):
            options.say(line)
        click.echo()


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of at most `_WIDTH` columns, each row followed by its long cells."""
    if not rows:
        return
    columns = [key for key in rows[0] if key not in _LONG + _IN_THE_NAME]
    cells = [[_cell(row[key]) for key in columns] for row in rows]
    table = options.table(cells, [key.replace("_", " ") for key in columns])
    head, rule, *lines = table.split("\n")
    yield from (head, rule)
    for line, row in zip(lines, rows, strict=True):
        yield line.rstrip()
        for key in _LONG:
            yield from textwrap.wrap(_cell(row.get(key, "")), _WIDTH, initial_indent="    ", subsequent_indent="    ")


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _implementations() -> list[dict[str, Any]]:
    from impls.registry import availability

    return [asdict(availability(name)) for name in impls.names()]


def _models() -> list[dict[str, Any]]:
    from harness.data import describe_models

    return describe_models()


def _corpora() -> list[dict[str, Any]]:
    from harness.data import describe_corpora

    return describe_corpora()


def _patterns() -> list[dict[str, Any]]:
    return [{"name": name, "expression": " then ".join(stages) or "(no cut)"} for name, stages in NAMED.items()]


def _formats() -> list[dict[str, Any]]:
    from impls.formats import READ_ONLY, formats

    written = [{"name": name, "converts_to_it": True} for name in formats()]
    return written + [{"name": name, "converts_to_it": False} for name in READ_ONLY]


def _workloads() -> list[dict[str, Any]]:
    from harness.measure.templates import load_workloads

    return [
        {
            "name": w.name,
            "task": w.task,
            "model": w.model,
            "corpus": w.corpus,
            "profiles": list(w.profiles),
        }
        for w in load_workloads()
    ]
