"""One opening: the contestants of a group of workloads, each in a fresh process, give one pass each in turn.

Every round reads texts new to the processes, the same for all, in an order of contestants drawn anew; every answer is
judged, and the times that a contestant reports must fit into the clock of this process. A pass that lost the processor
is kept, marked, and made again as a further round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from harness.measure.entries import FURTHER_ROUNDS, Entry, Round, Stand, Who
from harness.measure.materials import Materials
from harness.measure.texts import Stream, least_bytes
from harness.measure.turns import Contestants
from harness.measure.workloads import Profile, Workload, short_corpus, short_name
from harness.outcome import Outcome
from harness.process.session import Failed, FailedError
from harness.records import Measurement

SLOW = 3.0
"""Contestants that need longer than this many times the fastest take part in fewer openings and rounds."""


def slow_ones(seconds: Mapping[Who, float]) -> set[Who]:
    """Return whose seconds are more than `SLOW` times the least; never who has a copy, which measures the floor."""
    least, copied = min(seconds.values(), default=0.0), {name for name, copy in seconds if copy}
    return {who for who, mine in seconds.items() if mine > SLOW * least and who[0] not in copied}


class OpeningRun:
    """One opening of workloads that share a process. Use it in a `with` statement, which ends the processes."""

    def __init__(self, materials: Materials, profile: Profile, seed: int, number: int, *, first: bool = False) -> None:
        """With `first` every contestant encodes a short text once it is open."""
        self._materials, self._profile, self._number = materials, profile, number
        self._seed = f"{seed}/{number}"
        self._chance = Random(self._seed)
        self._stream = Stream(materials.corpora, self._seed)
        self._contestants = Contestants(materials, profile, self._seed, first=first)

    def __enter__(self) -> OpeningRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._contestants.close()

    def records(self, entries: Sequence[Entry]) -> list[Measurement]:
        """Measure `entries`, all of one process, and return a record of each."""
        stands = [Stand(entry, self._blank(entry)) for entry in entries]
        order = list(dict.fromkeys(stand.who for stand in stands))
        order = self._chance.sample(order, len(order))
        self._contestants.enter({who: [stand for stand in stands if stand.who == who] for who in order})
        self._measure([stand for stand in stands if stand.workload.task != "load"])
        for stand in stands:
            stand.finish()
        return [stand.record for stand in stands]

    def _blank(self, entry: Entry) -> Measurement:
        workload, (name, copy) = entry.workload, entry.who
        return Measurement(
            workload=workload.name,
            implementation=self._materials.shown(name),
            task=workload.task,
            model=short_name(workload.model),
            corpus=short_corpus(workload.corpus),
            outcome=Outcome.RIGHT,
            copy=copy,
            state=workload.state,
            opening=self._number,
            threads=self._materials.threads(workload),
        )

    # --- rounds --------------------------------------------------------------------------------------------

    def _measure(self, stands: list[Stand]) -> None:
        workloads = list({stand.workload.name: stand.workload for stand in stands}.values())
        # Text read again is timed last: caches then know it.
        for is_again in (False, True):
            some = [workload for workload in workloads if (workload.state == "again") is is_again]
            self._rounds([stand for stand in stands if stand.workload in some], some)

    def _rounds(self, stands: list[Stand], workloads: list[Workload]) -> None:
        """Warm up, then time all rounds."""
        for workload in self._chance.sample(workloads, len(workloads)):
            if workload.task == "train":
                self._each(stands, workload, self._contestants.train, lambda stand: stand.is_in)
            elif not workload.is_once:
                self._round(stands, workload, None)
                by_who = {stand.who: stand for stand in stands if stand.workload == workload and stand.is_in}
                for who in slow_ones({who: stand.trial_seconds for who, stand in by_who.items()}):
                    by_who[who].plan(min(by_who[who].n_rounds, self._profile.slow_rounds))
        timed = [workload for workload in workloads if workload.task != "train"]
        n_rounds = max((stand.n_rounds for stand in stands), default=0)
        for number in range(int(n_rounds * (1 + FURTHER_ROUNDS))):
            for workload in self._chance.sample(timed, len(timed)):
                mine = [stand for stand in stands if stand.workload == workload and stand.is_in]
                most = max((stand.n_rounds for stand in mine), default=0)
                if any(stand.left > 0 for stand in mine if stand.n_rounds == most):
                    self._round(stands, workload, number)

    def _round(self, stands: list[Stand], workload: Workload, number: int | None) -> None:
        """Give the texts of one round, or of the warm-up, to each contestant that is due, in an order of its own."""
        mine = [stand for stand in stands if stand.workload == workload and stand.is_in]
        most = max((stand.n_rounds for stand in mine), default=0)
        try:
            calls = self._stream.calls(workload)
        except Exception as error:  # whatever reading a corpus raises
            failed = self._materials.unavailable(error)
            for stand in mine:
                stand.fail(failed)
            return
        if calls is None:
            for stand in mine:
                stand.left = 0
                if not stand.record.passes:
                    least = least_bytes(workload)
                    reason = f"the corpus {workload.corpus!r} is too short for a pass: it needs {least} different bytes"
                    stand.fail(Failed(Outcome.MISSING, reason))
            return
        texts = [text for call in calls for text in call]
        is_first = number is None or workload.is_once
        ids, reference = self._materials.references.ids(workload.model, texts, confirm=is_first)
        texts_of_round = Round(calls, ids, reference)
        stops = {stand.n_calls or workload.n_calls for stand in mine}

        def act(stand: Stand) -> None:
            if number is None:
                self._contestants.warm_up(stand, texts_of_round)
            else:
                self._contestants.time_pass(stand, texts_of_round, number, stops)

        self._each(stands, workload, act, lambda stand: stand.is_in and (stand.may_go_on or stand.n_rounds == most))

    def _each(
        self,
        stands: list[Stand],
        workload: Workload,
        act: Callable[[Stand], None],
        is_due: Callable[[Stand], bool],
    ) -> None:
        mine = [stand for stand in stands if stand.workload == workload and is_due(stand)]
        for stand in self._chance.sample(mine, len(mine)):
            try:
                act(stand)
            except FailedError as error:
                stand.fail(error.failed)
                if error.failed.outcome.ends_process:
                    self._contestants.end(stand.who)
                    # Its process ended on one workload; it is opened again for the others.
                    if others := [other for other in stands if other.who == stand.who and other.is_in]:
                        self._contestants.open(stand.who, others)
