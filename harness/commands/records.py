"""Records of a run as `report` and `tour` show them: a line for each that matches, or in full."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

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


def chosen_records(
    records: Sequence[AnyRecord], implementation: str | None, exclude: str | None, workload: str | None
) -> list[AnyRecord]:
    """Return the records whose implementations and workload match; those without any match."""
    return [record for record in records if _matches(record, implementation, exclude, workload)]


def _matches(record: AnyRecord, implementation: str | None, exclude: str | None, workload: str | None) -> bool:
    who = [name for key in ("implementation", "a", "b") if (name := getattr(record, key, ""))]
    where = getattr(record, "workload", None)
    return (
        all(options.matches(implementation, name) for name in who)
        and not (exclude is not None and any(options.matches(exclude, name) for name in who))
        and (where is None or options.matches(workload, where))
    )


def show_records(
    folder: Path,
    records: Sequence[AnyRecord],
    numbers: Sequence[int],
    implementation: str | None,
    exclude: str | None,
    workload: str | None,
    *,
    as_json: bool,
) -> None:
    """Print the records that match, one numbered line each, or those of `numbers` in full."""
    import msgspec

    if beyond := [number for number in numbers if number > len(records)]:
        raise click.UsageError(f"{folder} has {len(records)} records, so none with number {beyond[0]}")
    chosen = [
        (number, msgspec.to_builtins(record))
        for number, record in enumerate(records, 1)
        if (number in numbers if numbers else _matches(record, implementation, exclude, workload))
    ]
    if as_json or numbers:
        options.print_json({"records": [{"number": number, **record} for number, record in chosen]})
        return
    rows = [
        [number, record["kind"], _who(record), _what(record), record.get("status", "")] for number, record in chosen
    ]
    click.echo(options.table(rows, ["", "kind", "who", "what", "status"]))


def print_records(records: Sequence[AnyRecord]) -> None:
    """Print records as one JSON document."""
    import msgspec

    options.print_json({"records": msgspec.to_builtins(records)})


def _who(record: Mapping[str, object]) -> str:
    return str(record.get("implementation") or f"{record.get('a')}, {record.get('b')}")


def _what(record: Mapping[str, object]) -> str:
    if "workload" in record:
        return f"{record['workload']}, round {record.get('round', 0)}"
    return f"{record.get('model', '')} on {record.get('corpus', '')}"
