"""Which contestant takes part in which workload of an opening, and the texts of a round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.judge import unpacked
from harness.measure.workloads import Workload


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
