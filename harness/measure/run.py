"""Carrying out a plan: turn after turn, each in a process of its own, every outcome a record on disk at once.

Nothing else runs meanwhile. What is recorded is not run again; what cannot be run is recorded with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Protocol

from harness.measure import placement
from harness.measure.conductor import Conductor, Write
from harness.measure.materials import Materials
from harness.measure.references import References
from harness.measure.schedule import Plan, Turn, keys, turns
from harness.records import AnyRecord, Measurement, key_of, of_kind


class Progress(Protocol):
    """What a run tells whoever watches it."""

    def started(self, n_records: int, n_done: int) -> None:
        """There are `n_records` to be written, of which `n_done` are there."""

    def turn(self, turn: Turn) -> None:
        """A process starts."""

    def recorded(self, record: Measurement) -> None:
        """A record was written."""

    def passed_over(self, n_records: int) -> None:
        """So many records will not be written, because an earlier round already failed."""


class Silent:
    """A `Progress` that says nothing."""

    def started(self, n_records: int, n_done: int) -> None:
        """Say nothing."""

    def turn(self, turn: Turn) -> None:
        """Say nothing."""

    def recorded(self, record: Measurement) -> None:
        """Say nothing."""

    def passed_over(self, n_records: int) -> None:
        """Say nothing."""


def run(
    plan: Plan,
    materials: Materials,
    write: Write,
    *,
    done: Iterable[AnyRecord] = (),
    progress: Progress | None = None,
    references: References | None = None,
    memory_limit_bytes: int | None = None,
) -> None:
    """Write one `Measurement` for every workload, implementation, copy and round of `plan` that is not `done`.

    After a verdict other than ok the implementation's later rounds on that workload are passed over.
    """
    progress = progress or Silent()
    watcher = progress

    def tell(record: Measurement) -> None:
        write(record)
        watcher.recorded(record)

    recorded = {key_of(record): record for record in of_kind(done, Measurement)}
    planned = list(turns(plan))
    progress.started(sum(len(turn.workloads) for turn in planned), len(recorded))
    with ExitStack() as stack:
        cores = stack.enter_context(placement.parent_on_first_core())
        if references is None:
            references = stack.enter_context(References(materials))
        conductor = Conductor(plan, materials, references, tell, cores, memory_limit_bytes)
        for record in recorded.values():
            conductor.note(record)
        for turn in planned:
            left = [
                workload
                for workload, key in zip(turn.workloads, keys(turn), strict=True)
                if key not in recorded and not conductor.given_up(workload, turn)
            ]
            progress.passed_over(len(turn.workloads) - len(left) - sum(key in recorded for key in keys(turn)))
            if left:
                progress.turn(turn)
                conductor.play(turn, left)
