"""Growth of time with the size of the input: one pass over each of a series of generated texts, and the exponent.

Each implementation and family has its own process per round. Every size is read once, so that no cache of pieces can
answer; the series ends at the first size that fails or exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from harness.measure import placement
from harness.measure.materials import Materials, Unavailable
from harness.measure.processes import OPEN_SECONDS, WorkerFailed, WorkerProcess
from harness.measure.protocol import Failed, Job, Measure, Measured, Open, Opened
from harness.measure.references import References
from harness.measure.samples import SCALE_PREFIX
from harness.measure.stats import Exponent, fit_exponent
from harness.measure.workloads import Workload, short_name
from harness.records import AnyRecord, Measurement, RecordError, of_kind

FAMILIES = ("repeats", "letters", "spaces", "cjk", "digits")
"""The default families; `harness.data.generated.ADVERSARIAL` has more."""
SIZES = tuple(1024 << step for step in range(11))
"""1 KB to 1 MB: ten doublings, of which a slow implementation does the first few."""
PASS_LIMIT_SECONDS = 3.0
"""The default limit of a pass, and that of records without one."""
VERIFY_SECONDS = 2.0
"""Time beyond the limit for verification."""
_WARM_UP_FAMILY = "letters"
_WARM_UP_BYTES = 500


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What `measure_scaling` measures."""

    implementations: tuple[str, ...]
    model: str
    """Name or path."""
    families: tuple[str, ...] = FAMILIES
    sizes: tuple[int, ...] = SIZES
    rounds: int = 3
    limit_seconds: float = PASS_LIMIT_SECONDS


def workload_of(scale: Scale, family: str, n_bytes: int) -> Workload:
    """Return the workload of one family and size."""
    corpus = f"gen/{family}:{n_bytes}"
    return Workload(
        name=f"{SCALE_PREFIX}{short_name(scale.model)}/{corpus}",
        task="encode",
        state="cold",
        model=scale.model,
        corpus=corpus,
        max_bytes=n_bytes,
    )


def measure_scaling(
    scale: Scale,
    materials: Materials,
    write: Callable[[Measurement], None],
    *,
    done: Iterable[AnyRecord] = (),
    references: References | None = None,
    memory_limit_bytes: int | None = None,
) -> list[Measurement]:
    """Write one `Measurement` per implementation, family, size and round, up to the first too slow or not ok.

    Return all of them; those in `done` are neither measured again nor written.
    Raise `RecordError` where those had another limit: their curves ended elsewhere.
    """
    names = {workload_of(scale, family, size).name for family in scale.families for size in scale.sizes}
    records = [record for record in of_kind(done, Measurement) if record.workload in names]
    _refuse_another_limit(records, scale.limit_seconds)
    known = {(record.workload, record.implementation, record.round): record for record in records}

    def keep(record: Measurement) -> None:
        write(record)
        records.append(record)

    own = References(materials) if references is None else references
    with placement.parent_on_first_core() as cores:
        try:
            for number in range(scale.rounds):
                for family in scale.families:
                    for name in scale.implementations:
                        curve = _Curve(scale, name, family, number, known)
                        for record in curve.records(materials, own, cores, memory_limit_bytes):
                            keep(record)
        finally:
            if references is None:
                own.close()
    return records


def _refuse_another_limit(records: Sequence[Measurement], limit_seconds: float) -> None:
    others = {limit_of(record) for record in records} - {limit_seconds}
    if others:
        raise RecordError(
            f"the curves there were measured with --limit {min(others):g}, not {limit_seconds:g}; use that limit, or "
            "use another --out"
        )


def limit_of(record: Measurement) -> float:
    """Return the limit of a pass a record was made with, in seconds."""
    return PASS_LIMIT_SECONDS if record.limit_seconds is None else record.limit_seconds


def family_of(record: Measurement) -> str:
    """Return the generated family of a measurement of growth: `repeats`, `letters`, …"""
    return record.corpus.removeprefix("gen/").partition(":")[0]


