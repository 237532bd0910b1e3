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
    """Geometric mean of time over the workloads every chosen implementation has, the fastest first.

    With the 95 % interval of the ratio to the fastest, and the probability of each rank by bootstrap.
    """
    import re

    import msgspec

    from harness.commands.report import newest_run
    from harness.measure.samples import rankable_times
    from harness.measure.stats import rank
    from harness.records import Measurement, RecordError, of_kind, read_records

    folder = run or newest_run()
    times = rankable_times(of_kind(read_records(folder), Measurement))
    names = options.choose(list(times), list(times), implementation, exclude, "implementation") if times else []
    chosen = {
        name: {w: rounds for w, rounds in times[name].items() if workload is None or re.search(workload, w)}
        for name in names
    }
    ranked = rank({name: some for name, some in chosen.items() if some})
    if not ranked:
        raise RecordError(f"{folder}: these implementations share no timed workload; choose fewer with -e, or -w")
    if as_json:
        options.print_json([msgspec.to_builtins(entry) for entry in ranked])
        return
    shared = set.intersection(*(set(some) for some in chosen.values() if some))
    click.echo(f"over {len(shared)} workload(s) all of them share: {', '.join(sorted(shared))}\n")
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
