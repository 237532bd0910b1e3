"""Choose the size of a job, verify it, time it, and measure its memory."""

from __future__ import annotations

import gc
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from harness.measure.jobs import long_runs, timing
from harness.measure.jobs.answers import Wrong, digest, join_answers, same_answer, write_ids
from harness.measure.jobs.judge import judge, other_ids
from harness.measure.jobs.opening import Opening
from harness.measure.jobs.prepared import PreparedJob, bind, prepare
from harness.measure.protocol import FIRST_TEXT, Expected, Job, Measure, Measured
from harness.measure.workloads import DECODING, ENCODING, LONG_TEXT, ONCE_ONLY
from harness.process import memory
from impls import Model

_FIRST_BYTES = 2000


def size(opening: Opening, job: Job, budget_seconds: float, expected: Expected | None) -> tuple[int, int]:
    """Return the size in bytes of the largest slice of a job's texts whose pass fits the budget, and of the whole."""
    whole = prepare(job, opening.tokenizer, opening.implementation, expected)
    full_bytes = max(sum(map(len, texts)) for texts in whole.passes)

    def seconds(n_bytes: int) -> float:
        if job.task in DECODING:
            inputs = [ids[: len(ids) * n_bytes // full_bytes] for ids in whole.fresh(whole.texts)]
            return timing.timed(whole.run, inputs)[0]
        work = prepare(msgspec.structs.replace(job, n_bytes=n_bytes), opening.tokenizer, opening.implementation)
        return timing.timed(work.run, work.fresh(work.passes[0]))[0]

    seconds(min(full_bytes, _FIRST_BYTES))  # warm up: a first call is slower
    n_bytes, _ = timing.largest_size(seconds, full_bytes, budget_seconds)
    return n_bytes, full_bytes


def answer_as_reference(opening: Opening, job: Job, ids_file: str) -> Expected:
    """Return the reference's answer to a job, its ids in `ids_file`; `encode` answers all tasks but training."""
    if job.state == "sustained":
        assert opening.tokenizer is not None
        return long_runs.expected(job, opening.tokenizer)
    if job.task != "train":
        job = msgspec.structs.replace(job, task="encode")
    work = prepare(job, opening.tokenizer, opening.implementation)
    answer = work.run(work.fresh(work.texts))
    digest_, n_tokens = digest(job, answer)
    write_ids(Path(ids_file), [list(pair) for pair in answer.merges] if job.task == "train" else answer)
    return Expected(digest=digest_, n_tokens=n_tokens, reference=opening.implementation.name, ids_file=ids_file)


def measure(opening: Opening, request: Measure) -> Measured:
    """Verify a job and time it; raise `Wrong` for an answer that is not known to be right."""
    job, expected = request.job, request.expected
    memory.reset_peak()
    begin = perf_counter()
    if job.task == "load":
        return _measure_load(opening, request)
    if job.state == "sustained":
        return long_runs.sustained(opening, request)
    if job.state in LONG_TEXT:
        return long_runs.long_text(opening, request)
    work = prepare(job, opening.tokenizer, opening.implementation, expected)
    samples, answers = _first_passes(work)
    # Read before verification, whose own memory would be counted too.
    peak = opening.highest_memory()
    verdict = judge(work, answers, expected)
    if samples is None:
        try:
            samples = timing.sample(
                work.run,
                lambda: work.fresh(work.texts),
                lambda got: same_answer(job, work.read(got), answers[0]),
                n_samples=request.n_samples,
                sample_seconds=request.sample_seconds,
                most_seconds=request.most_seconds - (perf_counter() - begin),
            )
        except timing.WrongAnswer as error:
            raise _later_mismatch(work, error, answers[0]) from None
    reply = work.reply(verdict, samples, peak)
    if job.reads_file:
        parts = {"import": [opening.import_seconds]}
        return msgspec.structs.replace(reply, n_bytes=Path(job.texts).stat().st_size, parts_seconds=parts)
    return reply


def measure_memory(opening: Opening, job: Job, expected: Expected | None) -> int | None:
    """Return the peak memory of one pass of a job; meaningful only in a process that has done nothing else."""
    memory.reset_peak()
    _first_passes(prepare(job, opening.tokenizer, opening.implementation, expected))
    return opening.highest_memory()


def _first_passes(work: PreparedJob) -> tuple[timing.Samples | None, list[Any]]:
    """Return the answers of a first pass; if each text may be read only once, of every pass, with their times."""
    gc.collect()
    gc.freeze()
    if work.job.state == "warm-other":
        work.run(work.fresh(work.other))
    if work.job.state not in ONCE_ONLY:
        return None, [work.read(work.run(work.fresh(work.texts)))]
    timed = [timing.timed(work.run, work.fresh(texts)) for texts in work.passes]
    return timing.Samples([seconds for seconds, _ in timed], 1), [answer for _, answer in timed]


def _later_mismatch(work: PreparedJob, error: timing.WrongAnswer, right: Any) -> Wrong:
    """Return the mismatch of a timed pass whose answer differs from the verified one."""
    found = Wrong(str(error))
    if work.job.task in ENCODING:
        try:
            wanted, got = (join_answers(work.job, [answer]) for answer in (right, error.answer))
            found = other_ids(work, wanted, got, "the verified pass")
        except (Wrong, TypeError, ValueError):
            pass
    found.failed = msgspec.structs.replace(found.failed, reason=str(error))
    return found


def _measure_load(opening: Opening, request: Measure) -> Measured:
    """Time loading from the model's file to the first id; import is a separate part, not in the total."""
    path = Path(request.job.model_file)
    marks = [perf_counter()]
    model = Model.load(path)
    marks.append(perf_counter())
    tokenizer = opening.implementation(model)
    marks.append(perf_counter())
    ids = tokenizer.encode(FIRST_TEXT)
    marks.append(perf_counter())
    peak = opening.highest_memory()
    job = Job(task="encode", state="warm-same")
    work = PreparedJob(job=job, tokenizer=tokenizer, passes=[[FIRST_TEXT.encode()]], run=bind(job, tokenizer))
    verdict = judge(work, [[ids]], request.expected)
    parts = zip(("model", "build", "first id"), marks, marks[1:], strict=False)
    return msgspec.structs.replace(
        work.reply(verdict, timing.Samples([marks[-1] - marks[0]], 1), peak),
        n_texts=0,
        n_bytes=path.stat().st_size,
        parts_seconds={"import": [opening.import_seconds]} | {name: [b - a] for name, a, b in parts},
    )
