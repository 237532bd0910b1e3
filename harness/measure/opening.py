"""One opening: the contestants of a group of workloads, each in a fresh process, give one pass each in turn.

Every round reads texts new to the processes, the same for all, in a new random order of contestants; every answer is
judged, and the times that a contestant reports must fit into the clock of this process. A pass that lost the processor
is kept, marked, and made again as a further round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

from harness.grouping import grouped
from harness.measure.entries import Contestant, Entry, Round
from harness.measure.materials import Materials, reading
from harness.measure.texts import Stream, least_bytes
from harness.measure.turns import FURTHER_ROUNDS, Attempt, ContestantProcess
from harness.measure.workloads import Profile, Workload
from harness.outcome import Outcome
from harness.process.session import Failed, FailedError
from harness.records import Measurement

SLOW = 3.0
"""Contestants that need longer than this many times the fastest take part in fewer openings and rounds."""


def slow_ones(seconds: Mapping[Contestant, float]) -> set[Contestant]:
    """Return the contestants that need more than `SLOW` times the least seconds, without those that have a copy.

    Copies measure the floor.
    """
    least, copied = min(seconds.values(), default=0.0), {name for name, copy in seconds if copy}
    return {each for each, needed in seconds.items() if needed > SLOW * least and each.name not in copied}


class OpeningRun:
    """One opening of workloads that share a process. Use it in a `with` statement, which ends the processes."""

    def __init__(self, materials: Materials, profile: Profile, seed: int, number: int, *, first: bool = False) -> None:
        """With `first` every contestant encodes a short text once it is open."""
        self._materials, self._profile, self._number, self._first = materials, profile, number, first
        self._seed = f"{seed}/{number}"
        self._chance = Random(self._seed)
        self._stream = Stream(materials.corpora, self._seed)
        self._processes: dict[Contestant, ContestantProcess] = {}
        self._attempts: list[Attempt] = []

    def __enter__(self) -> OpeningRun:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.session.close()

    def records(self, entries: Sequence[Entry]) -> list[Measurement]:
        """Measure `entries`, all of one process, and return a record of each."""
        self._attempts = [Attempt(entry, self._process(entry), self._number) for entry in entries]
        self._open()
        # Text read again is timed last: caches then know it.
        workloads = {of.workload.name: of.workload for of in self._attempts if of.workload.task != "load"}.values()
        for is_again in (False, True):
            self._rounds([workload for workload in workloads if (workload.state == "again") is is_again])
        return [attempt.finish() for attempt in self._attempts]

    def _process(self, entry: Entry) -> ContestantProcess:
        if entry.contestant not in self._processes:
            process = ContestantProcess(self._materials, self._profile, entry, self._seed, first=self._first)
            self._processes[entry.contestant] = process
        return self._processes[entry.contestant]

    def _open(self) -> None:
        """Open the processes: whose loading is timed one after another, the others on all cores."""
        attempts = grouped(self._attempts, lambda attempt: attempt.process)
        order = self._chance.sample(list(attempts), len(attempts))
        loading = {of.process for of in self._attempts if of.workload.task == "load"}
        for process in order:
            if process in loading:
                process.enter(attempts[process])
        for model in {of.workload.model for of in self._attempts if of.workload.task != "train"}:
            with suppress(FailedError):
                self._materials.model_file(model)
        with ThreadPoolExecutor(max(1, len(self._materials.cores))) as threads:
            others = [process for process in order if process not in loading]
            list(threads.map(lambda process: process.enter(attempts[process]), others))

    # --- rounds --------------------------------------------------------------------------------------------

    def _running(self, workload: Workload) -> list[Attempt]:
        """Return the attempts at a workload that are still timed."""
        return [attempt for attempt in self._attempts if attempt.workload == workload and attempt.is_in]

    def _rounds(self, workloads: list[Workload]) -> None:
        """Warm up, then time all rounds."""
        for workload in self._chance.sample(workloads, len(workloads)):
            if workload.task == "train":
                self._each(self._running(workload), Attempt.train)
            elif not workload.is_once:
                self._round(workload, None)
                trials = {attempt.process.contestant: attempt for attempt in self._running(workload)}
                for slow in slow_ones({contestant: attempt.trial_seconds for contestant, attempt in trials.items()}):
                    trials[slow].plan(min(trials[slow].n_rounds, self._profile.slow_rounds))
        timed = [workload for workload in workloads if workload.task != "train"]
        n_rounds = max((attempt.n_rounds for attempt in self._attempts if attempt.workload in timed), default=0)
        for number in range(int(n_rounds * (1 + FURTHER_ROUNDS))):
            for workload in self._chance.sample(timed, len(timed)):
                if any(attempt.left > 0 for attempt in _with_most_rounds(self._running(workload))):
                    self._round(workload, number)

    def _round(self, workload: Workload, number: int | None) -> None:
        """Give the texts of one round, or of the warm-up, to each contestant that is due, in an order of its own."""
        running = self._running(workload)
        try:
            with reading():
                calls = self._stream.calls(workload)
        except FailedError as error:
            for attempt in running:
                attempt.fail(error.failed)
            return
        if calls is None:
            for attempt in running:
                attempt.left = 0
                if not attempt.record.passes:
                    least = least_bytes(workload)
                    reason = f"the corpus {workload.corpus!r} is too short for a pass: it needs {least} different bytes"
                    attempt.fail(Failed(Outcome.MISSING, reason))
            return
        texts = [text for call in calls for text in call]
        is_first = number is None or workload.is_once
        ids, reference = self._materials.references.ids(workload.model, texts, confirm=is_first)
        texts_of_round = Round(calls, ids, reference)
        stops = {attempt.n_calls or workload.n_calls for attempt in running}
        always = _with_most_rounds(running)
        due = [attempt for attempt in running if attempt.is_due or attempt in always]
        if number is None:
            self._each(due, lambda attempt: attempt.warm_up(texts_of_round))
        else:
            self._each(due, lambda attempt: attempt.time_pass(texts_of_round, number, stops))

    def _each(self, attempts: list[Attempt], act: Callable[[Attempt], None]) -> None:
        """Call `act` for each, in an order of its own; open the process again if it ends."""
        for attempt in self._chance.sample(attempts, len(attempts)):
            try:
                act(attempt)
            except FailedError as error:
                attempt.fail(error.failed)
                if error.failed.outcome.ends_process:
                    attempt.process.session.kill()
                    # It ended on one workload and may be right on the others.
                    if others := [of for of in self._attempts if of.process is attempt.process and of.is_in]:
                        attempt.process.open(others)


def _with_most_rounds(attempts: list[Attempt]) -> list[Attempt]:
    most = max((attempt.n_rounds for attempt in attempts), default=0)
    return [attempt for attempt in attempts if attempt.n_rounds == most]
