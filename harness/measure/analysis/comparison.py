"""Differences that may be claimed: between implementations of a run and between two runs; and ranks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from harness.measure.analysis.samples import is_growth, measured_floor, rankable_times
from harness.measure.analysis.stats import Claim, Interval, Ranked, claim, rank, ratio_interval
from harness.records import Measurement
from impls import BPEError

NOT_RANKED_TASKS = ("train", "load")
"""Tasks that do not show how fast a tokenizer encodes and decodes."""
_MACHINE_FACTS = {
    "cpu": "processor", "cpu_generation": "generation of the processor", "architecture": "architecture",
    "cores": "cores", "physical_cores": "cores", "usable_cores": "usable cores", "caches_bytes": "caches",
}  # fmt: skip
"""Facts of `machine.json` that identify a machine -> their names in messages."""
_SAME_MEMORY = 0.02
"""Memory sizes of one machine differ by less than this share from boot to boot."""


class TimeDifference(NamedTuple):
    """Ratio of an implementation's time on a workload to another's, or to its own in another run."""

    workload: str
    implementation: str
    ratio: Interval
    """Its time divided by the other's: 2 is twice as slow."""
    claim: Claim


class Condition(NamedTuple):
    """A difference that counts as a failure, such as `slower>5%`."""

    claim: Literal["faster", "slower"]
    share: float

    def holds(self, difference: TimeDifference) -> bool:
        """Return whether `difference` is claimed in this direction and exceeds the share."""
        return difference.claim == self.claim and self.seems_to_hold(difference)

    def seems_to_hold(self, difference: TimeDifference) -> bool:
        """Return whether the ratio exceeds the share in this direction, claimed or not."""
        ratio = difference.ratio.value if self.claim == "slower" else 1 / difference.ratio.value
        return ratio - 1 > self.share


class InvalidCondition(BPEError):
    """A condition that cannot be parsed."""


def parse_condition(text: str) -> Condition:
    """Parse `slower>5%` or `faster>0.5%`; raise `InvalidCondition`."""
    found = re.fullmatch(r"\s*(faster|slower)\s*>\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if found is None:
        raise InvalidCondition(f"{text!r} is not a condition; write for example 'slower>5%'")
    direction: Literal["faster", "slower"] = "slower" if found[1] == "slower" else "faster"
    return Condition(direction, float(found[2]) / 100)


def machine_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return how the machines of two runs (their `machine.json`) differ, or None for the same machine.

    A machine whose processor is not recorded counts as another one.
    """
    if not (old.get("cpu") and new.get("cpu")):
        return "not recorded of both"
    differing = [name for fact, name in _MACHINE_FACTS.items() if old.get(fact) != new.get(fact)]
    memory = [size if isinstance(size := facts.get("memory_bytes"), int) else 0 for facts in (old, new)]
    if abs(memory[0] - memory[1]) > _SAME_MEMORY * max(memory):
        differing.append("memory")
    return ", ".join(dict.fromkeys(differing)) or None


def compare_runs(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[TimeDifference]:
    """Compare the new run with the old, for every implementation and workload that both timed.

    Both must be from the same machine (`machine_difference`). The noise floor is the larger of the two; it is unknown
    if one run has none.
    """
    floors = [measured_floor(records) for records in (old, new)]
    known = [floor for floor in floors if floor is not None]
    floor = max(known) if len(known) == 2 else None
    before, after = rankable_times(old, exact_only=False), rankable_times(new, exact_only=False)
    differences: list[TimeDifference] = []
    for name, workloads in after.items():
        for workload, rounds in workloads.items():
            earlier = before.get(name, {}).get(workload)
            if earlier is not None:
                interval = ratio_interval(rounds, earlier, paired=False)
                differences.append(TimeDifference(workload, name, interval, claim(interval, floor)))
    return differences


class Untimed(NamedTuple):
    """A workload and implementation that the old run timed and the new one did not."""

    workload: str
    implementation: str
    reason: str


def untimed_in_new(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[Untimed]:
    """Return what the old run timed and the new one did not, or not comparably.

    Implementations that the new run did not include are left out.
    """
    before, after = rankable_times(old, exact_only=False), rankable_times(new, exact_only=False)
    statuses: dict[tuple[str, str], list[str]] = {}
    for record in new:
        statuses.setdefault((record.implementation, record.workload), []).append(record.status)
    return [
        Untimed(workload, name, _why_untimed(statuses.get((name, workload), [])))
        for name in dict.fromkeys(record.implementation for record in new)
        for workload in before.get(name, {})
        if workload not in after.get(name, {})
    ]


def _why_untimed(statuses: Sequence[str]) -> str:
    if not statuses:
        return "not run"
    return ", ".join(dict.fromkeys(status for status in statuses if status != "ok")) or "not comparable"


def ranking(records: Iterable[Measurement]) -> tuple[list[Ranked], list[str]]:
    """Rank exact implementations by geometric mean over the workloads all of them ran; also return these workloads.

    Training, loading and measurements of growth are left out, and so are implementations timed on fewer than three
    quarters of the other workloads: they would leave the rest too little in common.
    """
    records = [record for record in records if record.task not in NOT_RANKED_TASKS and not is_growth(record.workload)]
    known = {record.workload for record in records if record.copy == 0}
    times = {name: found for name, found in rankable_times(records).items() if len(found) * 4 >= len(known) * 3}
    shared = set.intersection(*map(set, times.values())) if times else set()
    return rank(times), sorted(shared)
