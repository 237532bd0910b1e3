"""Growth of time with the size of the input: one pass over each of a series of generated texts.

Each implementation and family has its own process per round. Every size is read once, so that no cache helps; the
series ends at the first size that fails or exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from harness.measure import placement
from harness.measure.jobs import measured
from harness.measure.protocol import Job, Measure
from harness.measure.run.materials import Materials
from harness.measure.run.setup import References, Setup, fill
from harness.measure.scaling import Scale, limit_of, workload_of
from harness.measure.worker import OPEN_SECONDS, WorkerFailed, WorkerProcess
from harness.measure.workloads import Workload, short_name
from harness.outcome import Outcome
from harness.records import AnyRecord, Measurement, RecordError, of_kind

VERIFY_SECONDS = 2.0
"""Time beyond the limit for verification."""
_WARM_UP_FAMILY = "letters"
_WARM_UP_BYTES = 500


def measure_scaling(
    scale: Scale,
    materials: Materials,
    write: Callable[[Measurement], None],
    *,
    done: Iterable[AnyRecord] = (),
    references: References | None = None,
) -> list[Measurement]:
    """Write one `Measurement` per implementation, family, size and round, up to the first too slow or not ok.

    Return all of them; those in `done` are neither measured again nor written again. Raise `RecordError` if those had
    another limit, since their curves ended elsewhere.
    """
    names = {workload_of(scale, family, size).name for family in scale.families for size in scale.sizes}
    records = [record for record in of_kind(done, Measurement) if record.workload in names]
    if others := {limit_of(record) for record in records} - {scale.limit_seconds}:
        raise RecordError(
            f"the curves there were measured with --limit {min(others):g}, not {scale.limit_seconds:g}; use that "
            "limit, or use another --out"
        )
    known = {(record.workload, record.implementation, record.round): record for record in records}
    with ExitStack() as stack:
        cores = stack.enter_context(placement.parent_on_first_core())
        references = references or stack.enter_context(References(materials))
        setup = Setup(materials, references, cores)
        for number in range(scale.rounds):
            for family in scale.families:
                for name in scale.implementations:
                    for record in _Curve(scale, setup, name, family, number).records(known):
                        write(record)
                        records.append(record)
    return records


class _Curve(NamedTuple):
    """One implementation on one family in one round: one process, smallest size first."""

    scale: Scale
    setup: Setup
    implementation: str
    family: str
    number: int

    def records(self, known: Mapping[tuple[str, str, int], Measurement]) -> Iterator[Measurement]:
        """Measure and yield the records that are not known yet."""
        with ExitStack() as process:
            worker: WorkerProcess | None = None
            for size in self.scale.sizes:
                workload = workload_of(self.scale, self.family, size)
                record = known.get((workload.name, self.implementation, self.number))
                if record is None:
                    record = self._blank(workload)
                    try:
                        if worker is None:
                            opening = self.setup.open(self.implementation, self.scale.model, hash_seed=self.number)
                            worker, opened = process.enter_context(opening)
                            self._warm_up(worker)
                        record.exact, record.pinned = opened.exact, opened.pinned
                        self._measure(worker, workload, record)
                    except WorkerFailed as failure:
                        fill(record, failure.failed)
                    yield record
                if self._ends(record):
                    return

    def _ends(self, record: Measurement) -> bool:
        return record.status != "ok" or min(record.samples_seconds) > self.scale.limit_seconds

    def _blank(self, workload: Workload) -> Measurement:
        return Measurement(
            workload=workload.name,
            implementation=self.implementation,
            task="encode",
            model=short_name(self.scale.model),
            corpus=workload.corpus,
            status=Outcome.RIGHT,
            state="cold",
            round=self.number,
            limit_seconds=self.scale.limit_seconds,
        )

    def _warm_up(self, worker: WorkerProcess) -> None:
        """Run a short text, so that the first size does not include the cost of a first call."""
        texts = self.setup.materials.texts(workload_of(self.scale, _WARM_UP_FAMILY, _WARM_UP_BYTES))
        job = Job(task="encode", state="warm-same", texts=texts.path)
        expected = self.setup.references.expected(job, self.scale.model)
        request = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0.01)
        worker.ask(OPEN_SECONDS, measured.measure, request)

    def _measure(self, worker: WorkerProcess, workload: Workload, record: Measurement) -> None:
        """Fill in `record`. A pass is stopped only after the limit, so that a timeout took at least that long."""
        record.round_trip = self.setup.materials.round_trip(self.scale.model)
        texts = self.setup.materials.texts(workload)
        record.full_bytes = record.n_bytes = texts.n_bytes
        job = Job(task="encode", state="cold", texts=texts.path)
        expected = self.setup.references.expected(job, self.scale.model)
        record.reference = "" if expected is None else expected.reference
        request = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0)
        fill(record, worker.ask(self.scale.limit_seconds + VERIFY_SECONDS, measured.measure, request))
