"""`bpebench show`: the records of a run as they are, one by one."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.argument("numbers", nargs=-1, type=click.IntRange(min=1))
@click.option("-e", "--implementation", metavar="REGEX", help="Only records of implementations that match.")
@click.option("-w", "--workload", metavar="REGEX", help="Only measurements of workloads that match.")
@options.as_json
def command(
    run: Path, numbers: tuple[int, ...], implementation: str | None, workload: str | None, as_json: bool
) -> None:
    """List the records of RUN, a line each with its number; with NUMBERS show those in full, raw samples included."""
    import msgspec

    from harness.records import read_records

    records = [(number, msgspec.to_builtins(record)) for number, record in enumerate(read_records(run), 1)]
    if numbers:
        if beyond := [number for number in numbers if number > len(records)]:
            raise click.UsageError(f"{run} has {len(records)} records, so none with number {beyond[0]}")
        options.print_json({"records": [{"number": number, **records[number - 1][1]} for number in numbers]})
        return
    chosen = [
        (number, record)
        for number, record in records
        if options.matches(implementation, _who(record)) and options.matches(workload, record.get("workload", ""))
    ]
    if as_json:
        options.print_json({"records": [{"number": number, **record} for number, record in chosen]})
        return
    rows = [
        [number, record["kind"], _who(record), _what(record), record.get("status", "")] for number, record in chosen
    ]
    click.echo(options.table(rows, ["", "kind", "who", "what", "status"]))


def _who(record: dict[str, object]) -> str:
    return str(record.get("implementation") or f"{record.get('a')}, {record.get('b')}")


def _what(record: dict[str, object]) -> str:
    if "workload" in record:
        return f"{record['workload']}, round {record.get('round', 0)}"
    return f"{record.get('model', '')} on {record.get('corpus', '')}"
