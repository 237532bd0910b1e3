"""Which implementations remember whole texts: tested once per run, for every model and kind of call.

Two processes that time nothing else: one is given texts and then asked for them again, the other is asked for the
texts of the first. The texts come from a fresh random seed, so that nothing kept from an earlier run can know them.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable

from harness.measure.materials import Materials, Unavailable
from harness.measure.processes import OPEN_SECONDS, WorkerFailed, WorkerProcess
from harness.measure.protocol import Job, Open, Opened, Recall, Recalled
from harness.measure.recall import remembers
from harness.measure.workloads import ONCE_ONLY, State, Workload, short_name
from harness.records import Remembered, TextMemory

PASS_SHARE = 0.25
"""Making a text and having it encoded may take this share of a pass's time budget."""


class TextMemoryDetector:
    """Tests implementations for memory of whole texts; keeps the results by implementation and model."""

    def __init__(
        self,
        materials: Materials,
        worker: Callable[[], WorkerProcess],
        write: Callable[[TextMemory], None],
        *,
        pass_seconds: float,
        limit_seconds: float,
        cores: Iterable[int],
    ) -> None:
        self._materials, self._worker, self._write = materials, worker, write
        self._budget_seconds, self._limit_seconds = pass_seconds * PASS_SHARE, limit_seconds
        self._cores = tuple(cores)
        self._found: dict[tuple[str, str, str, str, bool], TextMemory] = {}

    def note(self, record: TextMemory) -> None:
        """Take over the result in a record."""
        self._found[_key(record)] = record

    def remembered(self, implementation: str, workload: Workload) -> Remembered:
        """Return whether samples of `implementation` on `workload` may be answers from memory."""
        about = [
            record
            for record in self._found.values()
            if (record.implementation, record.model) == (implementation, short_name(workload.model))
        ]
        if any(record.remembers and record.earlier for record in about):
            return "machine"
        if workload.state in ONCE_ONLY:
            return ""
        own = [record for record in about if (record.task, record.state) == _kind(workload)]
        if any(record.remembers for record in own):
            return "process"
        return "unknown" if any(record.status != "ok" for record in own) else ""

    def detect(self, implementation: str, workloads: Iterable[Workload]) -> None:
        """Test every kind of call of these workloads, all on one model, that was not tested before.

        An implementation that cannot be built on the model, and texts that are unavailable, are left to the workloads,
        which record the reason.
        """
        kinds: dict[tuple[str, State], Workload] = {}
        for workload in sorted(workloads, key=lambda workload: -workload.max_bytes):
            if workload.task not in ("train", "load") and _kind(workload) not in kinds:
                with contextlib.suppress(Unavailable):
                    self._materials.texts(workload)
                    kinds[_kind(workload)] = workload
        for earlier in (False, True):
            left = []
            for _, workload in sorted(kinds.items()):
                given = self._known(implementation, workload, earlier=False)
                if self._known(implementation, workload, earlier=earlier):
                    continue
                if not earlier or (given is not None and given.status == "ok"):
                    left.append((workload, given.seed if given is not None else secrets.randbelow(2**31)))
            while left:
                left = self._ask(implementation, left, earlier=earlier)

    def _known(self, implementation: str, workload: Workload, *, earlier: bool) -> TextMemory | None:
        return self._found.get((implementation, short_name(workload.model), *_kind(workload), earlier))

    def _ask(
        self, implementation: str, asked: list[tuple[Workload, int]], *, earlier: bool
    ) -> list[tuple[Workload, int]]:
        """Test workloads, each with a seed, in one process until it dies; return those left."""
        with self._worker() as worker:
            try:
                model = self._materials.model(asked[0][0].model).path
                opening = Open(implementations=(implementation,), model=model, cores=self._cores)
                worker.ask(opening, Opened, seconds=OPEN_SECONDS)
            except (WorkerFailed, Unavailable):
                return []
            for position, (workload, seed) in enumerate(asked):
                task, state = _kind(workload)
                record = TextMemory(
                    implementation=implementation,
                    model=short_name(workload.model),
                    task=task,
                    state=state,
                    earlier=earlier,
                    seed=seed,
                )
                request = Recall(
                    job=Job(task=workload.task, state=state, texts=self._materials.texts(workload).path),
                    most_bytes=workload.max_bytes,
                    text_bytes=workload.text_bytes,
                    budget_seconds=self._budget_seconds,
                    seed=seed,
                    earlier=earlier,
                )
                try:
                    found = worker.ask(request, Recalled, seconds=self._limit_seconds)
                    record.n_bytes = found.n_bytes
                    record.met_seconds, record.new_seconds = found.met_seconds, found.new_seconds
                    record.remembers = remembers(found.met_seconds, found.new_seconds)
                except WorkerFailed as failure:
                    record.status, record.reason = failure.failed.status, failure.failed.reason
                    if failure.dead:
                        self._keep(record)
                        return asked[position + 1 :]
                self._keep(record)
        return []

    def _keep(self, record: TextMemory) -> None:
        self.note(record)
        self._write(record)


def _kind(workload: Workload) -> tuple[str, State]:
    """Return the task and state of the calls that show whether a workload's texts are remembered."""
    return workload.task, "same-object" if workload.state == "same-object" else "warm-same"


def _key(record: TextMemory) -> tuple[str, str, str, str, bool]:
    return record.implementation, record.model, record.task, record.state, record.earlier
