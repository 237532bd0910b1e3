"""Run one turn: open the implementation, choose its slice of the text, verify it, time it, record the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress

import msgspec

from harness.measure.jobs import judge, measured
from harness.measure.jobs.opening import Opened
from harness.measure.protocol import FIRST_TEXT, Expected, Failed, Job, Measure, Measured
from harness.measure.run.setup import Setup, fill
from harness.measure.run.text_memory import TextMemoryDetector
from harness.measure.schedule import Plan, Turn
from harness.measure.texts import write_texts
from harness.measure.worker import WorkerFailed, WorkerProcess
from harness.measure.workloads import DECODING, ONCE_ONLY, TEXTS, Workload, short_corpus, short_name
from harness.outcome import Outcome
from harness.records import Counterexample, Measurement, Text, TextMemory

SHRINK_SECONDS = 5.0
_ONCE_FACTOR = 5
"""Factor by which a pass made only once may take longer, since first readings compare only on whole texts."""
_NOTHING_TO_DECODE = "no reference gives ids to decode, or no second one confirms them"
_OTHER_DIGEST = "the ids are not those the workload file expects (or its text or model has changed)"
_TAINTED = ("panic", "out-of-memory", "crash")
"""Verdicts after which a process is not reused for another workload."""

Write = Callable[[Measurement | TextMemory], None]


class TurnRunner:
    """Turns each `Turn` into records; keeps the slice sizes found and the failures seen."""

    def __init__(self, plan: Plan, setup: Setup, write: Write) -> None:
        self._plan, self._setup, self._write = plan, setup, write
        self._text_memory = TextMemoryDetector(setup, write, plan.profile)
        self._slices: dict[tuple[str, str], tuple[int, int]] = {}
        self._failed: set[tuple[str, str, int]] = set()

    def note(self, record: Measurement | TextMemory) -> None:
        """Take over the information in a record: the slice it was measured on, a failure, text memory."""
        if isinstance(record, TextMemory):
            self._text_memory.note(record)
        elif record.status != "ok":
            self._failed.add((record.workload, record.implementation, record.copy))
        elif record.task != "load":
            self._slices[record.workload, record.implementation] = (record.n_bytes, record.full_bytes)

    def has_failed(self, workload: Workload, turn: Turn) -> bool:
        """Return whether an earlier round failed on this workload."""
        return (workload.name, turn.implementation, turn.copy) in self._failed

    def run(self, turn: Turn, workloads: Sequence[Workload]) -> None:
        """Run the workloads of a turn, in a new process after each crash; first test for caches of whole texts."""
        first = workloads[0]
        if first.task not in ("train", "load") and turn.copy == 0:
            alike = [w for w in self._plan.workloads if w.model == first.model and w.applies_to(turn.implementation)]
            self._text_memory.detect(turn.implementation, alike)
        while workloads:
            workloads = self._run_in_one_process(turn, workloads)

    def _run_in_one_process(self, turn: Turn, workloads: Sequence[Workload]) -> Sequence[Workload]:
        """Run workloads in one process until it dies; return those left."""
        with ExitStack() as process:
            try:
                worker, opened = process.enter_context(self._open(turn, workloads[0]))
            except WorkerFailed as failure:
                for workload in workloads:
                    self._keep(self._blank(turn, workload, None), failure.failed)
                return []
            for position, workload in enumerate(workloads, 1):
                record = self._blank(turn, workload, opened)
                try:
                    self._keep(record, self._measured(worker, turn, workload, record))
                except WorkerFailed as failure:
                    self._keep(record, self._with_counterexample(turn, workload, failure.failed))
                    if failure.dead or failure.failed.status in _TAINTED:
                        return workloads[position:]
        return []

    def _open(self, turn: Turn, workload: Workload) -> AbstractContextManager[tuple[WorkerProcess, Opened]]:
        if workload.task == "load":
            self._setup.materials.model(workload.model)  # raises if it is unavailable
        return self._on_model(turn, workload, "" if workload.task in ("load", "train") else workload.model)

    def _on_model(
        self, turn: Turn, workload: Workload, model: str
    ) -> AbstractContextManager[tuple[WorkerProcess, Opened]]:
        seed = self._plan.seed * 1000 + turn.round
        return self._setup.open(turn.implementation, model, threads=self._threads(workload), hash_seed=seed)

    def _threads(self, workload: Workload) -> int:
        return workload.threads or len(self._setup.cores)

    # --- one workload --------------------------------------------------------------------------------------

    def _measured(self, worker: WorkerProcess, turn: Turn, workload: Workload, record: Measurement) -> Measured:
        """Choose the slice, get the expected answer, measure; put the whole size and the reference in `record`."""
        profile, materials = self._plan.profile, self._setup.materials
        n_bytes = full_bytes = 0
        if workload.task == "load":
            job = self._job(workload, model_file=materials.own_format(workload.model))
            expected = self._setup.references.expected(self._first_text_job(), workload.model)
        else:
            texts = materials.texts(workload)
            record.full_bytes = texts.n_bytes // workload.n_passes
            job = self._job(workload, texts=texts.path)
            if workload.task in DECODING and self._expected(workload, job) is None:
                raise WorkerFailed(Failed(status=Outcome.UNVERIFIED, reason=_NOTHING_TO_DECODE), dead=False)
            n_bytes, full_bytes = self._slice(worker, turn, workload, job, record.full_bytes)
            job = msgspec.structs.replace(job, n_bytes=n_bytes if n_bytes < full_bytes else 0)
            expected = self._expected(workload, job)
        request = Measure(
            job=job,
            expected=expected,
            n_samples=profile.n_samples,
            sample_seconds=profile.sample_seconds,
            most_seconds=profile.time_limit_seconds / 2,
        )
        found = worker.ask(profile.time_limit_seconds, measured.measure, request)
        whole = n_bytes == full_bytes and workload.task not in ("load", "count", *TEXTS)
        if whole and workload.digest and found.digest != workload.digest:
            raise WorkerFailed(Failed(status=Outcome.MISMATCH, reason=_OTHER_DIGEST), dead=False)
        record.full_bytes, record.reference = full_bytes, "" if expected is None else expected.reference
        if not workload.has_own_process:
            peak = self._peak_memory_bytes(turn, workload, job, expected) if (turn.round, turn.copy) == (0, 0) else None
            found = msgspec.structs.replace(found, peak_memory_bytes=peak)
        return found

    def _job(self, workload: Workload, *, texts: str = "", model_file: str = "") -> Job:
        return Job(
            task=workload.task,
            state=workload.state,
            threads=self._threads(workload),
            training=workload.training,
            document_bytes=workload.document_bytes,
            limit_tokens=workload.limit_tokens,
            texts=texts,
            model_file=model_file,
        )

    def _first_text_job(self) -> Job:
        path = self._setup.materials.new_path("first-text")
        if not path.exists():
            write_texts(path, [FIRST_TEXT.encode()])
        return Job(task="encode", state="warm-same", texts=str(path))

    def _expected(self, workload: Workload, job: Job) -> Expected | None:
        return self._setup.references.expected(job, "" if workload.task == "train" else workload.model)

    def _slice(
        self, worker: WorkerProcess, turn: Turn, workload: Workload, job: Job, pass_bytes: int
    ) -> tuple[int, int]:
        """Return the bytes of a pass and of the whole text; found once per workload and implementation.

        If text may be read only once, the size is found in a separate process. Training always uses the whole text: its
        time is not proportional to bytes, so slices would not compare. The same holds for workloads declared `whole`,
        whose texts break some implementations only at full length.
        """
        if workload.is_whole:
            return pass_bytes, pass_bytes
        known = (workload.name, turn.implementation)
        if known not in self._slices:
            profile, once = self._plan.profile, workload.state in ONCE_ONLY
            expected = self._expected(workload, job) if workload.task in DECODING else None
            budget = profile.pass_seconds * (_ONCE_FACTOR if once else 1)
            with self._alone(turn, workload) if once else nullcontext(worker) as sizing:
                self._slices[known] = sizing.ask(profile.time_limit_seconds, measured.size, job, budget, expected)
        return self._slices[known]

    def _peak_memory_bytes(self, turn: Turn, workload: Workload, job: Job, expected: Expected | None) -> int | None:
        """Return the peak memory in bytes of a job in a process that runs nothing else; None if that fails."""
        with suppress(WorkerFailed), self._alone(turn, workload) as worker:
            return worker.ask(self._plan.profile.time_limit_seconds, measured.measure_memory, job, expected)
        return None

    @contextmanager
    def _alone(self, turn: Turn, workload: Workload) -> Iterator[WorkerProcess]:
        """Open a separate process; its death does not end the process of the turn."""
        with self._open(turn, workload) as (worker, _):
            try:
                yield worker
            except WorkerFailed as failure:
                raise WorkerFailed(failure.failed, dead=False) from None

    # --- records -------------------------------------------------------------------------------------------

    def _blank(self, turn: Turn, workload: Workload, opened: Opened | None) -> Measurement:
        return Measurement(
            workload=workload.name,
            implementation=turn.implementation,
            exact=opened is None or opened.exact,
            copy=turn.copy,
            task=workload.task,
            state=workload.state,
            model=short_name(workload.model),
            round_trip=self._setup.materials.round_trip(workload.model),
            corpus=short_corpus(workload.corpus),
            status=Outcome.RIGHT,
            round=turn.round,
            order=turn.workloads.index(workload),
            threads=self._threads(workload),
            pinned=opened is not None and opened.pinned,
            remembered=self._text_memory.remembered(turn.implementation, workload),
        )

    def _keep(self, record: Measurement, outcome: Measured | Failed) -> None:
        fill(record, outcome)
        self.note(record)
        self._write(record)

    def _with_counterexample(self, turn: Turn, workload: Workload, failed: Failed) -> Failed:
        """Return the mismatch with the smallest counterexample that a fresh process finds around it."""
        if failed.status != "mismatch" or not failed.candidates or workload.task == "train":
            return failed
        found: Counterexample | None = None
        if reference := self._setup.references.name_for(workload.model):
            with suppress(WorkerFailed), self._on_model(turn, workload, workload.model) as (worker, _):
                found = worker.ask(4 * SHRINK_SECONDS, judge.shrink, failed.candidates, reference, SHRINK_SECONDS)
        if found is None:
            seen = failed.counterexample or Counterexample(
                text=Text.of(min(failed.candidates, key=len)[:1000].decode("utf-8", "replace")),
                expected=None,
                got=None,
            )
            note = "; ".join(part for part in (seen.note, "not seen again in a fresh process") if part)
            found = msgspec.structs.replace(seen, note=note)
        return msgspec.structs.replace(failed, counterexample=found)
