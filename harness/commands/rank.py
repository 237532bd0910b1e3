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
    import re

    import msgspec

    from harness.commands.report import newest_run
    from harness.measure.comparison import ranking
    from harness.records import Measurement, RecordError, of_kind, read_records

    folder = run or newest_run()
    records = list(of_kind(read_records(folder), Measurement))
    timed = list(dict.fromkeys(record.implementation for record in records))
    names = options.choose(timed, timed, implementation, exclude, "implementation") if timed else []
    workloads = {record.workload for record in records if workload is None or re.search(workload, record.workload)}
    ranked, shared = ranking(records, names, workloads)
    if not ranked:
        raise RecordError(f"{folder}: these implementations share no timed workload; choose fewer with -e, or -w")
    if as_json:
        options.print_json([msgspec.to_builtins(entry) for entry in ranked])
        return
    click.echo(f"over {len(shared)} workload(s) all of them share: {', '.join(shared)}\n")
    rows = []
    for place, entry in enumerate(ranked, 1):
        likely = max(range(len(entry.rank_probabilities)), key=lambda i: entry.rank_probabilities[i])
        rows.append(
            [
                place,
                entry.name,
                f"{entry.ratio.value:.2f}",
                f"{entry.ratio.low:.2f}–{entry.ratio.high:.2f}",
                f"rank {likely + 1}: {entry.rank_probabilities[likely]:.0%}",
            ]
        )
    click.echo(options.table(rows, ["", "implementation", "× fastest", "95 % interval", "most likely"]))
