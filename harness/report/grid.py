"""Text laid out in columns: the one look of every table on a terminal. Light, so that any verb can print a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from tabulate import tabulate

Side = Literal["left", "right"]
_NUMBER = re.compile(r"[≈<≥−-]? ?[\d.,]+(?:[ %×a-zA-Zµ]{0,4})?(?: ± (?:[\d.,e-]+|\?))?|—|")


def grid(headings: Sequence[str], cells: Sequence[Sequence[str]], sides: Sequence[Side] | None = None) -> str:
    """Return a plain table that is never cut or wrapped; columns of figures are aligned to the right by default."""
    if sides is None:
        columns = list(zip(*cells, strict=True)) or [()] * len(headings)
        sides = ["right" if column and all(map(_NUMBER.fullmatch, column)) else "left" for column in columns]
    rule = ["─" * width for width in widths(headings, cells)]
    text = tabulate([headings, rule, *cells], tablefmt="plain", disable_numparse=True, colalign=sides)
    return "\n".join(line.rstrip() for line in text.splitlines())


def widths(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column."""
    return [max([len(heading), *(len(row[i]) for row in cells)]) for i, heading in enumerate(headings)]
