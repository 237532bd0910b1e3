"""Tables of strings that lie beside a test: a case a line, cells between tabs."""

from __future__ import annotations

from pathlib import Path


def rows_of(test: str, name: str) -> list[tuple[str, ...]]:
    """Return the rows of the table `name` beside the file of a test, without the line that says what it is."""
    _, *lines = (Path(test).parent / name).read_text("utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]
