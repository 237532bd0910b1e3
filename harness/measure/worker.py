"""The worker process: holds one implementation, verifies it and times it, one request at a time.

Any exception of an implementation, `BaseException` included, becomes a reply; the parent has to detect only the death
of the process.
"""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from time import perf_counter

import msgspec

from harness.failures import message_of, reason_of, status_of
from harness.measure import long_runs, placement, tasks, timing, verify
from harness.measure.answers import NotIds, read_ids, write_ids
from harness.measure.protocol import (
    PROTOCOL,
    AskReference,
    Expected,
    Failed,
    Job,
    Measure,
    Measured,
    MeasureMemory,
    MemoryMeasured,
    Open,
    Opened,
    Probe,
    Probed,
    Recall,
    Reply,
    Request,
    Shrink,
    Shrunk,
    Size,
    Sized,
)
from harness.measure.recall import recall
from harness.measure.workloads import ENCODING, ONCE_ONLY
from harness.process import memory
from impls import Missing, Model, Tokenizer, Unsupported, get

FIRST_TEXT = "hello world"
"""The text `load` encodes to get its first id."""


class Opening(msgspec.Struct):
    """The implementation, model and tokenizer the worker holds."""

    implementation: type[Tokenizer]
    tokenizer: Tokenizer | None
    model: Model | None
    baseline_bytes: int
    pinned: bool
    import_seconds: float

    def highest_memory(self) -> int | None:
        """Return the peak resident memory since `memory.reset_peak`, beyond the baseline; None where unknown."""
        peak = memory.peak_bytes()
        return None if peak is None else max(0, peak - self.baseline_bytes)


def open_implementation(request: Open) -> Opening:
    """Import and build the first implementation that can run the model; raise the last one's error."""
    pinned = placement.pin_to(request.cores)
    model: Model | None = None
    for position, name in enumerate(request.implementations, 1):
        try:
            start = perf_counter()
            implementation = get(name)
            import_seconds = perf_counter() - start
            if request.model and model is None:
                model = pickle.loads(Path(request.model).read_bytes())
            gc.collect()
            baseline = memory.resident_bytes()
            tokenizer = None if model is None else implementation(model)
            return Opening(implementation, tokenizer, model, baseline, pinned, import_seconds)
        except BaseException:
            if position == len(request.implementations):
                raise
    raise Missing("reference", "none named")


def failure(error: BaseException) -> Failed:
    """Return the verdict on an exception an implementation raised."""
    if isinstance(error, Missing):
        return Failed(status="missing", reason=message_of(error))
    if isinstance(error, Unsupported):
        return Failed(status="unsupported", reason=error.reason)
    status = status_of(error)
    return Failed(status=status, reason=reason_of(status, type(error).__name__, message_of(error)))


_FIRST_BYTES = 2000


def size(request: Size, opening: Opening) -> Sized:
    """Return the largest slice of a job's texts whose pass fits the budget."""
    job = request.job
    whole = tasks.prepare(job, opening.tokenizer, opening.implementation, request.ids_file)
    full_bytes = max(sum(map(len, texts)) for texts in whole.passes)

    def seconds(n_bytes: int) -> float:
        if job.task == "decode":
            share = n_bytes / full_bytes
            inputs = [ids[: int(len(ids) * share)] for ids in read_ids(Path(request.ids_file))]
            return timing.timed(whole.run, inputs)[0]
        work = tasks.prepare(msgspec.structs.replace(job, n_bytes=n_bytes), opening.tokenizer, opening.implementation)
        return timing.timed(work.run, work.fresh(work.passes[0]))[0]

    seconds(min(full_bytes, _FIRST_BYTES))  # warm up: the cost of the first call says nothing about size
    n_bytes, taken = timing.largest_size(seconds, full_bytes, request.budget_seconds)
    return Sized(n_bytes=n_bytes, full_bytes=full_bytes, seconds=taken)


def answer_as_reference(request: AskReference, opening: Opening) -> Expected:
    """Return the reference's answer to a job; tasks other than training are answered by `encode`."""
    job = request.job
    if job.state == "sustained":
        assert opening.tokenizer is not None
        parts, n_tokens = long_runs.part_digests(job, opening.tokenizer)
        digest = tasks.digest_of_parts(parts)
        return Expected(digest=digest, n_tokens=n_tokens, reference=opening.implementation.name, parts=parts)
    if job.task != "train":
        job = msgspec.structs.replace(job, task="encode")
    work = tasks.prepare(job, opening.tokenizer, opening.implementation)
    answer = work.run(work.fresh(work.texts))
    digest, n_tokens, rows = verify.reference_digest(job, answer)
    write_ids(Path(request.ids_file), rows)
    return Expected(digest=digest, n_tokens=n_tokens, reference=opening.implementation.name, ids_file=request.ids_file)


