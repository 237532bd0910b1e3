"""Run one turn: open the implementation, choose its slice of the text, verify it, time it, record the outcome."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.measure.materials import Materials, TextFile, Unavailable
from harness.measure.processes import OPEN_SECONDS, WorkerFailed, WorkerProcess
from harness.measure.protocol import (
    Expected,
    Failed,
    Job,
    Measure,
    Measured,
    MeasureMemory,
    MemoryMeasured,
    Open,
    Opened,
    Shrink,
    Shrunk,
    Size,
    Sized,
)
from harness.measure.references import References
from harness.measure.schedule import Plan, Turn
from harness.measure.text_memory import TextMemoryDetector
from harness.measure.texts import write_texts
from harness.measure.worker import FIRST_TEXT
from harness.measure.workloads import ONCE_ONLY, Workload, short_corpus, short_name
from harness.records import Counterexample, Measurement, Text, TextMemory

SHRINK_SECONDS = 5.0
_ONCE_FACTOR = 5
"""A pass made only once may take this many times longer: first readings compare on whole texts only."""
_NOTHING_TO_DECODE = "no reference gives ids to decode, or two of them differ"
_TAINTED = ("panic", "out-of-memory", "crash")
"""Verdicts after which a process is not reused for another workload."""

Write = Callable[[Measurement | TextMemory], None]


def _pass_bytes(workload: Workload, texts: TextFile) -> int:
    """Return the bytes of one pass over the whole text; some states read one stretch of it per pass."""
    return texts.n_bytes // workload.n_passes


class Runner:
    """Turns a `Turn` into records; keeps the slice sizes found and the failures seen."""

    def __init__(
        self,
        plan: Plan,
        materials: Materials,
        references: References,
        write: Write,
        cores: list[int],
        memory_limit_bytes: int | None,
    ) -> None:
        self._plan, self._materials, self._references = plan, materials, references
        self._write, self._cores = write, cores
        self._memory_limit_bytes = memory_limit_bytes
        self._text_memory = TextMemoryDetector(
            materials,
            lambda: WorkerProcess(memory_limit_bytes=self._memory_limit_bytes, temporary=materials.temporary),
            write,
            pass_seconds=plan.profile.pass_seconds,
            limit_seconds=plan.profile.time_limit_seconds,
            cores=cores[-1:],
        )
        self._slices: dict[tuple[str, str], tuple[int, int]] = {}
        self._failed: set[tuple[str, str, int]] = set()

    def note(self, record: Measurement | TextMemory) -> None:
        """Take over what a record says: the slice it was measured on, a failure, text memory."""
        if isinstance(record, TextMemory):
            self._text_memory.note(record)
            return
        if record.status != "ok":
            self._failed.add((record.workload, record.implementation, record.copy))
        elif record.task != "load":
            self._slices[record.workload, record.implementation] = (record.n_bytes, record.full_bytes)

    def has_failed(self, workload: Workload, turn: Turn) -> bool:
        """Return whether an earlier round failed on this workload."""
        return (workload.name, turn.implementation, turn.copy) in self._failed

    def run_turn(self, turn: Turn, workloads: list[Workload]) -> None:
        """Run `workloads` of a turn, in a new process after each crash; first test for memory of whole texts."""
        first = workloads[0]
        if first.task not in ("train", "load") and turn.copy == 0:
            alike = [w for w in self._plan.workloads if w.model == first.model and w.applies_to(turn.implementation)]
            self._text_memory.detect(turn.implementation, alike)
        left = list(workloads)
        while left:
            left = self._run_in_one_process(turn, left)

    def _run_in_one_process(self, turn: Turn, workloads: list[Workload]) -> list[Workload]:
        """Run workloads in one process until it dies; return those left."""
        with self._worker(turn, workloads[0]) as worker:
            try:
                opened = self._open(worker, turn, workloads[0])
            except WorkerFailed as failure:
                self._record_all(turn, workloads, failure.failed)
                return []
            except Unavailable as error:
                self._record_all(turn, workloads, Failed(status="missing", reason=str(error)))
                return []
            for position, workload in enumerate(workloads):
                try:
                    self._record(turn, workload, opened, *self._measured(worker, turn, workload))
                except Unavailable as error:
                    self._record(turn, workload, opened, Failed(status="missing", reason=str(error)))
                except WorkerFailed as failure:
                    failed = self._with_counterexample(turn, workload, failure.failed)
                    self._record(turn, workload, opened, failed, full_bytes=self._full_bytes(workload))
                    if failure.dead or failure.failed.status in _TAINTED:
                        return workloads[position + 1 :]
        return []

    def _full_bytes(self, workload: Workload) -> int:
        """Return the bytes of the text an implementation failed on after it had been built."""
        return 0 if workload.task == "load" else _pass_bytes(workload, self._materials.texts(workload))

    def _worker(self, turn: Turn, workload: Workload) -> WorkerProcess:
        return WorkerProcess(
            threads=self._threads(workload),
            hash_seed=self._plan.seed * 1000 + turn.round,
            memory_limit_bytes=self._memory_limit_bytes,
            temporary=self._materials.temporary,
        )

    def _threads(self, workload: Workload) -> int:
        return workload.threads or len(self._cores)

    def _open(self, worker: WorkerProcess, turn: Turn, workload: Workload) -> Opened:
        model = ""
        if workload.task == "load":
            self._materials.model(workload.model)
        elif workload.task != "train":
            model = self._materials.model(workload.model).path
        cores = self._cores[-1:] if self._threads(workload) == 1 else self._cores
        request = Open(implementations=(turn.implementation,), model=model, cores=tuple(cores))
        return worker.ask(request, Opened, seconds=OPEN_SECONDS)

    # --- one workload --------------------------------------------------------------------------------------

    def _job(self, workload: Workload, texts: TextFile | None, n_bytes: int) -> Job:
        load = workload.task == "load"
        return Job(
            task=workload.task,
            state=workload.state,
            texts="" if texts is None else texts.path,
            n_bytes=n_bytes,
            threads=self._threads(workload),
            training=workload.training,
            document_bytes=workload.document_bytes,
            model_file=self._materials.own_format(workload.model) if load else "",
        )

    def _measured(self, worker: WorkerProcess, turn: Turn, workload: Workload) -> tuple[Measured, Expected | None, int]:
        """Choose the slice, get the expected answer, measure; also return the bytes of the whole workload."""
        limit = self._plan.profile.time_limit_seconds
        texts: TextFile | None = None
        n_bytes = full_bytes = 0
        if workload.task == "load":
            job = self._job(workload, None, 0)
            expected = self._references.expected(self._first_text_job(), workload.model)
        else:
            texts = self._materials.texts(workload)
            if workload.task == "decode" and self._expected(workload, self._job(workload, texts, 0)) is None:
                raise WorkerFailed(Failed(status="unverified", reason=_NOTHING_TO_DECODE), dead=False)
            n_bytes, full_bytes = self._slice(worker, turn, workload, texts)
            job = self._job(workload, texts, n_bytes if n_bytes < full_bytes else 0)
            expected = self._expected(workload, job)
        request = Measure(
            job=job,
            expected=expected,
            n_samples=self._plan.profile.n_samples,
            sample_seconds=self._plan.profile.sample_seconds,
            most_seconds=limit / 2,
        )
        measured = worker.ask(request, Measured, seconds=limit)
        whole = n_bytes == full_bytes and workload.task not in ("load", "count", "decode")
        if whole and workload.digest and measured.digest != workload.digest:
            reason = "the ids are not those the workload file expects (or its text or model has changed)"
            raise WorkerFailed(Failed(status="mismatch", reason=reason), dead=False)
        if not workload.has_own_process:
            peak = self._peak_memory_bytes(turn, workload, job, expected) if (turn.round, turn.copy) == (0, 0) else None
            measured = msgspec.structs.replace(measured, peak_memory_bytes=peak)
        return measured, expected, full_bytes

    def _peak_memory_bytes(self, turn: Turn, workload: Workload, job: Job, expected: Expected | None) -> int | None:
        """Return the peak memory of a job in a process that runs nothing else; None where that fails."""
        ids_file = "" if expected is None else expected.ids_file
        try:
            with self._worker(turn, workload) as own:
                self._open(own, turn, workload)
                limit = self._plan.profile.time_limit_seconds
                return own.ask(
                    MeasureMemory(job=job, ids_file=ids_file), MemoryMeasured, seconds=limit
                ).peak_memory_bytes
        except (WorkerFailed, Unavailable):
            return None

    def _expected(self, workload: Workload, job: Job) -> Expected | None:
        return self._references.expected(job, "" if workload.task == "train" else workload.model)

    def _first_text_job(self) -> Job:
        path = self._materials.new_path("first-text")
        if not path.exists():
            write_texts(path, [FIRST_TEXT.encode()])
        return Job(task="encode", state="warm-same", texts=str(path))

    def _slice(self, worker: WorkerProcess, turn: Turn, workload: Workload, texts: TextFile) -> tuple[int, int]:
        """Return the bytes of a pass and of the whole text; found once per workload and implementation.

        Where text may be read only once, the size is found in a separate process. Training always uses the whole text:
        its time is not proportional to bytes, so slices would not compare. So do workloads declared `whole`, whose
        texts break some implementation only at full length.
        """
        known = (workload.name, turn.implementation)
        if workload.is_whole:
            return (_pass_bytes(workload, texts),) * 2
        if known not in self._slices:
            profile = self._plan.profile
            job = self._job(workload, texts, 0)
            expected = self._expected(workload, job) if workload.task == "decode" else None
            request = Size(
                job=job,
                budget_seconds=profile.pass_seconds * (_ONCE_FACTOR if workload.state in ONCE_ONLY else 1),
                ids_file="" if expected is None else expected.ids_file,
            )
            if workload.state in ONCE_ONLY:
                with self._worker(turn, workload) as own:
                    self._open(own, turn, workload)
                    try:
                        sized = own.ask(request, Sized, seconds=profile.time_limit_seconds)
                    except WorkerFailed as failure:
                        raise WorkerFailed(failure.failed, dead=False) from None
            else:
                sized = worker.ask(request, Sized, seconds=profile.time_limit_seconds)
            self._slices[known] = (sized.n_bytes, sized.full_bytes)
        return self._slices[known]

    # --- records -------------------------------------------------------------------------------------------

    def _record_all(self, turn: Turn, workloads: list[Workload], failed: Failed) -> None:
        for workload in workloads:
            self._record(turn, workload, None, failed)

    def _record(
        self,
        turn: Turn,
        workload: Workload,
        opened: Opened | None,
        outcome: Measured | Failed,
        expected: Expected | None = None,
        full_bytes: int = 0,
    ) -> None:
        record = Measurement(
            workload=workload.name,
            implementation=turn.implementation,
            exact=opened is None or opened.exact,
            copy=turn.copy,
            task=workload.task,
            state=workload.state,
            model=short_name(workload.model),
            round_trip=self._materials.round_trip(workload.model),
            corpus=short_corpus(workload.corpus),
            status="ok",
            round=turn.round,
            order=turn.workloads.index(workload),
            full_bytes=full_bytes,
            threads=self._threads(workload),
            pinned=opened is not None and opened.pinned,
            reference="" if expected is None else expected.reference,
            remembered=self._text_memory.remembered(turn.implementation, workload),
        )
        if isinstance(outcome, Failed):
            record.status, record.reason = outcome.status, outcome.reason
            record.counterexample = outcome.counterexample
        else:
            for name in Measured.__struct_fields__:
                setattr(record, name, getattr(outcome, name))
        self.note(record)
        self._write(record)

    def _with_counterexample(self, turn: Turn, workload: Workload, failed: Failed) -> Failed:
        """Return the mismatch with the smallest counterexample a fresh process finds around it."""
        if failed.status != "mismatch" or not failed.candidates or workload.task == "train":
            return failed
        reference = self._references.name_for(workload.model)
        request = Shrink(texts=failed.candidates, reference=reference, seconds=SHRINK_SECONDS)
        found: Counterexample | None = None
        if reference:
            with self._worker(turn, workload) as worker:
                try:
                    opening = Open(
                        implementations=(turn.implementation,),
                        model=self._materials.model(workload.model).path,
                    )
                    worker.ask(opening, Opened, seconds=OPEN_SECONDS)
                    found = worker.ask(request, Shrunk, seconds=SHRINK_SECONDS * 4).counterexample
                except WorkerFailed:
                    found = None
        if found is None:
            seen = failed.counterexample or Counterexample(
                text=Text.of(min(failed.candidates, key=len)[:1000].decode("utf-8", "replace")),
                expected=None,
                got=None,
            )
            note = "; ".join(part for part in (seen.note, "not seen again in a fresh process") if part)
            found = msgspec.structs.replace(seen, note=note)
        return msgspec.structs.replace(failed, counterexample=found)
