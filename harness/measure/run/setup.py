"""Shared by all measurements of a run: expected answers of references, and implementations in processes of their own.

No reference is trusted alone, or it would verify itself: a second one must give the same answer to the beginning of the
text, or neither is used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import msgspec

from harness.measure.jobs.measured import answer_as_reference
from harness.measure.jobs.opening import Opened
from harness.measure.protocol import Expected, Failed, Job, Measured, Recalled
from harness.measure.run.materials import Materials
from harness.measure.worker import OPEN_SECONDS, WorkerFailed, WorkerProcess
from harness.measure.workloads import STRETCHES
from harness.records import Measurement, TextMemory
from impls import Unsupported

ENCODERS = ("tiktoken", "priority", "naive")
"""References for the ids, in order of preference: the first that can run the model on the text."""
TRAINERS = ("priority", "wordcount", "naive")
"""References for the merges, in order of preference, and for their confirmation."""
FILE_TRAINERS = ("compiled", "gigabpe", "tokenizers", "rustbpe", "sentencepiece", "priority")
"""References for merges learned from a file, which may be large; the first that can confirms all of them."""
CONFIRMING = ("priority", "backtracking", "compiled")
"""References that confirm ids, in order of preference."""
REFERENCE_SECONDS = 180.0
CONFIRMED_BYTES = 4_000
"""How much of each job's text a second reference answers."""


class References:
    """The references of a run: one worker per model and reference, with all answers so far."""

    def __init__(
        self, materials: Materials, encoders: Sequence[str] = ENCODERS, confirming: Sequence[str] = CONFIRMING
    ) -> None:
        self._materials, self._encoders, self._confirming = materials, encoders, confirming
        self._workers: dict[tuple[str, str], WorkerProcess | None] = {}
        self._answers: dict[tuple[str, ...], Expected | None] = {}
        self._number = 0

    def __enter__(self) -> References:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in filter(None, self._workers.values()):
            worker.close()

    def expected(self, job: Job, model: str) -> Expected | None:
        """Return the confirmed answer to a job on a model (empty: training); None if there is none."""
        state = job.state if job.state in (*STRETCHES, "sustained") else ""
        key = (model, job.texts, str(job.n_bytes), state, repr(sorted(job.training.items())))
        if key not in self._answers:
            self._answers[key] = self._asked(job, model)
        return self._answers[key]

    def name_for(self, model: str) -> str:
        """Return the name of the reference for a model, or an empty string."""
        return next((name for name in self._encoders if self._worker(name, model) is not None), "")

    def _asked(self, job: Job, model: str) -> Expected | None:
        trainers = FILE_TRAINERS if job.reads_file else TRAINERS
        first, confirming = (trainers, trainers) if job.task == "train" else (self._encoders, self._confirming)
        for name in first:
            answer = self._answer(name, job, model)
            if answer is not None:
                others = (other for other in confirming if other != name)
                return answer if self._is_confirmed(name, others, job, model) else None
        return None

    def _is_confirmed(self, name: str, others: Iterable[str], job: Job, model: str) -> bool:
        """Return whether the first of `others` able to answer agrees with `name`.

        Only the beginning of the text is compared, but all of a file.
        """
        beginning = job
        if not job.reads_file:
            beginning = msgspec.structs.replace(job, n_bytes=min(job.n_bytes or CONFIRMED_BYTES, CONFIRMED_BYTES))
        second = next(filter(None, (self._answer(other, beginning, model) for other in others)), None)
        first = None if second is None else self._answer(name, beginning, model)
        return first is not None and second is not None and first.digest == second.digest

    def _answer(self, name: str, job: Job, model: str) -> Expected | None:
        """Return a reference's answer, or None."""
        worker = self._worker(name, model)
        if worker is None:
            return None
        self._number += 1
        path = str(self._materials.new_path(f"ids-{self._number}"))
        try:
            return worker.ask(REFERENCE_SECONDS, answer_as_reference, job, path)
        except WorkerFailed as failure:
            if failure.dead:
                worker.close()
                del self._workers[name, model]
            return None

    def _worker(self, name: str, model: str) -> WorkerProcess | None:
        if (name, model) not in self._workers:
            self._workers[name, model] = self._started(name, model)
        return self._workers[name, model]

    def _started(self, name: str, model: str) -> WorkerProcess | None:
        path = self._materials.model(model).path if model else ""
        worker = WorkerProcess(temporary=self._materials.temporary)
        with contextlib.suppress(WorkerFailed):
            worker.open(name, path, seconds=REFERENCE_SECONDS)
            return worker
        worker.close()
        return None


def prepare_kernels() -> None:
    """Compile the kernels of `compiled` that are missing in the user's cache, so that no timed process does it."""
    from impls.compiled.codegen.build import prepare

    with suppress(Unsupported):  # its own verdict reports it
        prepare()


class Setup(NamedTuple):
    """The materials and references of a run, and the resources of its workers."""

    materials: Materials
    references: References
    cores: Sequence[int]
    """A worker with one thread uses one of them, a worker with several uses all."""
    memory_limit_bytes: int | None = None
    """Memory limit of a worker; None for that of `worker_limits`."""

    @contextmanager
    def open(
        self, implementation: str, model: str, *, threads: int = 1, hash_seed: int = 0
    ) -> Iterator[tuple[WorkerProcess, Opened]]:
        """Build an implementation on a model (a name; empty: only import it) in a new process; raise `WorkerFailed`."""
        path = self.materials.model(model).path if model else ""
        cores = self.cores[-1:] if threads == 1 else self.cores
        with WorkerProcess(
            threads=threads,
            hash_seed=hash_seed,
            memory_limit_bytes=self.memory_limit_bytes,
            temporary=self.materials.temporary,
        ) as worker:
            yield worker, worker.open(implementation, path, tuple(cores), seconds=OPEN_SECONDS)


def fill(record: Measurement | TextMemory, outcome: Measured | Recalled | Failed) -> None:
    """Copy every field of the outcome that the record also has into the record."""
    for name in set(record.__struct_fields__).intersection(outcome.__struct_fields__):
        setattr(record, name, getattr(outcome, name))
