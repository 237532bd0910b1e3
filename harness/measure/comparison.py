"""Two runs against each other: for each workload and implementation both have, did it get slower or faster?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.measure.samples import measured_floor, rounds_by_contestant
from harness.measure.stats import Claim, Interval, claim, ratio_interval
from harness.records import Measurement
from impls import BPEError

_CONDITION = re.compile(r"\s*(slower|faster)\s*>\s*(\d+(?:\.\d+)?)\s*%\s*")


class ConditionError(BPEError):
    """A --fail-if that cannot be read."""


@dataclass(frozen=True, slots=True)
class Change:
    """One implementation on one workload, then and now."""

    workload: str
    implementation: str
    ratio: Interval
    """Time now over time then."""
    claim: Claim
    """What may be said of it beyond the noise of both runs."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`slower>5%`: which claimed changes make a comparison fail."""

    direction: Literal["slower", "faster"]
    share: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read `slower>5%` or `faster>2.5%`; raises `ConditionError`."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise ConditionError(f"--fail-if {text!r} is not understood; write slower>5% or faster>5%")
        return cls(found[1], float(found[2]) / 100)  # type: ignore[arg-type]

    def met_by(self, change: Change) -> bool:
        """Whether the change is claimed, goes this way and goes this far."""
        if change.claim != self.direction:
            return False
        factor = change.ratio.value if self.direction == "slower" else 1 / change.ratio.value
        return factor - 1 > self.share


def compare_runs(old: Iterable[Measurement], new: Iterable[Measurement]) -> tuple[list[Change], float | None]:
    """Every change, the greatest slowdown first, and the noise floor used: the larger of the two runs' own.

    Without a floor in both runs nothing is claimed.
    """
    old, new = list(old), list(new)
    floors = [measured_floor(old), measured_floor(new)]
    floor = None if None in floors else max(f for f in floors if f is not None)
    then, now = rounds_by_contestant(old), rounds_by_contestant(new)
    changes = []
    for workload in now:
        for contestant in now[workload]:
            before = then.get(workload, {}).get(contestant)
            if before is None or contestant[1] != 0:
                continue
            ratio = ratio_interval(now[workload][contestant], before, paired=False)
            changes.append(Change(workload, contestant[0], ratio, claim(ratio, floor)))
    return sorted(changes, key=lambda change: -change.ratio.value), floor