class _Curve(NamedTuple):
    """One implementation on one family in one round: one process, smallest size first."""

    scale: Scale
    implementation: str
    family: str
    number: int
    known: Mapping[tuple[str, str, int], Measurement]

    def records(
        self, materials: Materials, references: References, cores: Sequence[int], memory_limit_bytes: int | None
    ) -> Iterator[Measurement]:
        """Measure and yield the records that are not known yet."""
        opened: Opened | None = None
        left = [workload_of(self.scale, self.family, size) for size in self.scale.sizes]
        while left and (record := self.known.get((left[0].name, self.implementation, self.number))) is not None:
            left = [] if self._ends(record) else left[1:]
        if not left:
            return
        with WorkerProcess(
            hash_seed=self.number, memory_limit_bytes=memory_limit_bytes, temporary=materials.temporary
        ) as worker:
            for workload in left:
                record = self._blank(workload)
                try:
                    if opened is None:
                        opened = _open(worker, self.scale, self.implementation, materials, references, cores)
                    record.exact, record.pinned = opened.exact, opened.pinned
                    self._measure(worker, workload, record, materials, references)
                except WorkerFailed as failure:
                    record.status, record.reason = failure.failed.status, failure.failed.reason
                    record.counterexample = failure.failed.counterexample
                except Unavailable as error:
                    record.status, record.reason = "missing", str(error)
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
            status="ok",
            state="cold",
            round=self.number,
            limit_seconds=self.scale.limit_seconds,
        )

    def _measure(
        self,
        worker: WorkerProcess,
        workload: Workload,
        record: Measurement,
        materials: Materials,
        references: References,
    ) -> None:
        """Fill in `record`. A pass is stopped only after the limit, so that a timeout took at least that long."""
        record.round_trip = materials.round_trip(self.scale.model)
        texts = materials.texts(workload)
        record.full_bytes = record.n_bytes = texts.n_bytes
        job = Job(task="encode", state="cold", texts=texts.path)
        expected = references.expected(job, self.scale.model)
        record.reference = "" if expected is None else expected.reference
        request = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0)
        measured = worker.ask(request, Measured, seconds=self.scale.limit_seconds + VERIFY_SECONDS)
        for name in Measured.__struct_fields__:
            setattr(record, name, getattr(measured, name))


def _open(
    worker: WorkerProcess,
    scale: Scale,
    implementation: str,
    materials: Materials,
    references: References,
    cores: Sequence[int],
) -> Opened:
    """Build the implementation and warm it up, so that the first size does not include the cost of a first call."""
    model = materials.model(scale.model).path
    request = Open(implementations=(implementation,), model=model, cores=tuple(cores[-1:]))
    opened = worker.ask(request, Opened, seconds=OPEN_SECONDS)
    job = Job(
        task="encode",
        state="warm-same",
        texts=materials.texts(workload_of(scale, _WARM_UP_FAMILY, _WARM_UP_BYTES)).path,
    )
    warm_up = Measure(job=job, expected=references.expected(job, scale.model), n_samples=1, sample_seconds=0.01)
    worker.ask(warm_up, Measured, seconds=OPEN_SECONDS)
    return opened


def exponents(records: Iterable[Measurement]) -> dict[tuple[str, str], Exponent | Failed]:
    """Map (implementation, family) -> exponent over its sizes, or the verdict where fewer than two sizes were ok.

    The time of a size is the minimum over its rounds. A timeout gives a lower bound at its limit.
    """
    records = list(records)
    points: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        by_size = points.setdefault((record.implementation, family_of(record)), {})
        if record.status == "ok":
            seconds = min(record.samples_seconds)
            by_size[record.n_bytes] = min(seconds, by_size.get(record.n_bytes, seconds))
    ended = ends(records)
    found: dict[tuple[str, str], Exponent | Failed] = {}
    for key, by_size in points.items():
        end = ended.get(key)
        timeout = None
        if end is not None and end.status == "timeout" and end.n_bytes > max(by_size, default=0) > 0:
            timeout = (end.n_bytes, limit_of(end))
        fit = fit_exponent(list(by_size.items()), timeout)
        if fit is not None:
            found[key] = fit
        elif end is not None:
            found[key] = Failed(status=end.status, reason=end.reason)
    return found


def ends(records: Iterable[Measurement]) -> dict[tuple[str, str], Measurement]:
    """Map (implementation, family) -> the record of the smallest size that was not ok, where there is one."""
    found: dict[tuple[str, str], Measurement] = {}
    for record in records:
        key = (record.implementation, family_of(record))
        if record.status != "ok" and (key not in found or record.n_bytes < found[key].n_bytes):
            found[key] = record
    return found
