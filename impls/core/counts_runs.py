"""Sorted counts on disk, in runs, and their sum in bounded memory: for text with more distinct pieces than fit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

import numpy as np

from impls.core.counts import PieceCounts, added
from impls.core.errors import InvalidFile

_ARRAYS = {"text": np.uint8, "ends": np.int64, "counts": np.int64}
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
    """The pieces of a run in order, a block of them in memory."""

    def __init__(self, path: Path, pattern: tuple[str, ...], step: int) -> None:
        self._path, self._step = path, step
        self._n_left = path.with_suffix(".ends").stat().st_size // 8
        self._n_read = self._text_read = 0
        self._seen = PieceCounts.of(pattern, {})
        self._read()

    @property
    def is_done(self) -> bool:
        return not len(self._seen)

    @property
    def last(self) -> bytes:
        """Return the last piece in memory."""
        return self._piece(len(self._seen) - 1)

    def up_to(self, bound: bytes) -> PieceCounts:
        """Return the next pieces up to `bound`, which must not be beyond the last piece in memory."""
        seen = self._seen
        n = bisect_right(range(len(seen)), bound, key=self._piece)
        found, self._seen = seen.chosen(np.arange(n)), seen.chosen(np.arange(n, len(seen)))
        if not len(self._seen):
            self._read()
        return found

    def _piece(self, number: int) -> bytes:
        ends = self._seen.ends
        return self._seen.text[0 if number == 0 else ends[number - 1] : ends[number]].tobytes()

    def _read(self) -> None:
        n = min(self._step, self._n_left)
        ends = self._array("ends", self._n_read, n) - self._text_read
        n_bytes = int(ends[-1]) if n else 0
        text, counts = self._array("text", self._text_read, n_bytes), self._array("counts", self._n_read, n)
        self._seen = PieceCounts(self._seen.pattern, text, ends, counts)
        self._n_read, self._text_read, self._n_left = self._n_read + n, self._text_read + n_bytes, self._n_left - n

    def _array(self, field: str, start: int, n: int) -> np.ndarray:
        kind = np.dtype(_ARRAYS[field])
        path = self._path.with_suffix(f".{field}")
        found: np.ndarray = np.fromfile(path, kind, n, offset=start * kind.itemsize)
        if len(found) < n:
            raise InvalidFile(str(path), "is cut short")
        return found
