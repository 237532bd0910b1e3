"""The harness's overhead per call: an implementation that does nothing, timed bare and through a workload's pass."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from harness.measure.protocol import Job
from harness.measure.tasks import prepare
from harness.measure.texts import write_texts
from harness.measure.timing import timed
from impls import Model, Tokenizer


class NoOpTokenizer(Tokenizer):
    """Returns no ids, at once."""

    name = "empty"

    def encode(self, text: str, **_: Any) -> list[int]:
        """Return no ids."""
        return []


def seconds_per_call(n_calls: int = 2_000, n_passes: int = 50) -> float:
    """Return the seconds per call that a pass of `encode-short` adds to a bare loop of calls.

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
