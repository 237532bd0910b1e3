"""Find implementations that cache whole texts: tested once per run, for every model and kind of call.

Two processes that time nothing else: the first times texts that it was given before, the second the texts given to the
first. The texts come from a fresh random seed, so that nothing cached in an earlier run can know them.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable

from harness.measure.jobs.recall import recall_opened, remembers
from harness.measure.protocol import Job, Recall
from harness.measure.run.setup import Setup, fill
from harness.measure.schedule import Profile
from harness.measure.worker import WorkerFailed
from harness.measure.workloads import GROWING, ONCE_ONLY, State, Task, Workload, short_name
from harness.records import Remembered, TextMemory

PASS_SHARE = 0.25
"""Share of a pass's time budget for making a text and having it encoded."""


class TextMemoryDetector:
    """Tests implementations for caches of whole texts; keeps the results by implementation and model."""

    def __init__(self, setup: Setup, write: Callable[[TextMemory], None], profile: Profile) -> None:
        self._setup, self._write, self._profile = setup, write, profile
        self._found: dict[tuple[str, str, str, str, bool], TextMemory] = {}

    def note(self, record: TextMemory) -> None:
        """Take over the result stored in a record."""
        self._found[record.implementation, record.model, record.task, record.state, record.earlier] = record

    def remembered(self, implementation: str, workload: Workload) -> Remembered:
        """Return whether samples of `implementation` on `workload` may come from a cache of whole texts."""
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

        If an implementation does not support the model, or texts are unavailable, nothing is tested: the workloads
        record the reason. If it fails otherwise, the result is that failure.
        """
        kinds: dict[tuple[Task, State], Workload] = {}
        for workload in sorted(workloads, key=lambda workload: -workload.max_bytes):
            if workload.task not in ("train", "load") and _kind(workload) not in kinds:
                with contextlib.suppress(WorkerFailed):
                    self._setup.materials.texts(workload)
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
        materials, profile = self._setup.materials, self._profile
        with contextlib.ExitStack() as process:
            try:
                worker, _ = process.enter_context(self._setup.open(implementation, asked[0][0].model))
            except WorkerFailed as failure:
                if failure.failed.status not in ("unsupported", "missing"):
                    for workload, seed in asked:
                        record = _blank(implementation, workload, seed, earlier=earlier)
                        fill(record, failure.failed)
                        self._keep(record)
                return []
            for position, (workload, seed) in enumerate(asked, 1):
                record = _blank(implementation, workload, seed, earlier=earlier)
                task, state = _kind(workload)
                request = Recall(
                    job=Job(
                        task=task, state=state, texts=materials.texts(workload).path, limit_tokens=workload.limit_tokens
                    ),
                    most_bytes=workload.max_bytes,
                    text_bytes=workload.text_bytes,
                    budget_seconds=profile.pass_seconds * PASS_SHARE,
                    seed=seed,
                    earlier=earlier,
                )
                dead = False
                try:
                    found = worker.ask(profile.time_limit_seconds, recall_opened, request)
                    fill(record, found)
                    record.remembers = remembers(found.met_seconds, found.new_seconds)
                except WorkerFailed as failure:
                    fill(record, failure.failed)
                    dead = failure.dead
                self._keep(record)
                if dead:
                    return asked[position:]
        return []

    def _keep(self, record: TextMemory) -> None:
        self.note(record)
        self._write(record)


def _blank(implementation: str, workload: Workload, seed: int, *, earlier: bool) -> TextMemory:
    task, state = _kind(workload)
    return TextMemory(
        implementation=implementation,
        model=short_name(workload.model),
        task=task,
        state=state,
        earlier=earlier,
        seed=seed,
    )


def _kind(workload: Workload) -> tuple[Task, State]:
    """Return the task and state of the calls that show whether a workload's texts are cached."""
    task: Task = "encode" if workload.task in GROWING else workload.task
    return task, "same-object" if workload.state == "same-object" else "warm-same"
