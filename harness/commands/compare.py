"""`bpebench compare`: one run against an earlier one."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options


@click.command("compare")
@click.argument("old", type=click.Path(path_type=Path, file_okay=False))
@click.argument("new", type=click.Path(path_type=Path, file_okay=False))
@click.option("--fail-if", metavar="CONDITION", help="Exit with 1 on such a claimed change: slower>5%, faster>5%.")
@options.as_json
def command(old: Path, new: Path, fail_if: str | None, as_json: bool) -> None:
    """How every implementation's speed changed from the run OLD to the run NEW, on the workloads both have.

    A change is claimed only where its 95 % interval excludes 1 and it exceeds the noise of both runs; else ≈.
    """
    import msgspec

    from harness.measure.comparison import Condition, compare_runs
    from harness.records import Measurement, RecordError, of_kind, read_records

    condition = None if fail_if is None else Condition.parse(fail_if)
    changes, floor = compare_runs(*(of_kind(read_records(folder), Measurement) for folder in (old, new)))
    if not changes:
        raise RecordError(f"{old} and {new} share no timed workload; compare runs of one profile")
    failing = [change for change in changes if condition is not None and condition.met_by(change)]
    if as_json:
        options.print_json(
            {
                "noise_floor": floor,
                "changes": [msgspec.to_builtins(change) for change in changes],
                "failing": [msgspec.to_builtins(change) for change in failing],
            }
        )
    else:
        rows = [
            [c.workload, c.implementation, f"{c.ratio.value:.3f}", f"{c.ratio.low:.3f}–{c.ratio.high:.3f}", c.claim]
            for c in changes
        ]
        click.echo(options.table(rows, ["workload", "implementation", "time new/old", "95 % interval", "claim"]))
        told = "unknown, so nothing is claimed (run both with --profile default)" if floor is None else f"{floor:.1%}"
        click.echo(f"\nnoise floor of the two runs: {told}")
        for change in failing:
            click.echo(f"fails {fail_if}: {change.implementation} on {change.workload}, {change.ratio.value:.3f} ×")
    if failing:
        raise click.exceptions.Exit(1)
