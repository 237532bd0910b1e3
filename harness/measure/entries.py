"""Which contestant takes part in which workload of an opening, the texts of a round, and how far each has come."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from harness.judge import Judgement
from harness.measure.answers import unpacked
from harness.measure.workloads import Workload
from harness.outcome import Outcome
from harness.process.session import Failed
from harness.records import Measurement

FURTHER_ROUNDS = 0.5
"""Rounds added for passes that lost the processor, at most, as a share of the planned ones."""
_CLOCK_PASSES = 3
"""The number of passes that decide whether reported times are shorter than those the system counts."""


class Contestant(NamedTuple):
    """An implementation, or a copy of it that measures the noise floor."""

    name: str
    copy: int
    """0 for the implementation itself."""


class Entry(NamedTuple):
    """One contestant on one workload in this opening."""

    contestant: Contestant
    workload: Workload
    n_rounds: int
    n_calls: int
    """Calls of its pass; 0 until the first opening has determined it."""


class Round(NamedTuple):
    """The texts of some calls, and their ids by the reference as uint32."""

    calls: list[list[bytes]]
    ids: list[bytes] | None
    reference: str

    @property
    def texts(self) -> list[bytes]:
        """Return the texts of all calls."""
        return [text for call in self.calls for text in call]

    @property
    def rows(self) -> list[np.ndarray] | None:
        """Return the reference's ids of each text."""
        return None if self.ids is None else [unpacked(ids) for ids in self.ids]

    def of_calls(self, first: int, last: int) -> Round:
        """Return the round of the calls from `first` to before `last`."""
        before, upto = (sum(map(len, self.calls[:n])) for n in (first, last))
        return Round(self.calls[first:last], self.ids and self.ids[before:upto], self.reference)

    def of_pass(self, workload: Workload, n_calls: int) -> Round:
        """Return the round of a pass of `n_calls` and its lead: every pass is timed from the same text on."""
        start = workload.lead_calls(workload.n_calls)
        return self.of_calls(start - workload.lead_calls(n_calls), start + n_calls)


class Attempt:
    """One contestant on one workload while the opening runs."""

    def __init__(self, entry: Entry, record: Measurement) -> None:
        self.contestant, self.workload, self.record = entry.contestant, entry.workload, record
        self.plan(entry.n_rounds)
        self.n_calls = entry.n_calls
        self.trial_seconds = 0.0
        """Seconds of a call of the warm-up."""
        self.calls = Counter[int]()
        self.gaps: list[float] = []
        """Seconds of processor time that the system counted, pass by pass, beyond what the reported times allow."""

    def plan(self, n_rounds: int) -> None:
        """Let it take part in so many rounds."""
        self.n_rounds = self.left = n_rounds

    @property
    def may_go_on(self) -> bool:
        """Return whether passes are missing, of which some that lost the processor are made again."""
        return self.left > 0 and len(self.record.passes) < self.n_rounds * (1 + FURTHER_ROUNDS)

    @property
    def is_in(self) -> bool:
        """Return whether it is still timed."""
        return self.record.outcome is Outcome.RIGHT

    def fail(self, failed: Failed | Judgement) -> None:
        """Record an outcome other than right; its passes no longer count."""
        self.record.outcome, self.record.reason = failed.outcome, failed.reason

    def finish(self) -> None:
        """Complete the record; what reports shorter times than the system counts has no times."""
        self.record.call_times, self.record.n_calls = sorted(self.calls.items()), self.n_calls
        if len(self.gaps) >= _CLOCK_PASSES and min(self.gaps) > 0 and self.is_in:
            self.fail(Failed(Outcome.PROTOCOL, "it reports shorter times than the system counts"))
        if not self.is_in:
            self.record.passes = []
