"""Examine whether a machine is fit for measuring: time a fixed loop against itself, first touches of memory, load,
clocks.

The loop is half interpreter (arithmetic, a dictionary), half memory (strided reads over more than a cache), the two
things tokenizers depend on. It is run as A and as its copy A', alternating in random order, so that any difference
between the two is noise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from harness.measure import placement, provenance
from harness.measure.analysis.cautions import MOST_SPREAD, machine_warnings
from harness.measure.analysis.stats import Rounds, noise_floor, spread
from harness.measure.jobs.prepared import prepare
from harness.measure.jobs.timing import timed
from harness.measure.protocol import Job
from harness.measure.texts import write_texts
from impls import Model, Tokenizer

QUIET_FLOOR = 0.01
"""Small effects can be measured if the A/A difference is below this."""
TOLERABLE_FLOOR = 0.05
TOLERABLE_TOUCH = 4.0
"""Most times as long as the median megabyte that the slowest 5 % may take at their first touch."""
_MEGABYTE = 1 << 20


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `diagnose`; shares are of 1 (0.01 is 1 %)."""

    floor: float
    """Largest difference between the loop and its copy, over all parts."""
    spread: float
    """Median absolute deviation of the loop's samples, as a share of their median."""
    load: float | None
    governor: str | None
    turbo: bool | None
    usable_cores: int
    free_memory_bytes: int
    pinned: bool
    first_touch_seconds_per_mb: float
    """Median over megabytes of memory that is new to this process."""
    slow_touch_seconds_per_mb: float
    """The 95th percentile of the same."""
    overhead_seconds_per_call: float
    """The harness's overhead per call."""
    warnings: list[str]

    @property
    def good(self) -> bool:
        """Return whether the machine is fit for measuring."""
        return not self.warnings


def diagnose(n_rounds: int = 10, samples_per_round: int = 5, sample_seconds: float = 0.02) -> Diagnosis:
    """Examine this machine, in about `4 * n_rounds * samples_per_round * sample_seconds` seconds."""
    import psutil

    load = provenance.load()
    cores = placement.cores()
    pinned = placement.can_pin() and placement.pin_to(cores[-1:])
    try:
        parts = [
            against_itself(work, n_rounds, samples_per_round, sample_seconds)
            for work in (_interpreter_loop, _memory_loop())
        ]
    finally:
        if pinned:
            placement.pin_to(cores)
    floor = noise_floor(parts) or 0.0
    widest = max(spread(list(chain(*a, *b))) for a, b in parts)
    touch, slow_touch = (float(share) for share in np.quantile(first_touches(), [0.5, 0.95]))
    facts: dict[str, Any] = {
        "governor": provenance.governor(),
        "turbo": provenance.turbo(),
        "usable_cores": len(cores),
        "virtual": provenance.is_virtual(),
        "free_memory_taken_back": provenance.free_memory_taken_back(),
        "pinning": placement.can_pin(),
    }
    warnings = machine_warnings(facts, load)
    if floor > TOLERABLE_FLOOR:
        warnings.append(
            f"the same loop differs from itself by {floor:.1%}; stop other work, or measure elsewhere: differences "
            "below that cannot be measured here"
        )
    elif floor > QUIET_FLOOR:
        warnings.append(
            f"the same loop differs from itself by {floor:.1%}; use --profile rigorous for smaller differences"
        )
    if widest > MOST_SPREAD:
        warnings.append(f"samples of one loop spread by {widest:.0%}; stop other work and try again")
    if slow_touch > TOLERABLE_TOUCH * touch:
        warnings.append(
            f"some memory takes {slow_touch / touch:.0f} times as long as most at its first touch; give cold workloads "
            "more rounds (--profile rigorous)"
        )
    return Diagnosis(
        floor=floor,
        spread=widest,
        load=load,
        governor=facts["governor"],
        turbo=facts["turbo"],
        usable_cores=len(cores),
        free_memory_bytes=int(psutil.virtual_memory().available),
        pinned=pinned,
        first_touch_seconds_per_mb=touch,
        slow_touch_seconds_per_mb=slow_touch,
        overhead_seconds_per_call=overhead_seconds_per_call(),
        warnings=warnings,
    )


def against_itself(
    work: Callable[[], object], n_rounds: int, samples_per_round: int, sample_seconds: float
) -> tuple[Rounds, Rounds]:
    """Time `work` as two sides, alternating in a seeded order; return the rounds of both."""

    def sample(loops: int) -> float:
        start = perf_counter()
        for _ in range(loops):
            work()
        return perf_counter() - start

    loops = max(1, round(sample_seconds / sample(1)))
    chance = Random(0)
    sides: tuple[list[list[float]], list[list[float]]] = ([], [])
    for _ in range(n_rounds):
        for side in sides:
            side.append([])
        order = [side[-1] for side in sides for _ in range(samples_per_round)]
        chance.shuffle(order)
        for samples in order:
            samples.append(sample(loops))
    return sides


def first_touches(n_megabytes: int = 128) -> list[float]:
    """Return the seconds to write each megabyte of memory new to this process, in huge pages if NumPy uses them."""
    memory, found = np.empty(n_megabytes * _MEGABYTE, np.uint8), []
    for number in range(n_megabytes):
        start = perf_counter()
        memory[number * _MEGABYTE : (number + 1) * _MEGABYTE] = 0
        found.append(perf_counter() - start)
    return found


def _interpreter_loop() -> int:
    """Exercise the interpreter: arithmetic and a dictionary."""
    counts: dict[int, int] = {}
    for i in range(5_000):
        key = i * 2654435761 % 1021
        counts[key] = counts.get(key, 0) + i
    return len(counts)


def _memory_loop() -> Callable[[], object]:
    """Exercise memory: strided reads over 16 MB."""
    field = np.arange(4_000_000, dtype=np.int32)
    return lambda: int(field[::16].sum())


class NoOpTokenizer(Tokenizer):
    """A tokenizer that returns no ids, at once."""

    name = "empty"

    def encode(self, text: str, **_: Any) -> list[int]:
        """Return no ids."""
        return []


def overhead_seconds_per_call(n_calls: int = 2_000, n_passes: int = 50) -> float:
    """Return the seconds per call that a pass of `encode-short` adds to a bare loop of calls that do nothing.

    Medians over `n_passes`, the bare loop and the pass alternating.
    """
    tokenizer = NoOpTokenizer(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        write_texts(path, [b"x" * 50] * n_calls)
        work = prepare(Job(task="encode-short", state="warm-same", texts=str(path)), tokenizer, NoOpTokenizer)
    inputs = work.fresh(work.texts)
    bare: list[float] = []
    through: list[float] = []
    for _ in range(n_passes):
        start = perf_counter()
        for text in inputs:
            tokenizer.encode(text, disallowed_special=())
        bare.append(perf_counter() - start)
        through.append(timed(work.run, inputs)[0])
    return float(np.median(through) - np.median(bare)) / n_calls
