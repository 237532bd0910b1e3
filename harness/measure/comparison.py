"""Differences that may be claimed: between implementations of a run and between two runs; and ranks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

import numpy as np

from harness.measure.stats import Claim, Estimate, Interval, claim, difference, mean
from harness.measure.summary import Passes, by_contestant, by_workload, relative_times
from harness.measure.workloads import ALONE
from harness.outcome import Outcome
from harness.records import Measurement
from impls import BPEError

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
    floor: float | None
    """The noise floor that the claim took into account."""


class Condition(NamedTuple):
    """A difference that counts as a failure, such as `slower>5%`."""

    claim: Literal["faster", "slower"]
    share: float

    def holds(self, difference: TimeDifference) -> bool:
        """Return whether `difference` is claimed in this direction and exceeds the share."""
        ratio = difference.ratio.value if self.claim == "slower" else 1 / difference.ratio.value
        return difference.claim == self.claim and ratio - 1 > self.share


class InvalidCondition(BPEError):
    """A condition that cannot be parsed."""


def parse_condition(text: str) -> Condition:
    """Parse `slower>5%` or `faster>0.5%`; raise `InvalidCondition`."""
    match = re.fullmatch(r"\s*(faster|slower)\s*>\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if match is None:
        raise InvalidCondition(f"{text!r} is not a condition; write for example 'slower>5%'")
    return Condition("slower" if match[1] == "slower" else "faster", float(match[2]) / 100)


def machine_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return how the machines of two runs (their `machine.json`) differ, or None for the same machine.

    A machine whose processor is not recorded counts as another one.
    """
    if not (old.get("cpu") and new.get("cpu")):
        return "not recorded in both runs"
    differing = [name for fact, name in _MACHINE_FACTS.items() if old.get(fact) != new.get(fact)]
    memory = [size if isinstance(size := facts.get("memory_bytes"), int) else 0 for facts in (old, new)]
    if abs(memory[0] - memory[1]) > _SAME_MEMORY * max(memory):
        differing.append("memory")
    return ", ".join(dict.fromkeys(differing)) or None


def compare_runs(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[TimeDifference]:
    """Compare the new run with the old, for every implementation and workload that both timed.

    Both must be from the same machine (`machine_difference`). The noise floor of a workload is the larger of the two
    runs'; it is unknown if one run has none.
    """
    before, after = _passes(old), _passes(new)
    floors = [{name: relative_times(of).floor for name, of in by_workload(run).items()} for run in (old, new)]
    differences: list[TimeDifference] = []
    for (workload, name), passes in after.items():
        if _is_timed(passes) and _is_timed(earlier := before.get((workload, name))):
            log = difference(_seconds(passes), _seconds(earlier))
            known = [of for floor in floors if (of := floor.get(workload)) is not None]
            floor = max(known) if len(known) == len(floors) else None
            differences.append(TimeDifference(workload, name, log.interval, claim(log.interval, floor), floor))
    return differences


def _passes(records: Iterable[Measurement]) -> dict[tuple[str, str], Passes]:
    """Return the passes of each workload and implementation, without those of copies."""
    by_name = {workload: by_contestant(of) for workload, of in by_workload(records).items()}
    return {(workload, of.implementation): of for workload, some in by_name.items() for of in some if of.copy == 0}


def _is_timed(passes: Passes | None) -> TypeGuard[Passes]:
    return passes is not None and passes.failed is None and bool(passes.timed)


def _seconds(passes: Passes) -> Estimate:
    """Return the logarithm of seconds per byte."""
    return passes.estimate(lambda timed: timed.seconds() / max(1, timed.n_bytes))


class Untimed(NamedTuple):
    """A workload and implementation that the old run timed and the new one did not."""

    workload: str
    implementation: str
    reason: str


def untimed_in_new(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[Untimed]:
    """Return what the old run timed and the new one did not; implementations that it did not include are left out."""
    after, included = _passes(new), {record.implementation for record in new}
    return [
        Untimed(workload, name, _why_untimed(after.get((workload, name))))
        for (workload, name), passes in _passes(old).items()
        if name in included and _is_timed(passes) and not _is_timed(after.get((workload, name)))
    ]


def _why_untimed(passes: Passes | None) -> str:
    if passes is None:
        return "not run"
    outcomes = dict.fromkeys(record.outcome for record in passes.records if record.outcome is not Outcome.RIGHT)
    return ", ".join(outcomes) or "not comparable"


class Ranked(NamedTuple):
    """One implementation, ranked over the workloads that all share."""

    name: str
    ratio: Interval
    """Geometric mean of its times relative to the best implementation's."""
    to_above: Interval | None
    """The same relative to the implementation ranked before it; None for the best."""
    rank_probabilities: tuple[float, ...]
    """Probability of being first, second, and so on, by bootstrap."""


def ranking(records: Iterable[Measurement]) -> tuple[list[Ranked], list[str]]:
    """Rank exact implementations by geometric mean over the workloads all of them ran; also return these workloads.

    Training, loading, text read again and measurements of growth are left out, and so are implementations timed on
    fewer than three quarters of the other workloads: they would leave the rest too little in common.
    """
    groups = by_workload(r for r in records if r.task not in ALONE and r.state != "again")
    times: dict[str, dict[str, Estimate]] = {}
    for workload, of in groups.items():
        for name, log in relative_times(of).times.items():
            times.setdefault(name, {})[workload] = log
    times = {name: logs for name, logs in times.items() if len(logs) * 4 >= len(groups) * 3}
    shared = sorted(set.intersection(*map(set, times.values()))) if times else []
    if not shared:
        return [], []
    means = {name: mean([logs[workload] for workload in shared]) for name, logs in times.items()}
    order = sorted(means, key=lambda name: means[name].value)
    places = np.array([means[name].draws for name in order]).argsort(axis=0).argsort(axis=0)
    return [
        Ranked(
            name,
            difference(means[name], means[order[0]]).interval,
            difference(means[name], means[order[place - 1]]).interval if place else None,
            tuple(float((places[place] == k).mean()) for k in range(len(order))),
        )
        for place, name in enumerate(order)
    ], shared
