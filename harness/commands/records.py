"""Records of a run as `report` and `tour` show them: a line for each that matches, or in full."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from harness.commands import options
from harness.records import AnyRecord

DEFAULT_OUT = Path("results/local")
"""Default folder of `run`."""


def newest_run() -> Path:
    """Return `results/local`, or the newest folder in it that holds records."""
    from harness.records import RECORDS_FILE, RecordError

    found = [DEFAULT_OUT / RECORDS_FILE, *DEFAULT_OUT.glob(f"*/{RECORDS_FILE}")]
    found = [path for path in found if path.is_file()]
    if not found:
        raise RecordError(f"no run in {DEFAULT_OUT}; make one with `bpebench run`, or name its folder")
    return max(found, key=lambda path: path.stat().st_mtime).parent


def terminal_width() -> int | None:
    """Return the columns of the terminal; None where the output is not a terminal, so that nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


class Choice(NamedTuple):
    """Which records to show: regular expressions of implementations and workloads, None for any."""

    implementation: str | None
    exclude: str | None
    workload: str | None

    def matches(self, record: AnyRecord) -> bool:
        """Return whether the implementations of a record and its workload, where it has one, are chosen."""
        who = [name for key in ("implementation", "a", "b") if (name := getattr(record, key, ""))]
        where = getattr(record, "workload", None)
        return (
            all(options.matches(self.implementation, name) for name in who)
            and not (self.exclude is not None and any(options.matches(self.exclude, name) for name in who))
            and (where is None or options.matches(self.workload, where))
        )


def show_records(
    folder: Path, records: Sequence[AnyRecord], numbers: Sequence[int], choice: Choice, *, as_json: bool
) -> None:
    """Print the records chosen, one numbered line each, or those of `numbers` in full."""
    import msgspec

    if beyond := [number for number in numbers if number > len(records)]:
        raise click.UsageError(f"{folder} has {len(records)} records, so none with number {beyond[0]}")
    chosen = [
        {"number": number, **msgspec.to_builtins(record)}
        for number, record in enumerate(records, 1)
        if (number in numbers if numbers else choice.matches(record))
    ]
    if as_json or numbers:
        options.print_json({"records": chosen})
        return
    rows = [[r["number"], r["kind"], _who(r), _what(r), r.get("status", "")] for r in chosen]
    click.echo(options.table(rows, ["", "kind", "who", "what", "status"]))


def _who(record: Mapping[str, object]) -> str:
    return str(record.get("implementation") or f"{record.get('a')}, {record.get('b')}")


def _what(record: Mapping[str, object]) -> str:
    if "workload" in record:
        return f"{record['workload']}, round {record.get('round', 0)}"
    return f"{record.get('model', '')} on {record.get('corpus', '')}"