def measure(request: Measure, opening: Opening) -> Measured | Failed:
    """Verify a job and time it."""
    job, expected = request.job, request.expected
    memory.reset_peak()
    if job.task == "load":
        return _measure_load(request, opening)
    if job.state in ("sustained", "second-call", "after-pause"):
        assert opening.tokenizer is not None
        if job.state == "sustained":
            return long_runs.sustained(request, opening.tokenizer, opening.baseline_bytes)
        return long_runs.long_text(request, opening.tokenizer, opening.implementation, opening.highest_memory)
    work = tasks.prepare(job, opening.tokenizer, opening.implementation, "" if expected is None else expected.ids_file)
    samples, answers = _first_passes(job, work)
    # Read before verification, whose own memory says nothing about the implementation.
    peak = opening.highest_memory()
    verdict = verify.judge(job, work, answers, opening.tokenizer, expected)
    if isinstance(verdict, Failed):
        return verdict
    if samples is None:
        try:
            samples = timing.sample(
                work.run,
                lambda: work.fresh(work.texts),
                lambda got: tasks.same_answer(job, got, answers[0]),
                n_samples=request.n_samples,
                sample_seconds=request.sample_seconds,
                most_seconds=request.most_seconds,
            )
        except timing.WrongAnswer as error:
            return _later_mismatch(job, work, error, answers[0], opening)
    passes = len(work.passes)
    return Measured(
        samples_seconds=samples.seconds,
        loops=samples.loops,
        n_texts=len(work.texts) // passes,
        n_bytes=work.n_bytes // passes,
        n_tokens=verdict[1] // passes,
        n_calls=work.n_calls,
        digest=verdict[0],
        peak_memory_bytes=peak,
    )


def measure_memory(request: MeasureMemory, opening: Opening) -> MemoryMeasured:
    """Return the peak memory of one pass of a job; meaningful in a process that has done nothing else."""
    memory.reset_peak()
    work = tasks.prepare(request.job, opening.tokenizer, opening.implementation, request.ids_file)
    _first_passes(request.job, work)
    return MemoryMeasured(peak_memory_bytes=opening.highest_memory())


def _first_passes(job: Job, work: tasks.PreparedJob) -> tuple[timing.Samples | None, list[object]]:
    """Return the answers of a first pass; where each text may be read only once, of every pass, with their times."""
    gc.collect()
    gc.freeze()
    if job.state == "warm-other":
        work.run(work.fresh(work.other))
    if job.state in ONCE_ONLY:
        return _time_each_pass(work)
    return None, [work.run(work.fresh(work.texts))]


def _time_each_pass(work: tasks.PreparedJob) -> tuple[timing.Samples, list[object]]:
    """Time every pass on its own texts; return the times and the answers."""
    seconds: list[float] = []
    answers: list[object] = []
    for texts in work.passes:
        taken, answer = timing.timed(work.run, work.fresh(texts))
        seconds.append(taken)
        answers.append(answer)
    return timing.Samples(seconds, 1), answers


def _later_mismatch(
    job: Job, work: tasks.PreparedJob, error: timing.WrongAnswer, right: object, opening: Opening
) -> Failed:
    """Return the mismatch of a timed pass whose answer differs from the verified one."""
    reason = f"pass {error.which} after the verified one gave another answer"
    if job.task not in ENCODING:
        return Failed(status="mismatch", reason=reason)
    try:
        wanted, got = (tasks.join_answers(job, [answer]) for answer in (right, error.answer))
        found = verify.mismatch(work.texts, wanted, got, opening.tokenizer, "the verified pass")
    except (NotIds, TypeError, ValueError):
        return Failed(status="mismatch", reason=reason)
    return msgspec.structs.replace(found, reason=reason)


def _measure_load(request: Measure, opening: Opening) -> Measured | Failed:
    """Time from the model's file to the first id; importing the library is a separate part, not in the total."""
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
    work = tasks.PreparedJob(
        passes=[[FIRST_TEXT.encode()]], other=[], run=tasks.bind(job, tokenizer), fresh=tasks.strings, n_calls=1
    )
    verdict = verify.judge(job, work, [[ids]], tokenizer, request.expected)
    if isinstance(verdict, Failed):
        return verdict
    digest, n_tokens = verdict
    parts = ["model", "build", "first id"]
    return Measured(
        samples_seconds=[marks[-1] - marks[0]],
        loops=1,
        n_texts=0,
        n_bytes=path.stat().st_size,
        n_tokens=n_tokens,
        n_calls=1,
        digest=digest,
        peak_memory_bytes=peak,
        parts_seconds={"import": [opening.import_seconds]}
        | {name: [b - a] for name, a, b in zip(parts, marks, marks[1:], strict=False)},
    )


def answer(request: Request, opening: Opening | None) -> tuple[Reply, Opening | None]:
    """Return the reply to a request, and what the worker holds afterwards."""
    if isinstance(request, Open):
        opening = open_implementation(request)
        implementation, tokenizer = opening.implementation, opening.tokenizer
        lossy = tokenizer is not None and tokenizer.model.lossy is not None
        opened = Opened(
            implementation=implementation.name, exact=implementation.exact, pinned=opening.pinned, lossy=lossy
        )
        return opened, opening
    if isinstance(request, Probe):
        from harness.unicode.sweep import versions

        return Probed(versions=versions(request.implementations)), opening
    assert opening is not None, "nothing is open yet"
    if isinstance(request, Size):
        return size(request, opening), opening
    if isinstance(request, AskReference):
        return answer_as_reference(request, opening), opening
    if isinstance(request, Measure):
        return measure(request, opening), opening
    if isinstance(request, MeasureMemory):
        return measure_memory(request, opening), opening
    if isinstance(request, Recall):
        assert opening.tokenizer is not None
        return recall(request, opening.tokenizer), opening
    assert isinstance(request, Shrink)
    assert opening.model is not None
    assert opening.tokenizer is not None
    reference = get(request.reference)(opening.model)
    found = verify.smallest_counterexample(request.texts, opening.tokenizer, reference, request.seconds)
    return Shrunk(counterexample=found), opening


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends."""
    opening: Opening | None = None

    def reply(request: Request) -> Reply:
        nonlocal opening
        found, opening = answer(request, opening)
        return found

    PROTOCOL.serve(reply, failure)
