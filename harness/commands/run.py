"""`bpebench run`: verify, then time implementations on workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.commands.verb import Verb, flag, option
from harness.progress import progress
from impls.core.errors import plural

if TYPE_CHECKING:
    from harness.measure.schedule import Plan
    from harness.records import Measurement

DEFAULT_OUT = Path("results/local")
"""Default folder of the records."""
FAULTS = ("mismatch", "unverified", "crash", "panic", "out-of-memory")
"""Verdicts on an exact implementation that make the command exit with 1."""
NOTHING_TIMED = "nothing was timed: no implementation ran any of the workloads and was right"


class Run(Verb):
    """Time every chosen implementation on every workload of a profile, each verified before it is timed.

    -m and -c replace the models and corpora the workloads name. Exit status 1 when an implementation that should be
    exact gave wrong or unverifiable ids, died or panicked, and when nothing was timed; the records hold every verdict.
    """

    implementation: str | None = options.implementation
    exclude: str | None = options.exclude
    include: tuple[str, ...] = option(
        "Workloads whose name matches; repeatable.", "-w", "--workload", multiple=True, metavar="REGEX"
    )
    leave_out: tuple[str, ...] = option(
        "Leave these out; repeatable.", "-W", "--exclude-workload", multiple=True, metavar="REGEX"
    )
    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpora
    profile: str = option(
        "How thoroughly to measure, and on which workloads.",
        type=click.Choice(["smoke", "quick", "default", "rigorous"]),
        default="default",
    )
    seed: int = option("Seed of the random orders.", default=0)
    out: Path = options.out_option("The run's folder.", options.FOLDER, default=DEFAULT_OUT)
    resume: bool = flag("Continue the run in that folder, or start it.")
    dry_run: bool = flag("Only show what would be run and about how long it takes.")

    def run(self) -> bool:
        """Measure and print the tables; return whether there are faults."""
        from harness.measure.schedule import PROFILES, Plan, estimate_seconds
        from harness.measure.templates import expand, load_templates
        from harness.measure.workloads import select
        from harness.records import read_records
        from harness.report.tables import render_terminal

        chosen = options.choose_implementations(self.implementation, self.exclude)
        workloads = select(
            expand(load_templates(), self.models, self.corpora),
            profile=None if self.include else self.profile,
            include=self.include,
            exclude=self.leave_out,
        )
        plan = Plan(
            profile=PROFILES[self.profile], implementations=tuple(chosen), workloads=tuple(workloads), seed=self.seed
        )
        click.echo(
            f"{len(workloads)} workloads, {len(chosen)} implementations, {plural(plan.profile.rounds, 'round')}: "
            f"about {max(1, round(estimate_seconds(plan) / 60))} min",
            err=True,
        )
        if self.dry_run:
            rows = [[w.name, w.task, w.state, w.model, w.corpus] for w in workloads]
            click.echo(options.table(rows, ["workload", "task", "state", "model", "corpus"]))
            return False
        faults = carry_out(plan, self.out, resume=self.resume)
        records = read_records(self.out)
        self.output({"records": records}, lambda: render_terminal(records, width=options.terminal_width()))
        if not self.as_json:
            click.echo(f"records: {self.out}; show them again with: bpebench report {self.out}", err=True)
        return bool(faults)


def is_fault(record: Measurement) -> bool:
    """Return whether an implementation that should be exact was wrong, could not be verified, or died."""
    return record.exact and record.status in FAULTS


def carry_out(plan: Plan, out: Path, *, resume: bool) -> int:
    """Run `plan` into `out` with a progress bar; return the number of faults, or of all records if none was timed."""
    from harness.measure.run.session import measure

    with progress("measuring") as bar:
        outcome = measure(plan, out, resume=resume, command=options.command_line(), bar=bar)
        for warning in outcome.warnings:
            bar.note(f"warning: {warning}")
    if all(m.status != "ok" for m in outcome.measurements):
        click.echo(f"bpebench: {NOTHING_TIMED}", err=True)
        return max(1, len(outcome.measurements))
    return sum(map(is_fault, outcome.measurements))


command = Run.command()
