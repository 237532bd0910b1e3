"""The implementation a worker holds: imported, built on a model, and the memory it takes."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from time import perf_counter

import msgspec

from harness.measure import placement
from harness.measure.protocol import Open
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
        """Return the peak resident memory since `memory.reset_peak`, beyond the baseline; None where unknown."""
        peak = memory.peak_bytes()
        return None if peak is None else max(0, peak - self.baseline_bytes)


def open_implementation(request: Open) -> Opening:
    """Import an implementation and, where the request names a model, build it on that; raise what either raises."""
    pinned = placement.pin_to(request.cores)
    start = perf_counter()
    implementation = get(request.implementation)
    import_seconds = perf_counter() - start
    model = pickle.loads(Path(request.model).read_bytes()) if request.model else None
    gc.collect()
    baseline = memory.resident_bytes()
    tokenizer = None if model is None else implementation(model)
    return Opening(implementation, tokenizer, model, baseline, pinned, import_seconds)
