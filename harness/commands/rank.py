"""`bpebench rank`: implementations in order, over the workloads all of them share."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options


@click.command("rank")
@click.argument("run", required=False, type=click.Path(path_type=Path, file_okay=False))
@options.implementations
@click.option("-w", "--workload", metavar="REGEX", help="Only workloads whose name matches.")
@options.as_json
def command(
    run: Path | None, implementation: str | None, exclude: str | None, workload: str | None, as_json: bool
) -> None:
    """Geometric mean of time over the workloads the chosen implementations share, the fastest first.

    With the 95 % interval of the ratio to the fastest, and the probability of each rank by bootstrap. Who was timed on
    fewer than three quarters of the workloads is left out; -e and -w choose others.
    """
    from harness.commands.report import newest_run, terminal_width
    from harness.records import Measurement, RecordError, of_kind, read_records
    from harness.report.layout import as_json as table_as_json
    from harness.report.layout import render
    from harness.report.speed import ranking_table

    folder = run or newest_run()
    records = list(of_kind(read_records(folder), Measurement))
    timed = list(dict.fromkeys(record.implementation for record in records))
    names = options.choose(timed, timed, implementation, exclude, "implementation") if timed else []
    workloads = {record.workload for record in records if options.matches(workload, record.workload)}
    table = ranking_table(records, names, workloads)
    if table.frame.empty:
        raise RecordError(f"{folder}: these implementations share no timed workload; choose fewer with -e, or -w")
    if as_json:
        options.print_json(table_as_json(table))
    else:
        click.echo(render(table, "text", width=terminal_width()))
