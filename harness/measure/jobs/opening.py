"""The implementation that a worker holds: imported, built on a model, and the memory it takes."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Collection
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec

from harness.measure import placement
from harness.process import memory
from impls import Model, Tokenizer, get


class Opening(msgspec.Struct):
    """The implementation, model and tokenizer the worker holds."""

    implementation: type[Tokenizer]
    tokenizer: Tokenizer | None
    model: Model | None
    baseline_bytes: int
    pinned: bool
    import_seconds: float

    def highest_memory(self) -> int | None:
        """Return the peak resident memory in bytes since `memory.reset_peak`, beyond the baseline; None if unknown."""
        peak = memory.peak_bytes()
        return None if peak is None else max(0, peak - self.baseline_bytes)


class Opened(NamedTuple):
    """The report on the opened implementation for the parent process."""

    exact: bool
    pinned: bool


def open_implementation(name: str, model_file: str, cores: Collection[int]) -> Opening:
    """Import an implementation and, if a file of a pickled model is given, build it; let exceptions of either through.

    Pin the process to `cores`; if there are none, leave the affinity as inherited.
    """
    pinned = placement.pin_to(cores)
    start = perf_counter()
    implementation = get(name)
    import_seconds = perf_counter() - start
    model = pickle.loads(Path(model_file).read_bytes()) if model_file else None
    gc.collect()
    baseline = memory.resident_bytes()
    tokenizer = None if model is None else implementation(model)
    return Opening(implementation, tokenizer, model, baseline, pinned, import_seconds)
