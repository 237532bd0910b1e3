"""`bpebench tour`: the whole suite once, end to end; what `make run` runs."""

from __future__ import annotations

import time
from pathlib import Path

import click

from harness.commands import options
from harness.commands.records import DEFAULT_OUT, print_records
from harness.commands.run import carry_out
from harness.progress import progress


@click.command("tour")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="The run's folder (default: a new one).")
@options.as_json
def command(out: Path | None, as_json: bool) -> None:
    """Train a Turkish and an English+code vocabulary, check every pair, time everything, print a summary.

    Takes about four minutes on two cores. Exit status 1 when something that must agree does not.
    """
    from harness import tour
    from harness.measure.schedule import PROFILES, Plan
    from harness.measure.templates import expand, load_templates
    from harness.measure.workloads import select
    from harness.records import RecordWriter, read_records
    from harness.report.summary import render_summary

    start = time.monotonic()
    folder = out or tour.new_folder(DEFAULT_OUT)
    plan = tour.TourPlan()
    with RecordWriter(folder) as writer:
        with progress("training two vocabularies", len(tour.RECIPES)) as bar:
            tour.train_all(writer, lambda name: bar.advance(1, name))
        with progress("checking every pair", tour.n_steps(plan)) as bar:
            tour.weigh(plan, writer)
            result = tour.check_all(plan, writer, lambda what: bar.advance(1, what))
    workloads = select(expand(load_templates()), profile="quick")
    measuring = Plan(profile=PROFILES["quick"], implementations=plan.implementations, workloads=tuple(workloads))
    faults = carry_out(measuring, folder, resume=True)
    records = read_records(folder)
    if as_json:
        print_records(records)
    else:
        click.echo(render_summary(records))
    for fault in result.faults:
        options.say(f"fault: {fault}")
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    options.say(f"done in {minutes} min {seconds} s; records: {folder}", err=True)
    for line in (
        f"every table: bpebench report {folder}; as one page: bpebench report {folder} --html page.html",
        "your own text: bpebench check -m o200k_base -c FILE; your own vocabulary: bpebench train -c FILE --name mine",
    ):
        options.say(line, err=True)
    if result.faults or faults:
        raise click.exceptions.Exit(1)
