"""Run a plan turn by turn, each in a process of its own; every outcome is written to disk at once as a record.

Nothing else runs meanwhile. What is recorded is not run again; what cannot run is recorded with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import islice
from typing import Protocol

import msgspec

from harness.measure import placement
from harness.measure.materials import Materials
from harness.measure.references import References
from harness.measure.runner import Runner, Write
from harness.measure.schedule import Plan, Turn, busiest, keys, turns
from harness.records import AnyRecord, Measurement, TextMemory, key_of, of_kind

COPY_PREFERENCE = ("tiktoken", "tokenizers", "priority")
"""The implementation copied to measure the noise floor: the first of these that runs most of the workloads."""
_MOST = 0.75
"""Share of the workloads run by the implementation that ran most."""


class Progress(Protocol):
    """Callbacks of a run."""

    def started(self, n_records: int, n_done: int) -> None:
        """Report the number of records to be written, `n_done` of which exist."""

    def turn(self, turn: Turn) -> None:
        """Report that a process starts."""

    def recorded(self, record: Measurement) -> None:
        """Report that a record was written."""

    def passed_over(self, n_records: int) -> None:
        """Report that `n_records` will not be written, because an earlier round failed."""


class NoProgress:
    """A `Progress` that ignores every report."""

    def started(self, n_records: int, n_done: int) -> None:
        """Do nothing."""

    def turn(self, turn: Turn) -> None:
        """Do nothing."""

    def recorded(self, record: Measurement) -> None:
        """Do nothing."""

    def passed_over(self, n_records: int) -> None:
        """Do nothing."""


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
    """Write one `Measurement` for every workload, implementation, copy and round of `plan` that is not in `done`.

    After a verdict other than ok, the implementation's later rounds on that workload are skipped.
    """
    progress = progress or NoProgress()
    watcher = progress

    done = list(done)
    recorded = {key_of(record): record for record in of_kind(done, Measurement)}
    written = list(recorded.values())

    def keep(record: Measurement | TextMemory) -> None:
        write(record)
        if isinstance(record, TextMemory):
            return
        written.append(record)
        watcher.recorded(record)

    originals = list(turns(msgspec.structs.replace(plan, profile=msgspec.structs.replace(plan.profile, rounds=1))))
    n_records = _n_records(turns(plan, busiest(plan)))
    progress.started(n_records, len(recorded))
    with ExitStack() as stack:
        cores = stack.enter_context(placement.parent_on_first_core())
        if references is None:
            references = stack.enter_context(References(materials))
        runner = Runner(plan, materials, references, keep, cores, memory_limit_bytes)
        for memory in of_kind(done, TextMemory):
            runner.note(memory)
        for record in recorded.values():
            runner.note(record)

        def run_turn(turn: Turn) -> None:
            left = [
                workload
                for workload, key in zip(turn.workloads, keys(turn), strict=True)
                if key not in recorded and not runner.has_failed(workload, turn)
            ]
            watcher.passed_over(len(turn.workloads) - len(left) - sum(key in recorded for key in keys(turn)))
            if left:
                watcher.turn(turn)
                runner.run_turn(turn, left)

        for turn in originals:
            run_turn(turn)
        copied = copied_implementation(plan, written)
        progress.passed_over(n_records - _n_records(turns(plan, copied)))
        for turn in islice(turns(plan, copied), len(originals), None):
            run_turn(turn)


def copied_implementation(plan: Plan, records: Iterable[Measurement]) -> str | None:
    """Return the implementation whose copy measures the noise floor, by the first round's records; None for no copy.

    Of those that ran at least three quarters as many workloads as the one that ran most, it is the first of
    `COPY_PREFERENCE`, else the first named: the copy of one that runs nothing would measure no noise. A copy that has
    records already is kept.
    """
    if not plan.profile.copies:
        return None
    ran: Counter[str] = Counter()
    for record in records:
        if record.copy:
            return record.implementation
        ran[record.implementation] += record.round == 0 and record.status == "ok"
    able = [name for name in plan.implementations if ran[name] and ran[name] >= _MOST * max(ran.values())]
    return next((name for name in (*COPY_PREFERENCE, *able) if name in able), None)


def _n_records(planned: Iterable[Turn]) -> int:
    return sum(len(turn.workloads) for turn in planned)
