"""The markers of a README's generated parts.

A block begins with `<!-- generated:NAME run:results/RUN -->` and ends with `<!-- /generated -->`. NAME is a table
(`bpebench report RUN --json` lists them), `headlines` or `chart-throughput`. Further words of a marker: `only:REGEX`
keeps the groups of a table (its implementations, if it has no groups) that match, `only:ID` one of the headlines, and
`columns:KEY,KEY` the columns of a table. The table `overview` may be of several runs of one machine (`run:A,B`): the
figures of a workload are those of the last of them that has it, all else is the first run's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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
    closed: list[Block] = []
    open_: Block | None = None
    for match in _MARKER.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if open_ is not None and match["end"]:
            closed.append(replace(open_, end=match.start()))
            open_ = None
        elif match["end"]:
            raise ReadmeError(f"line {line}: <!-- /generated --> closes nothing")
        elif open_ is not None:
            break
        else:
            open_ = _opened(match, line)
    if open_ is not None:
        raise ReadmeError(f"line {open_.line}: generated:{open_.name} is not closed by <!-- /generated -->")
    return closed


def _opened(match: re.Match[str], line: int) -> Block:
    name, *words = match["words"].split()
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
    start = match.end() + 1
    return Block(name, line, start, start, runs, pairs.get("only", ""), pairs.get("columns", ""))
