"""Decide which implementation runs which workload when: profiles, and the turns of a run in a seeded order. Runs
nothing.

The order depends only on the seed and on names, never on earlier results, so that a resumed run continues as it would
have without the interruption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

import msgspec

from harness.measure.workloads import GROWING, Workload


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How thoroughly a run measures."""

    name: str
    rounds: int
    n_samples: int = 5
    """Samples of a workload in one round (one if each pass needs a process of its own)."""
    sample_seconds: float = 0.1
    """Minimum length of a sample."""
    pass_seconds: float
    """Upper limit on a pass, which is made small enough to meet it."""
    time_limit_seconds: float
    """A workload that takes longer than this in one process is recorded as `timeout`."""
    copies: bool = True
    """Whether to run one implementation twice, to measure the noise floor."""


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(name="smoke", rounds=1, pass_seconds=0.05, time_limit_seconds=10, copies=False),
        Profile(name="quick", rounds=1, pass_seconds=0.08, time_limit_seconds=15, copies=False),
        Profile(name="default", rounds=3, pass_seconds=0.12, time_limit_seconds=30),
        Profile(name="rigorous", rounds=10, sample_seconds=0.15, pass_seconds=0.2, time_limit_seconds=120),
    )
}

PROCESS_SECONDS = 1.3
"""Cost of starting a process: interpreter, imports, model. For estimates."""
TRAINING_SECONDS_PER_BYTE = 0.5e-6
"""Mean time of a training pass over all implementations, including those that cannot train. For estimates."""
FILE_TRAINING_SECONDS_PER_BYTE = 0.1e-6
"""The same for a pass from a file, over the implementations meant for it."""
GROWING_SECONDS_PER_BYTE = 0.5e-6
"""Mean time of a pass over a growing text, which most encode again at every step. For estimates."""
SUSTAINED_SECONDS_PER_BYTE = 0.08e-6
"""Mean time of `sustained`, verification included. For estimates."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that determines which records a run writes."""

    profile: Profile
    implementations: tuple[str, ...]
    workloads: tuple[Workload, ...]
    seed: int = 0


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One process: an implementation (or its copy) and the workloads it runs, in order."""

    implementation: str
    copy: int
    round: int
    workloads: tuple[Workload, ...]


Key = tuple[str, str, int, int]
"""Workload, implementation, copy, round: the key of one record."""


def turns(plan: Plan, copied: str | None = None) -> Iterator[Turn]:
    """Yield every process of the run in order: by round, then by shuffled implementation.

    `copied` is run twice in every round. In the first round its copy comes last, so that the turns before it do not
    depend on which implementation is copied, and their results can decide that.
    """
    contestants = [(name, 0) for name in plan.implementations]
    for number in range(plan.profile.rounds):
        order = [*contestants, (copied, 1)] if number and copied else list(contestants)
        Random(f"{plan.seed}/{number}").shuffle(order)
        if copied and not number:
            order.append((copied, 1))
        for implementation, copy in order:
            chance = Random(f"{plan.seed}/{number}/{implementation}/{copy}")
            groups: dict[str, list[Workload]] = {}
            for workload in sorted(plan.workloads, key=lambda workload: workload.name):
                if workload.applies_to(implementation) and not 0 < workload.rounds <= number:
                    groups.setdefault(workload.group, []).append(workload)
            processes = list(groups.values())
            chance.shuffle(processes)
            for workloads in processes:
                chance.shuffle(workloads)
                yield Turn(implementation=implementation, copy=copy, round=number, workloads=tuple(workloads))


def keys(turn: Turn) -> list[Key]:
    """Return the keys of the records a turn writes if nothing fails."""
    return [(workload.name, turn.implementation, turn.copy, turn.round) for workload in turn.workloads]


def estimate_seconds(plan: Plan) -> float:
    """Estimate how long the plan takes if every implementation can run everything."""
    profile, total = plan.profile, 0.0
    for turn in turns(plan, plan.implementations[0] if profile.copies else None):
        total += PROCESS_SECONDS + sum(workload_seconds(workload, profile) for workload in turn.workloads)
        if (turn.round, turn.copy) == (0, 0):  # memory is measured in processes of their own
            n_separate = sum(not workload.has_own_process for workload in turn.workloads)
            total += n_separate * (PROCESS_SECONDS + profile.pass_seconds)
    return total


def workload_seconds(workload: Workload, profile: Profile) -> float:
    """Estimate how long one workload takes in one process, verification and calibration included."""
    limit, n_passes = profile.time_limit_seconds, profile.n_samples + 2
    if workload.reads_file:
        return min(limit, workload.max_bytes * FILE_TRAINING_SECONDS_PER_BYTE)
    if workload.task == "train":
        return min(limit, workload.max_bytes * TRAINING_SECONDS_PER_BYTE * n_passes)
    if workload.task in GROWING:
        return min(limit, workload.max_bytes * GROWING_SECONDS_PER_BYTE * n_passes + profile.sample_seconds * n_passes)
    if workload.state == "sustained":
        return min(limit / 2, workload.max_bytes * SUSTAINED_SECONDS_PER_BYTE)
    usual = profile.sample_seconds * 1.2 * (profile.n_samples + 1.5) + 0.1
    by_state = {"cold": 0.2, "second-call": 1.5, "after-pause": 4.0, "warm-other": 3 * profile.pass_seconds}
    return 0.2 if workload.task == "load" else by_state.get(workload.state, usual)
