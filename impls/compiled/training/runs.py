"""Sorted counts on disk, in runs, and their sum in bounded memory: for text with more distinct pieces than fit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from impls.core.counts import PieceCounts, added

_ARRAYS: dict[str, Any] = {"text": np.uint8, "ends": np.int64, "counts": np.int64}
_STEP = 1 << 18
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
        for part in self.merged():
            last_piece, last_byte = n_pieces + len(part), n_bytes + len(part.text)
            text[n_bytes:last_byte] = part.text
            np.add(part.ends, n_bytes, out=ends[n_pieces:last_piece])
            counts[n_pieces:last_piece] = part.counts
            n_pieces, n_bytes = last_piece, last_byte
        return PieceCounts(self._pattern, text[:n_bytes], ends[:n_pieces], counts[:n_pieces])

    def _n_bytes(self, field: str) -> int:
        return sum((self.folder / f"{name}.{field}").stat().st_size for name in self._names)

    def merged(self) -> Iterator[PieceCounts]:
        """Yield the sum of all runs in order, a block of pieces at a time, each piece once."""
        step = max(1, _STEP // max(1, len(self._names)))
        readers = [_Reader(self.folder / name, self._pattern, step) for name in self._names]
        while readers := [reader for reader in readers if not reader.is_done]:
            # Up to the smallest of the last pieces in memory, every run is complete.
            bound = min(reader.last for reader in readers)
            yield added([reader.up_to(bound) for reader in readers])


class _Reader:
    """The pieces of a run in order, of which `step` are looked at at a time."""

    def __init__(self, path: Path, pattern: tuple[str, ...], step: int) -> None:
        self._pattern, self._step, self._at = pattern, step, 0
        self._text, self._ends, self._counts = (
            _mapped(path.with_suffix(f".{field}"), kind) for field, kind in _ARRAYS.items()
        )
        self._n = len(self._ends)

    @property
    def is_done(self) -> bool:
        return self._at == self._n

    @property
    def last(self) -> bytes:
        """Return the last piece that is looked at."""
        return self._piece(min(self._at + self._step, self._n) - 1)

    def up_to(self, bound: bytes) -> PieceCounts:
        """Return the next pieces up to `bound`, which must not be beyond the last that is looked at."""
        first, stop = self._at, min(self._at + self._step, self._n)
        self._at = bisect_right(range(self._n), bound, first, stop, key=self._piece)
        start, end = self._start(first), self._start(self._at)
        ends, counts = self._ends[first : self._at] - start, self._counts[first : self._at]
        return PieceCounts(self._pattern, self._text[start:end], ends, counts)

    def _start(self, number: int) -> int:
        return int(self._ends[number - 1]) if number else 0

    def _piece(self, number: int) -> bytes:
        return self._text[self._start(number) : self._start(number + 1)].tobytes()


def _mapped(path: Path, kind: Any) -> np.ndarray:
    """Return the content of a file as an array, read from the disk where it is used."""
    return np.memmap(path, kind, "r") if path.stat().st_size else np.zeros(0, kind)
