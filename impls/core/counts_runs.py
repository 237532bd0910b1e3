"""Sorted counts on disk, in runs, and their sum in bounded memory: for text with more distinct pieces than fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from impls.core.counts import PieceCounts

_ARRAYS: dict[str, Any] = {"text": np.uint8, "ends": np.int64, "counts": np.int64}
_STEP = 1 << 16
"""Pieces of all runs merged at a time."""


class Runs:
    """Runs in an empty folder; several threads may write."""

    def __init__(self, folder: Path, pattern: tuple[str, ...]) -> None:
        self.folder, self._pattern = folder, pattern
        self._writing = Lock()
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    def write(self, counts: PieceCounts) -> None:
        """Write a run of counts in any order."""
        with self._writing:
            name = f"{len(self._names):06}"
            self._names.append(name)
        in_order = counts.sorted()
        for field in _ARRAYS:
            path = self.folder / f"{name}.{field}"
            try:
                path.write_bytes(np.ascontiguousarray(getattr(in_order, field)).data)
            except OSError as error:
                error.filename = str(path)
                raise

    def added(self, zeros: Callable[[int], np.ndarray]) -> PieceCounts:
        """Return the sum of all runs, sorted; besides the result, only a few pieces of each run are in memory.

        `zeros(n_bytes)` allocates the result: zeroed uint8.
        """
        text, ends, counts = (zeros(self._n_bytes(field)).view(kind) for field, kind in _ARRAYS.items())
        n_pieces = n_bytes = 0
        sums = self._sums()
        while part := list(islice(sums, _STEP)):
            content, lengths = b"".join([piece for piece, _ in part]), [len(piece) for piece, _ in part]
            last_piece, last_byte = n_pieces + len(part), n_bytes + len(content)
            text[n_bytes:last_byte] = np.frombuffer(content, np.uint8)
            ends[n_pieces:last_piece] = n_bytes + np.cumsum(lengths)
            counts[n_pieces:last_piece] = [count for _, count in part]
            n_pieces, n_bytes = last_piece, last_byte
        return PieceCounts(self._pattern, text[:n_bytes], ends[:n_pieces], counts[:n_pieces])

    def _n_bytes(self, field: str) -> int:
        return sum((self.folder / f"{name}.{field}").stat().st_size for name in self._names)

    def _sums(self) -> Iterator[tuple[bytes, int]]:
        """Yield each piece of any run once, in order, with the sum of its counts."""
        step = max(1, _STEP // max(1, len(self._names)))
        entries = merge(*(_entries(self.folder / name, step) for name in self._names))
        for piece, group in groupby(entries, key=itemgetter(0)):
            yield piece, sum(count for _, count in group)


def _entries(path: Path, step: int) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces of a run with their counts, of which `step` are in memory at a time."""
    text, ends, counts = (_mapped(path.with_suffix(f".{field}"), kind) for field, kind in _ARRAYS.items())
    start = 0
    for begin in range(0, len(ends), step):
        bounds = [start, *ends[begin : begin + step].tolist()]
        content = text[start : bounds[-1]].tobytes()
        for (first, last), count in zip(pairwise(bounds), counts[begin : begin + step].tolist(), strict=True):
            yield content[first - start : last - start], count
        start = bounds[-1]


def _mapped(path: Path, kind: Any) -> np.ndarray:
    """Return the content of a file as an array, read from the disk where it is used."""
    return np.memmap(path, kind, "r") if path.stat().st_size else np.zeros(0, kind)
