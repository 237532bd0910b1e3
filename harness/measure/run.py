"""A run: its openings one after another, each group of workloads in processes of its own; records are written at once.

Nothing else runs meanwhile. An opening with records is not repeated; what cannot run is recorded with the reason. A
command calls `measure` with a plan and prints the result; nothing here prints or parses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.measure import cautions, placement
from harness.measure.entries import Contestant, Entry
from harness.measure.materials import Materials, kernels_compiled, reading
from harness.measure.opening import OpeningRun, slow_ones
from harness.measure.recording import digests, keep_plan, machine_facts
from harness.measure.summary import by_contestant, summaries
from harness.measure.texts import Stream
from harness.measure.token_use import add_text
from harness.measure.workloads import Plan, Profile, Workload, short_corpus, short_name
from harness.outcome import Outcome
from harness.process.session import FailedError, functions
from harness.progress import Bar
from harness.records import AnyRecord, Compression, Measurement, RecordWriter, of_kind, read_records

COPIED = ("compiled", "tiktoken")
"""A fast and a slow implementation, whose copies measure the noise floor; the first and last named in place of absent
ones."""
_COUNTED_BYTES = 1_000_000
COMPILING_SECONDS = 3600.0

Write = Callable[..., None]


def measure(plan: Plan, folder: Path, *, resume: bool = False, command: str = "", bar: Bar) -> list[Measurement]:
    """Run `plan`, writing `records.jsonl`, `machine.json` and `plan.json` into `folder`, and warnings above `bar`.

    Raise `RecordError` if the folder holds records and `resume` is False, or holds the records of another plan. With
    `resume` only missing records are made, all of them if there are none.
    """
    with RecordWriter(folder, resume=resume) as writer:
        done = read_records(folder)
        keep_plan(folder, plan, has_records=any(of_kind(done, Measurement)))
        own = {"profile": plan.profile.name, "seed": plan.seed, "estimate_seconds": round(estimate_seconds(plan))}
        with machine_facts(folder, plan.implementations, command, **own) as facts:
            with placement.parent_on_first_core() as cores, Materials(cores) as materials:
                run(plan, materials, writer.write, done=done, bar=bar)
                for record in compressions(plan, materials, done):
                    writer.write(record)
                facts["digests"] = digests(materials.models, materials.corpora.digests)
            measured = list(of_kind(read_records(folder), Measurement))
            facts["warnings"] = cautions.run_warnings(summaries(measured))
    for warning in facts["warnings"]:
        bar.note(f"warning: {warning}")
    return measured


def contestants(plan: Plan) -> list[Contestant]:
    """Return the contestants: every implementation, and the copies of two."""
    names = plan.implementations
    copied = dict.fromkeys((*(name for name in COPIED if name in names), names[0], names[-1]))
    n_copied = len(COPIED) if plan.profile.copies else 0
    return [Contestant(name, 0) for name in names] + [Contestant(name, 1) for name in list(copied)[:n_copied]]


def run(
    plan: Plan, materials: Materials, write: Write, *, done: Iterable[AnyRecord] = (), bar: Bar | None = None
) -> None:
    """Write one `Measurement` for every workload, contestant and opening of `plan` that is not in `done`."""
    bar = bar or Bar()
    if "compiled" in plan.implementations:
        with functions(echo=True) as compiling:
            compiling.call(kernels_compiled, seconds=COMPILING_SECONDS)
    records = list(of_kind(done, Measurement))
    bar.total(estimate_seconds(plan))
    for number, group in _openings(plan):
        names = {workload.name for workload in group}
        known = [record for record in records if record.workload in names]
        if not any(record.opening == number for record in known):
            entries = [entry for workload in group for entry in _entries(plan, materials, workload, number, known)]
            if entries:
                with OpeningRun(materials, plan.profile, plan.seed, number) as opening:
                    measured = opening.records(entries)
                records += measured
                write(*measured)
        bar.advance(_opening_seconds(plan, number, group), f"opening {number + 1} · {group[0].process}")


def _openings(plan: Plan) -> Iterator[tuple[int, tuple[Workload, ...]]]:
    """Yield the openings of every group, all groups in turn."""
    for number in range(max(workload.openings_in(plan.profile) for workload in plan.workloads)):
        for group in plan.groups:
            due = tuple(workload for workload in group if number < workload.openings_in(plan.profile))
            if due:
                yield number, due


def _entries(
    plan: Plan, materials: Materials, workload: Workload, number: int, known: Sequence[Measurement]
) -> Iterator[Entry]:
    """Yield the entries of a workload in an opening: of those that did not fail, and of slow ones in the first few."""
    profile, earlier = plan.profile, [record for record in known if record.workload == workload.name]
    before = {Contestant(of.implementation, of.copy): of for of in by_contestant(earlier)}
    slow = slow_ones({contestant: of.seconds_per_byte for contestant, of in before.items() if of.seconds_per_byte})
    for contestant in contestants(plan):
        shown = Contestant(materials.shown(contestant.name), contestant.copy)
        passes, n_rounds = before.get(shown), 1 if workload.is_once else workload.rounds or profile.rounds
        if not workload.applies_to(contestant.name) or (passes is not None and passes.failed is not None):
            continue
        if shown in slow:
            n_rounds = profile.slow_rounds_of(n_rounds) if number < profile.slow_openings else 0
        if n_rounds:
            yield Entry(contestant, workload, n_rounds, 0 if passes is None else passes.records[-1].n_calls)


def estimate_seconds(plan: Plan) -> float:
    """Estimate how long the plan takes, every opening of it."""
    return sum(_opening_seconds(plan, number, group) for number, group in _openings(plan))


def _opening_seconds(plan: Plan, number: int, group: Sequence[Workload]) -> float:
    """Estimate how long an opening takes if about a quarter of the contestants is within `SLOW` times the fastest.

    Of those that are slow at one task, half are fast at another in the same process.
    """
    profile, total, n_processes = plan.profile, 0.0, 0
    all_contestants = contestants(plan)
    for workload in group:
        n = sum(workload.applies_to(name) for name, _ in all_contestants)
        n = min(n, _TRAINERS) if workload.task == "train" else n
        n_fast = min(n, 4 + n // 8)
        n_slow = n - n_fast if number < profile.slow_openings else 0
        n_others = (n - n_fast - n_slow) // 2 if len(group) > 1 else 0
        n_processes = max(n_processes, n_fast + n_slow + n_others)
        rounds = 1 if workload.is_once else workload.rounds or profile.rounds
        seconds, slow_seconds = _pass_seconds(workload, profile)
        total += n_fast * rounds * seconds + n_slow * profile.slow_rounds_of(rounds) * slow_seconds
        total += rounds * workload.pass_bytes * _REFERENCE
    return total + n_processes * _PROCESS_SECONDS


_PROCESS_SECONDS = 1.0
"""Cost of a process: start, imports, model, end. Half of the libraries need 0.7 s to load, half 4 s; they are opened on
all cores."""
_TRAINERS = 6
"""Implementations that train by the same rule, about."""
_HANDLING, _REFERENCE, _SLOW_ENCODING, _TRAINING, _SLOW_TRAINING = 30e-9, 400e-9, 150e-9, 50e-9, 300e-9
"""Seconds a byte: of preparing and judging a pass, of its texts and their reference, and of the passes themselves."""


def _pass_seconds(workload: Workload, profile: Profile) -> tuple[float, float]:
    """Estimate the time of a pass of a fast and of a slow implementation, with its preparation and judgement."""
    if workload.task == "train":
        fast, slow = (0.2 + workload.call_bytes * rate for rate in (_TRAINING, _SLOW_TRAINING))
        return fast, min(profile.time_limit_seconds, slow)
    handling = 0.2 if workload.is_once else profile.pass_seconds / 3 + workload.pass_bytes * _HANDLING
    return handling, handling + max(profile.pass_seconds, workload.call_bytes * _SLOW_ENCODING)


def compressions(plan: Plan, materials: Materials, done: Iterable[AnyRecord]) -> Iterator[Compression]:
    """Yield the compression record of every model and real text of the plan that is not in `done`."""
    seen = {(record.model, record.corpus) for record in of_kind(done, Compression)}
    for workload in plan.workloads:
        corpus = "/".join(filter(None, (short_corpus(workload.corpus), workload.split)))
        record = Compression(model=short_name(workload.model), corpus=corpus)
        if workload.task == "encode" and not workload.is_once and (record.model, corpus) not in seen:
            seen.add((record.model, corpus))
            try:
                _count(record, workload, materials)
            except FailedError as error:
                record.status, record.reason = error.failed.outcome, error.failed.reason
            yield record


def _count(record: Compression, workload: Workload, materials: Materials) -> None:
    """Count the tokens of the first megabyte of a corpus, in its seeded order."""
    materials.model_file(workload.model)
    megabyte = msgspec.structs.replace(workload, call_bytes=_COUNTED_BYTES, n_calls=1, n_documents=1, state="cold")
    with reading():
        calls = Stream(materials.corpora, "counted").calls(megabyte)
    texts = [] if calls is None else calls[0]
    ids, reference = materials.references.ids(workload.model, texts, confirm=True) if texts else (None, "")
    if ids is None:
        record.status = Outcome.REFUSED
        record.reason = "no reference can run this model on this text" if texts else "the corpus has no text"
        return
    for text in texts:
        add_text(record, text.decode("utf-8", "surrogatepass"))
    record.implementation, record.n_tokens = reference, sum(map(len, ids)) // 4
    model = materials.models[workload.model]
    record.vocab_size, record.round_trip = model.vocab_size, model.round_trip
