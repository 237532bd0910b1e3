"""The markers of a README's generated parts.

A block begins with `<!-- generated:NAME run:results/RUN -->` and ends with `<!-- /generated -->`. NAME is a table
(`bpebench report RUN --json` lists them), `headlines` or `chart-throughput`. Further words of a marker: `only:REGEX`
keeps the groups of a table (its implementations, if it has no groups) that match, `only:ID` one of the headlines, and
`columns:KEY,KEY` the columns of a table. The table `overview` may be of several runs of one machine (`run:A,B`): the
figures of a workload are those of the last of them that has it, all else is the first run's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

from harness.records import RecordError

_MARKER = re.compile(
    r"^<!-- generated:(?P<words>[^\n]*?) -->[ \t]*$|^<!-- (?P<end>/generated) -->[ \t]*$", re.MULTILINE
)
_WORDS = ("run", "only", "columns")


class ReadmeError(RecordError):
    """Raised for an invalid marker; the message names its line."""


@dataclass(frozen=True, slots=True)
class Block:
    """One generated part of a README."""

    name: str
    line: int
    """Line of its opening marker, from 1."""
    start: int
    """Offset of the line after the opening marker."""
    end: int
    """Offset of the closing marker."""
    runs: tuple[str, ...]
    only: str = ""
    columns: str = ""
    """Keys with commas between them; empty for all columns."""


def blocks(text: str) -> list[Block]:
    """Return the generated parts of `text` in order; raise `ReadmeError` for an unpaired or invalid marker."""
    markers = list(_MARKER.finditer(text))
    return [_block(*pair, text) for pair in zip_longest(markers[::2], markers[1::2])]


def _block(opening: re.Match[str], closing: re.Match[str] | None, text: str) -> Block:
    line = text.count("\n", 0, opening.start()) + 1
    if opening["end"]:
        raise ReadmeError(f"line {line}: <!-- /generated --> closes nothing")
    name, *words = opening["words"].split()
    if closing is None or not closing["end"]:
        raise ReadmeError(f"line {line}: generated:{name} is not closed by <!-- /generated -->")
    pairs = dict(word.partition(":")[::2] for word in words)
    runs = tuple(filter(None, pairs.get("run", "").split(",")))
    if unknown := [word for word in pairs if word not in _WORDS]:
        raise ReadmeError(f"line {line}: {unknown[0]!r} means nothing in a marker; known: {', '.join(_WORDS)}")
    if not runs:
        raise ReadmeError(f"line {line}: generated:{name} has no run; add run:results/NAME")
    if len(runs) > 1 and name != "overview":
        raise ReadmeError(f"line {line}: generated:{name} is of one run; only the overview may be of several")
    try:
        re.compile(pairs.get("only", ""))
    except re.error as error:
        raise ReadmeError(f"line {line}: {error}") from None
    place = opening.end() + 1, closing.start()
    return Block(name, line, *place, runs, pairs.get("only", ""), pairs.get("columns", ""))
