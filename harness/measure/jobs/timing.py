"""Time one task in calibrated samples, comparing every timed answer with the verified one.

Between two readings of the clock there is one pass and nothing else. Fresh inputs are made before it, answers are
compared after it, both outside the timing.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import msgspec

WALL_PER_SAMPLE = 5.0
"""A sample may last this many times its timed part, including fresh inputs and comparisons."""
_LEAST_BYTES = 512
"""Smallest size tried of a text that may be too long for its budget."""


class Samples(msgspec.Struct, frozen=True):
    """Seconds of samples of `loops` passes each."""

    seconds: list[float]
    loops: int


class WrongAnswer(Exception):
    """Raised if the answer of a timed pass differs from the verified one."""

    def __init__(self, answer: Any, which: int) -> None:
        self.answer, self.which = answer, which
        super().__init__(f"pass {which} after the verified one gave another answer")


def timed(run: Callable[[Any], Any], inputs: Any, clock: Callable[[], float] | None = None) -> tuple[float, Any]:
    """Run one pass; return its seconds by `clock` (default: the system's) and its answer."""
    clock = clock or perf_counter
    start = clock()
    answer = run(inputs)
    return clock() - start, answer


def sample(
    run: Callable[[Any], Any],
    fresh: Callable[[], Any],
    right: Callable[[Any], bool],
    *,
    n_samples: int,
    sample_seconds: float,
    most_seconds: float = float("inf"),
) -> Samples:
    """Take `n_samples` samples of at least `sample_seconds` each, after a calibration that is discarded.

    Samples are shorter if fresh inputs cost far more than the pass itself (`WALL_PER_SAMPLE`). If all of it would take
    more than `most_seconds`, fewer are taken, but at least one. Raise `WrongAnswer` for the first pass whose answer is
    not `right`.
    """
    done = 0

    def one() -> float:
        nonlocal done
        seconds, answer = timed(run, fresh())
        done += 1
        if not right(answer):
            raise WrongAnswer(answer, done)
        return seconds

    begin = perf_counter()
    loops, seconds = _calibrated_loops(one, sample_seconds)
    left = most_seconds - (perf_counter() - begin)
    if loops * seconds * n_samples > left:
        n_samples = max(1, int(left / (loops * seconds)))
    return Samples([sum(one() for _ in range(loops)) for _ in range(n_samples)], loops)


def _calibrated_loops(one: Callable[[], float], sample_seconds: float) -> tuple[int, float]:
    """Return how many passes make a sample, from passes run for half a sample's time, and the seconds of one."""
    begin = perf_counter()
    total, passes = 0.0, 0
    while total < sample_seconds / 2 and perf_counter() - begin < sample_seconds * WALL_PER_SAMPLE / 2:
        total += one()
        passes += 1
    wall_per_pass = (perf_counter() - begin) / passes
    allowed = sample_seconds * WALL_PER_SAMPLE / wall_per_pass
    wanted = sample_seconds * 1.05 * passes / total if total else allowed
    return max(1, int(min(wanted, allowed) + 0.999)), total / passes


def largest_size(run_bytes: Callable[[int], float], full_bytes: int, budget_seconds: float) -> tuple[int, float]:
    """Return the largest of full, full/2, full/4 … whose pass is expected within the budget, and that pass's seconds.

    Sizes are tried from the smallest up, each about twice the previous one, so that a superlinear implementation never
    exceeds the budget by much. `run_bytes(n)` returns the seconds of a pass over n bytes.
    """
    halvings = max(0, (full_bytes // _LEAST_BYTES).bit_length() - 1)
    for halved in range(halvings, -1, -1):
        n_bytes = full_bytes >> halved
        seconds = run_bytes(n_bytes)
        if seconds * 2 > budget_seconds:
            break
    return n_bytes, seconds
