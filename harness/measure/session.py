"""A whole run: its folder, the plan on disk, provenance, measurements, compression.

A command calls `measure` with a plan and prints the result; nothing here prints or parses.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from harness.measure import cautions
from harness.measure.materials import LoadCorpus, LoadModel, Materials, Unavailable
from harness.measure.protocol import Job
from harness.measure.recording import machine_facts
from harness.measure.references import References
from harness.measure.run import NoProgress, Progress, run
from harness.measure.samples import measured_floor, measured_resolution
from harness.measure.schedule import Plan, estimate_seconds
from harness.measure.texts import read_texts
from harness.measure.workloads import Workload, short_corpus, short_name
from harness.records import (
    AnyRecord,
    Compression,
    Measurement,
    RecordError,
    RecordWriter,
    of_kind,
    read_records,
    write_atomically,
)
from impls import Model

PLAN_FILE = "plan.json"


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    records: list[AnyRecord]
    floor: float | None
    """Noise floor as a share, or None where no copy was run."""
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
    progress: Progress | None = None,
    load_model: LoadModel | None = None,
    load_corpus: LoadCorpus | None = None,
    memory_limit_bytes: int | None = None,
) -> RunResult:
    """Run `plan`, writing `records.jsonl`, `machine.json` and `plan.json` into `folder`.

    Raise `RecordError` where the folder holds records and `resume` is False, or holds the records of another plan.
    With `resume` only what is missing is run, from the start where there are no records.
    """
    with RecordWriter(folder, resume=resume) as writer:
        done = read_records(folder)
        _keep_plan(folder, plan, has_records=bool(list(of_kind(done, Measurement))))
        own = {"profile": plan.profile.name, "seed": plan.seed, "estimate_seconds": round(estimate_seconds(plan))}
        with machine_facts(folder, plan.implementations, command, **own) as facts:
            materials = Materials(load_model or _load_model, load_corpus or _load_corpus)
            with materials, References(materials) as references:
                run(
                    plan,
                    materials,
                    writer.write,
                    done=done,
                    progress=progress or NoProgress(),
                    references=references,
                    memory_limit_bytes=memory_limit_bytes,
                )
                _compress(plan, materials, references, writer.write, done)
                facts["digests"] = materials.digests()
            records = read_records(folder)
            measurements = list(of_kind(records, Measurement))
            facts["noise_floor"] = measured_floor(measurements)
            facts["resolution"] = measured_resolution(measurements)
            facts["warnings"] = cautions.sample_warnings(measurements)
    return RunResult(records=records, floor=facts["noise_floor"], warnings=facts["warnings"])


def _load_model(name: str) -> Model:
    from harness.data import load_model

    return load_model(name)


def _load_corpus(name: str, split: Any) -> Any:
    from harness.data import load_corpus

    return load_corpus(name, split=split)


def _keep_plan(folder: Path, plan: Plan, *, has_records: bool) -> None:
    """Write the plan beside its records; raise `RecordError` rather than mix two plans in one folder."""
    content = msgspec.json.format(msgspec.json.encode(_publishable(plan)), indent=2) + b"\n"
    path = folder / PLAN_FILE
    if has_records and path.exists() and path.read_bytes() != content:
        raise RecordError(
            f"{folder}: holds the records of another plan (profile, implementations, workloads or seed differ); "
            "resume with the options it was started with, or use another --out"
        )
    write_atomically(path, content)


def _publishable(plan: Plan) -> Plan:
    """Return the plan without paths of this machine."""
    workloads = tuple(
        msgspec.structs.replace(workload, model=short_name(workload.model), corpus=short_corpus(workload.corpus))
        for workload in plan.workloads
    )
    return msgspec.structs.replace(plan, workloads=workloads)


def _compress(
    plan: Plan,
    materials: Materials,
    references: References,
    write: Callable[[Compression], None],
    done: list[AnyRecord],
) -> None:
    """Count tokens, bytes, characters and words of every model and text timed, by the reference's ids."""
    seen = {(record.model, record.corpus) for record in of_kind(done, Compression)}
    for workload in plan.workloads:
        key = (short_name(workload.model), _label(workload))
        if workload.task != "encode" or workload.state != "warm-same" or key in seen:
            continue
        if workload.corpus.startswith("gen/"):
            continue
        seen.add(key)
        write(_compression(workload, materials, references))


def _label(workload: Workload) -> str:
    """Return the corpus of a workload with its split."""
    corpus = short_corpus(workload.corpus)
    return corpus if workload.split is None else f"{corpus}/{workload.split}"


def _compression(workload: Workload, materials: Materials, references: References) -> Compression:
    record = Compression(
        model=short_name(workload.model),
        corpus=_label(workload),
        implementation="",
        n_texts=0,
        n_bytes=0,
        n_characters=0,
        n_words=0,
        n_tokens=0,
        vocab_size=0,
    )
    try:
        texts, model = materials.texts(workload), materials.model(workload.model)
        expected = references.expected(Job(task="encode", state="warm-same", texts=texts.path), workload.model)
    except Unavailable as error:
        record.status, record.reason = "missing", str(error)
        return record
    if expected is None:
        record.status, record.reason = "unsupported", "no reference can run this model on this text"
        return record
    for content in read_texts(Path(texts.path)):
        text = content.decode("utf-8", "surrogatepass")
        record.n_texts += 1
        record.n_bytes += len(content)
        record.n_characters += len(text)
        record.n_words += len(text.split())
    record.implementation, record.n_tokens = expected.reference, expected.n_tokens
    record.vocab_size, record.round_trip = model.n_tokens, model.round_trip
    return record
