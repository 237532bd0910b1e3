"""What `bpebench run --tour` does: the whole suite once, end to end; what `make run` runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from harness.commands import options
from harness.progress import progress

if TYPE_CHECKING:
    from harness.commands.run import Run


def take_tour(verb: Run) -> bool:
    """Train a Turkish and an English and code vocabulary, check every pair, time everything, print a summary.

    Return whether something that must agree does not.
    """
    from harness import tour
    from harness.commands.run import DEFAULT_OUT, carry_out
    from harness.measure.workloads import PROFILES, Plan, load_workloads, select
    from harness.records import RecordWriter, read_records
    from harness.report.summary import render_summary

    start = time.monotonic()
    folder = verb.out or tour.new_folder(DEFAULT_OUT)
    with RecordWriter(folder, has_resume=False) as writer:
        with progress("training two vocabularies", len(tour.RECIPES)) as bar:
            tour.train_all(writer, lambda name: bar.advance(1, name))
        with progress("checking every pair", len(tour.CHECKED.cells)) as bar:
            tour.measure_compression(writer)
            result = tour.check_all(writer, lambda what: bar.advance(1, what))
    workloads = select(load_workloads(), profile="quick")
    chosen = tuple(tour.CHECKED.implementations)
    measuring = Plan(profile=PROFILES["quick"], implementations=chosen, workloads=tuple(workloads))
    faults = carry_out(measuring, folder, resume=True)
    records = read_records(folder)
    verb.output({"records": records}, lambda: render_summary(records))
    for fault in result.faults:
        options.say(f"fault: {fault}")
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    for line in (
        f"done in {minutes} min {seconds} s; records: {folder}",
        f"every table: bpebench report {folder}; as one page: bpebench report {folder} --html page.html",
        "your own text: bpebench check -m o200k_base -c FILE; your own vocabulary: bpebench train -c FILE --name mine",
    ):
        options.say(line, err=True)
    return bool(result.faults or faults)
