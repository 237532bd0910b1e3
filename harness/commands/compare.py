"""`bpebench compare`: one run against an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options

if TYPE_CHECKING:
    from harness.measure.comparison import Difference


@click.command("compare")
@click.argument("old", type=click.Path(path_type=Path, file_okay=False))
@click.argument("new", type=click.Path(path_type=Path, file_okay=False))
@click.option("--fail-if", metavar="CONDITION", help="Exit with 1 on such a claimed change: slower>5%, faster>5%.")
@options.as_json
def command(old: Path, new: Path, fail_if: str | None, as_json: bool) -> None:
    """How every implementation's speed changed from the run OLD to the run NEW, on the workloads both have.

    A change is claimed only where its 95 % interval excludes 1 and it exceeds the noise of both runs; else ≈.
    """
    from harness.measure.comparison import compare_runs, parse_condition
    from harness.measure.samples import measured_floor
    from harness.records import Measurement, RecordError, of_kind, read_records
    from harness.report.round_trips import named, note, recorded, round_trip

    condition = None if fail_if is None else parse_condition(fail_if)
    runs = [list(of_kind(read_records(folder), Measurement)) for folder in (old, new)]
    differences = sorted(compare_runs(*runs), key=lambda difference: -difference.ratio.value)
    if not differences:
        raise RecordError(f"{old} and {new} share no timed workload; compare runs of one profile")
    floors = [measured_floor(records) for records in runs]
    failing = [difference for difference in differences if condition is not None and condition.holds(difference)]
    if as_json:
        options.print_json(
            {
                "noise_floors": floors,
                "differences": [_row(difference) for difference in differences],
                "failing": [_row(difference) for difference in failing],
            }
        )
    else:
        known = recorded(record for run in runs for record in run)
        models = {record.workload: record.model for run in runs for record in run}
        shown = {name: named(name, round_trip(model, known)) for name, model in models.items()}
        rows = [
            [
                shown[d.workload],
                d.implementation,
                f"{d.ratio.value:.3f}",
                f"{d.ratio.low:.3f}–{d.ratio.high:.3f}",
                d.claim,
            ]
            for d in differences
        ]
        click.echo(options.table(rows, ["workload", "implementation", "time new/old", "95 % interval", "claim"]))
        used = {models[d.workload] for d in differences} - {""}
        if said := note({model: round_trip(model, known) for model in sorted(used)}):
            click.echo(f"\n{said}")
        told = [f"{floor:.1%}" for floor in floors if floor is not None]
        unknown = "unknown, so nothing is claimed (run both with --profile default)"
        click.echo(f"\nnoise floors of the two runs: {', '.join(told) if len(told) == 2 else unknown}")
        for d in failing:
            click.echo(f"fails {fail_if}: {d.implementation} on {d.workload}, {d.ratio.value:.3f} ×")
    if failing:
        raise click.exceptions.Exit(1)


def _row(difference: Difference) -> dict[str, object]:
    return {
        "workload": difference.workload,
        "implementation": difference.implementation,
        "ratio": list(difference.ratio),
        "claim": difference.claim,
    }
