"""Options of the verbs that count text of any size: how files are read, with how much memory, and weights."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import click

from harness.commands import options
from harness.commands.verb import flag, option

_UNITS = {"": 1} | {f"{letter}{end}": 1000**n for n, letter in enumerate("kmgt", 1) for end in ("", "b")}
_UNITS |= {"b": 1} | {f"{letter}ib": 1024**n for n, letter in enumerate("kmgt", 1)}


class _Size(click.ParamType[int]):
    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", str(value).lower())
        if found is None or found[2] not in _UNITS or (size := int(float(found[1]) * _UNITS[found[2]])) < 1:
            self.fail(f"{value!r} is no size; write it like 256MiB or 2GB", param, ctx)
        return size


counts = option("File written by `count`; repeatable.", "--counts", type=options.FILE, multiple=True)
weight = option(
    "Multiply the counts of a corpus or file, as named here; repeatable.", multiple=True, metavar="NAME=NUMBER"
)
documents = option(
    "What a document of a text file is; no piece spans two.",
    type=click.Choice(["paragraphs", "lines"]),
    default="paragraphs",
)
field = option("Field of JSON lines, column of Parquet.", "--field", "--column", default="text", metavar="NAME")
decoding_errors = option(
    "Bytes that are not UTF-8: an error, or U+FFFD.",
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
)
memory_limit = option(
    "Memory for tables; more goes through files.  [default: half of what is free]", type=_Size(), metavar="SIZE"
)

workers = option("Count in so many processes, in place of threads.", type=options.POSITIVE, metavar="N")
scheduler = option("Count on the workers of a Dask cluster.", metavar="tcp://HOST:PORT")
resume = flag("Go on with a count that was interrupted.")


def weights(given: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return the values of --weight by name; raise for another name, or what is not a positive number."""
    found: dict[str, float] = {}
    for entry in given:
        name, _, number = entry.rpartition("=")
        options.ensure(name in names, f"--weight {entry}: {name!r} is not counted here; there are {', '.join(names)}")
        try:
            found[name] = float(number)
        except ValueError:
            raise click.UsageError(f"--weight {entry}: {number!r} is not a number") from None
        options.ensure(0 < found[name] < math.inf, f"--weight {entry}: must be a positive number")
    return found
