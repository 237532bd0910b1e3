"""`bpebench run`: verify, then time implementations on workloads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options, writing
from harness.commands.verb import Verb, flag, option
from harness.data.generated import ADVERSARIAL
from harness.progress import progress
from harness.targets.spec import DEFAULT_MODEL
from impls.core.errors import plural

if TYPE_CHECKING:
    from harness.measure.scaling import Scale
    from harness.measure.workloads import Plan
    from harness.records import Measurement

DEFAULT_OUT = Path("results/local")
"""Default folder of the records."""
ALL_FAMILIES = "all"


class Run(Verb):
    """Time every chosen implementation on every workload of a profile, all in turn, every answer verified.

    -m and -c replace the models and corpora the workloads name. Exit status 1 if an implementation that should be
    exact gave wrong or unverifiable ids, died or panicked, or if nothing was timed; the records hold every outcome.
    With --tour, first train two vocabularies and check every pair; with --scale, time texts of doubling length
    and fit the exponent of time against length: 1 is linear, 2 quadratic.
    """

    implementations: tuple[str, ...] = options.implementations
    exclude: str | None = options.exclude
    include: tuple[str, ...] = option(
        "Workloads whose name matches; repeatable.", "-w", "--workload", multiple=True, metavar="REGEX"
    )
    leave_out: tuple[str, ...] = option(
        "Workloads to leave out; repeatable.", "-W", "--exclude-workload", multiple=True, metavar="REGEX"
    )
    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpora
    profile: str = option(
        "How thoroughly to measure, and on which workloads.",
        type=click.Choice(["smoke", "quick", "default", "rigorous"]),
        default="default",
    )
    openings: int | None = option(
        "Number of times each process is started (default: the profile's).", type=options.POSITIVE, advanced=True
    )
    seed: int = option("Seed of the random orders.", default=0)
    out: Path | None = options.out_option(f"The run's folder (default: {DEFAULT_OUT}).", options.FOLDER)
    resume: bool = flag("Continue the run in that folder, or start it.")
    dry_run: bool = flag("Only show what would be run and about how long it takes.")
    tour: bool = flag("The whole suite once: train, check every pair, time the profile quick, print a summary.")
    scale: bool = flag("Time texts of doubling length, and fit how time grows.")
    families: tuple[str, ...] = option(
        f"Texts for --scale (see `list corpora`), or `{ALL_FAMILIES}`; repeatable.",
        "--family",
        multiple=True,
        type=click.Choice([*ADVERSARIAL, ALL_FAMILIES]),
        metavar="NAME",
        advanced=True,
    )
    doublings: int = option("Doublings of 1 KB, for --scale.", type=options.Whole(5, 14), default=10, advanced=True)
    rounds: int = option("Repetitions of --scale.", type=options.POSITIVE, default=3, advanced=True)
    limit: float = option("Seconds for one pass of --scale.", type=options.SECONDS, default=3.0, advanced=True)

    def run(self) -> bool:
        """Measure and print the tables; return whether there are faults."""
        if self.tour:
            options.ensure_alone(self, "tour", "out", "dry_run")
            return self._tour()
        return self._scale() if self.scale else self._measure(self.out or DEFAULT_OUT)

    def _scale(self) -> bool:
        from harness.measure.scaling import FAMILIES, Scale
        from harness.report.layout import render
        from harness.report.tables.growth import scaling_table

        chosen = ("implementations", "exclude", "models", "out", "resume")
        options.ensure_alone(self, "scale", *chosen, "families", "doublings", "rounds", "limit")
        families = tuple(dict.fromkeys(self.families)) or FAMILIES
        scale = Scale(
            implementations=tuple(options.choose_implementations(self.implementations, self.exclude)),
            model=self.models[0] if self.models else DEFAULT_MODEL,
            families=ADVERSARIAL if ALL_FAMILIES in families else families,
            sizes=tuple(1024 << step for step in range(self.doublings + 1)),
            rounds=self.rounds,
            limit_seconds=self.limit,
        )
        records = measure_growth(scale, self.out, resume=self.resume)
        table = scaling_table(records)
        curves = [{"outcome": row.pop("status"), **row} for row in map(dict, table.rows)]
        document = {"model": scale.model, "curves": curves}
        self.output(document, lambda: render(table, "text", width=options.terminal_width()))
        return any(record.exact and record.outcome.is_fault for record in records)

    def _tour(self) -> bool:
        """Train a Turkish and an English and code vocabulary, check every pair, time everything, print a summary.

        Return whether something that must agree does not.
        """
        from harness import tour
        from harness.check.agreement import check
        from harness.measure.workloads import PROFILES, Plan, load_workloads, select
        from harness.records import RecordWriter, read_records
        from harness.report.headlines import render_summary

        start = time.monotonic()
        options.say("about 4 minutes on two cores: train two vocabularies, check every pair, time everything", err=True)
        options.say("to see tokens at once: bpebench play --open", err=True)
        if self.dry_run:
            return False
        folder = self.out or DEFAULT_OUT / time.strftime("tour-%Y%m%d-%H%M%S")
        with RecordWriter(folder) as writer:
            with progress("training two vocabularies", len(tour.RECIPES)) as bar:
                tour.train_all(writer, lambda name: bar.advance(1, name))
            with progress("checking every pair", len(tour.CHECKED.cells)) as bar:
                tour.measure_compression(writer)
                result = check(tour.CHECKED, lambda what: bar.advance(1, what))
            writer.write(*result.verdicts, *result.agreements, *result.not_compared)
        workloads = select(load_workloads(), profile="quick")
        chosen = tuple(tour.CHECKED.implementations)
        measuring = Plan(profile=PROFILES["quick"], implementations=chosen, workloads=tuple(workloads))
        faults = carry_out(measuring, folder, resume=True)
        records = read_records(folder)
        self.output({"records": records}, lambda: render_summary(records))
        for fault in result.faults:
            options.say(f"fault: {fault}")
        minutes, seconds = divmod(round(time.monotonic() - start), 60)
        for line in (
            f"done in {minutes} min {seconds} s; records: {folder}",
            f"every table: bpebench report {folder}; as one page: bpebench report {folder} --html page.html",
            "your own text: bpebench check -m o200k_base -c FILE; "
            "your own vocabulary: bpebench train -c FILE --name mine",
        ):
            options.say(line, err=True)
        return bool(result.faults or faults)

    def _measure(self, out: Path) -> bool:
        from msgspec.structs import replace

        from harness.measure.run import estimate_seconds
        from harness.measure.stats import NOISE_MARGIN
        from harness.measure.workloads import PROFILES, Plan, load_workloads, select
        from harness.records import read_records
        from harness.report.tables import render_terminal

        chosen = options.choose_compared(self.implementations, self.exclude)
        workloads = select(
            load_workloads(models=self.models, corpora=self.corpora),
            profile="" if self.include else self.profile,
            include=self.include,
            exclude=self.leave_out,
        )
        profile = PROFILES[self.profile]
        profile = replace(profile, openings=self.openings or profile.openings)
        plan = Plan(profile=profile, implementations=tuple(chosen), workloads=tuple(workloads), seed=self.seed)
        click.echo(
            f"{plural(len(workloads), 'workload')}, {plural(len(chosen), 'implementation')}, "
            f"{plural(plan.profile.openings, 'opening')}: about {max(1, round(estimate_seconds(plan) / 60))} min",
            err=True,
        )
        if self.dry_run:
            rows = [[w.name, w.task, w.state, w.model, w.corpus, f"{w.pass_bytes:,}"] for w in workloads]
            click.echo(options.table(rows, ["workload", "task", "state", "model", "corpus", "bytes of a pass"]))
            return False
        faults = carry_out(plan, out, resume=self.resume)
        records = read_records(out)
        self.output({"records": records}, lambda: render_terminal(records, width=options.terminal_width()))
        if not self.as_json:
            if not profile.copies:
                only = f"only a ratio above {NOISE_MARGIN:g} counts; use --profile default"
                click.echo(f"the profile {profile.name} does not measure its own noise, so {only}", err=True)
            click.echo(f"records: {out}; show them again with: bpebench report {out}", err=True)
        return bool(faults)


def measure_growth(scale: Scale, out: Path | None, *, resume: bool) -> list[Measurement]:
    """Return the records of every point, written to the folder if one is given."""
    from harness.data import load_model
    from harness.measure import placement, scaling
    from harness.measure.materials import Materials
    from harness.measure.recording import digests, recording
    from harness.records import read_records

    load_model(scale.model)
    points = len(scale.implementations) * len(scale.families) * len(scale.sizes) * scale.rounds
    with (
        recording(out, scale.implementations, writing.command_line(), resume=resume) as kept,
        progress("scaling", points) as bar,
        placement.parent_on_first_core() as cores,
        Materials(cores) as materials,
    ):

        def keep(record: Measurement) -> None:
            kept.write(record)
            bar.advance(1, f"{record.implementation} · {record.corpus}")

        done = read_records(out) if out is not None and resume else []
        records = scaling.measure_scaling(scale, materials, keep, done=done)
        kept.facts["digests"] = digests(materials.models, materials.corpora.digests)
    return records


def carry_out(plan: Plan, out: Path, *, resume: bool) -> int:
    """Run `plan` into `out` with a progress bar; return the number of faults, or of all records if none was timed."""
    from harness.measure.run import measure
    from harness.outcome import Outcome

    with progress("measuring") as bar:
        records = measure(plan, out, resume=resume, command=writing.command_line(), bar=bar)
    if all(record.outcome is not Outcome.RIGHT for record in records):
        click.echo("bpebench: nothing was timed: no implementation ran a workload and was right", err=True)
        return max(1, len(records))
    return sum(record.exact and record.outcome.is_fault for record in records)
