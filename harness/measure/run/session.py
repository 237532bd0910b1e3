"""A run: its turns one after another, each in a process of its own; every outcome is written to disk at once.

Nothing else runs meanwhile. Work with a record is not repeated; what cannot run is recorded with the reason. A command
calls `measure` with a plan and prints the result; nothing here prints or parses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.data import load_corpus, load_model
from harness.measure import placement
from harness.measure.analysis import cautions
from harness.measure.analysis.samples import measured_floor, measured_resolution
from harness.measure.protocol import Job
from harness.measure.recording import keep_plan, machine_facts
from harness.measure.run.materials import LoadCorpus, LoadModel, Materials, Unavailable
from harness.measure.run.setup import References, Setup, prepare_kernels
from harness.measure.run.turn import TurnRunner, Write
from harness.measure.schedule import Plan, Turn, estimate_seconds, keys, turns
from harness.measure.texts import read_texts
from harness.measure.token_use import add_text, uncounted
from harness.measure.workloads import Workload, short_corpus, short_name
from harness.outcome import Outcome
from harness.process.pool import run_tasks
from harness.progress import Bar
from harness.records import AnyRecord, Compression, Measurement, RecordWriter, TextMemory, key_of, of_kind, read_records

COPY_PREFERENCE = ("tiktoken", "tokenizers", "priority")
"""Implementations to copy for measuring the noise floor: the first that runs most of the workloads."""
_MOST = 0.75
"""Runs most of the workloads: at least this share of those run by the implementation that ran most."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    records: list[AnyRecord]
    warnings: list[str]

    @property
    def measurements(self) -> list[Measurement]:
        """Return the records that are measurements."""
        return list(of_kind(self.records, Measurement))


def measure(
    plan: Plan,
    folder: Path,
    *,
    resume: bool = False,
    command: str = "",
    bar: Bar | None = None,
    load_model: LoadModel = load_model,
    load_corpus: LoadCorpus = load_corpus,
) -> RunResult:
    """Run `plan`, writing `records.jsonl`, `machine.json` and `plan.json` into `folder`; each record is a step of
    `bar`.

    Raise `RecordError` if the folder holds records and `resume` is False, or holds the records of another plan. With
    `resume` only missing records are made, all of them if there are none.
    """
    with RecordWriter(folder, resume=resume) as writer:
        done = read_records(folder)
        keep_plan(folder, plan, has_records=any(of_kind(done, Measurement)))
        own = {"profile": plan.profile.name, "seed": plan.seed, "estimate_seconds": round(estimate_seconds(plan))}
        with machine_facts(folder, plan.implementations, command, **own) as facts:
            with Materials(load_model, load_corpus) as materials, References(materials) as references:
                run(plan, materials, references, writer.write, done=done, bar=bar)
                for record in compressions(plan, materials, references, done):
                    writer.write(record)
                facts["digests"] = materials.digests()
            records = read_records(folder)
            measurements = list(of_kind(records, Measurement))
            facts["noise_floor"] = measured_floor(measurements)
            facts["resolution"] = measured_resolution(measurements)
            facts["warnings"] = cautions.sample_warnings(measurements)
    return RunResult(records=records, warnings=facts["warnings"])


def run(
    plan: Plan,
    materials: Materials,
    references: References,
    write: Write,
    *,
    done: Iterable[AnyRecord] = (),
    bar: Bar | None = None,
    memory_limit_bytes: int | None = None,
) -> None:
    """Write one `Measurement` for every workload, implementation, copy and round of `plan` that is not in `done`.

    After a verdict other than ok, the implementation's later rounds on that workload are skipped.
    """
    bar = bar or Bar()
    if "compiled" in plan.implementations:
        run_tasks(prepare_kernels, [()])
    known = [record for record in done if isinstance(record, (Measurement, TextMemory))]
    measured = list(of_kind(known, Measurement))
    recorded = set(map(key_of, measured))

    def keep(record: Measurement | TextMemory) -> None:
        write(record)
        if isinstance(record, Measurement):
            measured.append(record)
            recorded.add(key_of(record))
            bar.advance(1, f"{record.implementation} · {record.workload}")

    bar.total(_n_records(turns(plan)))
    bar.advance(len(recorded))
    with placement.parent_on_first_core() as cores:
        setup = Setup(materials, references, cores, memory_limit_bytes)
        runner = TurnRunner(plan, setup, keep)
        for record in known:
            runner.note(record)

        def run_turns(planned: Iterable[Turn]) -> None:
            for turn in planned:
                missing = [w for w, key in zip(turn.workloads, keys(turn), strict=True) if key not in recorded]
                left = [workload for workload in missing if not runner.has_failed(workload, turn)]
                bar.advance(len(missing) - len(left))
                if left:
                    runner.run(turn, left)

        run_turns(turn for turn in turns(plan) if turn.round == 0)
        copied = copied_implementation(plan, measured)
        bar.total(_n_records(turns(plan, copied)))
        run_turns(turns(plan, copied))


def copied_implementation(plan: Plan, records: Iterable[Measurement]) -> str | None:
    """Return the implementation whose copy measures the noise floor, by the first round's records; None for no copy.

    It is one that ran at least three quarters as many workloads as the one that ran most: the first in
    `COPY_PREFERENCE`, else the first named. A copy that already has records is kept.
    """
    if not plan.profile.copies:
        return None
    ran: Counter[str] = Counter()
    for record in records:
        if record.copy:
            return record.implementation
        ran[record.implementation] += record.round == 0 and record.status == "ok"
    able = [name for name in plan.implementations if ran[name] and ran[name] >= _MOST * max(ran.values())]
    return next((name for name in (*COPY_PREFERENCE, *able) if name in able), None)


def _n_records(planned: Iterable[Turn]) -> int:
    return sum(len(turn.workloads) for turn in planned)


def compressions(
    plan: Plan, materials: Materials, references: References, done: Iterable[AnyRecord]
) -> Iterator[Compression]:
    """Yield the compression record of every model and real text of the plan that is not in `done`."""
    seen = {(record.model, record.corpus) for record in of_kind(done, Compression)}
    for workload in plan.workloads:
        corpus = "/".join(filter(None, (short_corpus(workload.corpus), workload.split)))
        record = uncounted(short_name(workload.model), corpus)
        is_text = (workload.task, workload.state) == ("encode", "warm-same") and not workload.corpus.startswith("gen/")
        if is_text and (record.model, corpus) not in seen:
            seen.add((record.model, corpus))
            try:
                _count(record, workload, materials, references)
            except Unavailable as error:
                record.status, record.reason = Outcome.MISSING, error.failed.reason
            yield record


def _count(record: Compression, workload: Workload, materials: Materials, references: References) -> None:
    texts, model = materials.texts(workload), materials.model(workload.model)
    expected = references.expected(Job(task="encode", state="warm-same", texts=texts.path), workload.model)
    if expected is None:
        record.status, record.reason = Outcome.REFUSED, "no reference can run this model on this text"
        return
    for content in read_texts(Path(texts.path)):
        add_text(record, content.decode("utf-8", "surrogatepass"))
    record.implementation, record.n_tokens = expected.reference, expected.n_tokens
    record.vocab_size, record.round_trip = model.n_tokens, model.round_trip
