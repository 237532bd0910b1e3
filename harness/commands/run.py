"""`bpebench run`: verify, then time implementations on workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.commands.records import DEFAULT_OUT, print_records, terminal_width
from harness.progress import progress

if TYPE_CHECKING:
    from harness.measure.schedule import Plan

FAULTS = ("mismatch", "unverified", "crash", "panic", "out-of-memory")
"""Verdicts on an exact implementation that make the command exit with 1."""
NOTHING_TIMED = "nothing was timed: no implementation ran any of the workloads and was right"


@click.command("run")
@options.implementations
@click.option("-w", "--workload", "include", multiple=True, metavar="REGEX", help="Workloads whose name matches.")
@click.option("-W", "--exclude-workload", "leave_out", multiple=True, metavar="REGEX", help="Leave these out.")
@options.models
@options.corpora
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "default", "rigorous"]),
    default="default",
    show_default=True,
    help="How thoroughly to measure, and on which workloads.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random orders.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_OUT,
    show_default=True,
    help="The run's folder.",
)
@click.option("--resume", is_flag=True, help="Continue the run in that folder, or start it.")
@click.option("--dry-run", is_flag=True, help="Only show what would be run and about how long it takes.")
@options.as_json
def command(
    implementation: str | None,
    exclude: str | None,
    include: tuple[str, ...],
    leave_out: tuple[str, ...],
    models: tuple[str, ...],
    corpora: tuple[str, ...],
    profile: str,
    seed: int,
    out: Path,
    resume: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Time every chosen implementation on every workload of a profile, each verified before it is timed.

    -m and -c replace the models and corpora the workloads name. Exit status 1 when an implementation that should be
    exact gave wrong or unverifiable ids, died or panicked, and when nothing was timed; the records hold every verdict.
    """
    from harness.measure.schedule import PROFILES, Plan, estimate_seconds
    from harness.measure.templates import expand, load_templates
    from harness.measure.workloads import select

    chosen = options.choose_implementations(implementation, exclude)
    workloads = select(
        expand(load_templates(), models, corpora),
        profile=None if include else profile,
        include=include,
        exclude=leave_out,
    )
    plan = Plan(profile=PROFILES[profile], implementations=tuple(chosen), workloads=tuple(workloads), seed=seed)
    click.echo(
        f"{len(workloads)} workloads, {len(chosen)} implementations, {plan.profile.rounds} round(s): "
        f"about {max(1, round(estimate_seconds(plan) / 60))} min",
        err=True,
    )
    if dry_run:
        rows = [[w.name, w.task, w.state, w.model, w.corpus] for w in workloads]
        click.echo(options.table(rows, ["workload", "task", "state", "model", "corpus"]))
        return
    faults = carry_out(plan, out, resume=resume)
    show(out, as_json)
    if faults:
        raise click.exceptions.Exit(1)


def carry_out(plan: Plan, out: Path, *, resume: bool) -> int:
    """Run `plan` into `out` with a progress bar; return the number of measurements that are faults.

    Where none was timed, all count as faults.
    """
    from harness.measure.run.session import measure

    with progress("measuring") as bar:
        outcome = measure(plan, out, resume=resume, command=options.command_line(), bar=bar)
        for warning in outcome.warnings:
            bar.note(f"warning: {warning}")
    if all(m.status != "ok" for m in outcome.measurements):
        click.echo(f"bpebench: {NOTHING_TIMED}", err=True)
        return max(1, len(outcome.measurements))
    return sum(1 for m in outcome.measurements if m.exact and m.status in FAULTS)


def show(out: Path, as_json: bool) -> None:
    """Print the tables of a run, or its records as one JSON document."""
    from harness.records import read_records
    from harness.report.tables import render_terminal

    records = read_records(out)
    if as_json:
        print_records(records)
        return
    click.echo(render_terminal(records, width=terminal_width()))
    click.echo(f"records: {out}; show them again with: bpebench report {out}", err=True)
