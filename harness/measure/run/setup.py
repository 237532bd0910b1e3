"""What all measurements of a run share, and how an implementation is opened in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from harness.measure.jobs.opening import Opened
from harness.measure.protocol import Failed, Measured, Recalled
from harness.measure.run.materials import Materials
from harness.measure.run.references import References
from harness.measure.worker import OPEN_SECONDS, WorkerProcess
from harness.records import Measurement, TextMemory
from impls import Unsupported


def prepare_kernels() -> None:
    """Compile the kernels of `compiled` that the user's cache lacks, so that no process that is timed does it."""
    from impls.compiled.codegen.build import prepare

    with suppress(Unsupported):  # the verdict on it says so
        prepare()


class Setup(NamedTuple):
    """The materials and references of a run, and what its workers may use."""

    materials: Materials
    references: References
    cores: Sequence[int]
    """One of them for a worker with one thread, all for one with several."""
    memory_limit_bytes: int | None = None
    """Of a worker; None: `worker_limits` sets it."""

    @contextmanager
    def open(
        self, implementation: str, model: str, *, threads: int = 1, hash_seed: int = 0
    ) -> Iterator[tuple[WorkerProcess, Opened]]:
        """Build an implementation on a model (a name; empty: import it only) in a new process; raise `WorkerFailed`."""
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
    """Copy into a record every field of the outcome that it has."""
    for name in set(record.__struct_fields__).intersection(outcome.__struct_fields__):
        setattr(record, name, getattr(outcome, name))
