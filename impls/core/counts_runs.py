"""Sorted counts on disk, a run at a time, and their sum in bounded memory: for text with more pieces than fit.

A run is complete when its `.json` exists, which says what of the text it covers; so counting can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from impls.core.counts import PieceCounts, added
from impls.core.errors import InvalidFile

_ARRAYS = ("text", "ends", "counts")
_STEP = 1 << 16
"""Pieces of each run that are merged at once."""


class Runs:
    """Runs in a folder, which must exist; several threads may write."""

    def __init__(self, folder: Path, pattern: tuple[str, ...]) -> None:
        self.folder, self._pattern = folder, pattern
        self._writing = Lock()
        self._names = sorted(path.stem for path in folder.glob("*.json"))

    def __len__(self) -> int:
        return len(self._names)

    def covered(self) -> Iterator[Any]:
        """Yield what each complete run covers, as given to `write`. Raises `InvalidFile` for one that is damaged."""
        for name in self._names:
            path = self.folder / f"{name}.json"
            try:
                yield json.loads(path.read_bytes())
            except (OSError, ValueError) as error:
                raise InvalidFile(str(path), f"cannot be read: {error}; delete the folder and count again") from None

    def write(self, counts: PieceCounts, covers: Any) -> None:
        """Write a run of counts in any order; `covers`, a JSON value, is what they are counts of."""
        with self._writing:
            name = f"{1 + max(map(int, self._names), default=-1):06}"
            self._names.append(name)
        in_order = counts.sorted()
        for field in _ARRAYS:
            np.save(self.folder / f"{name}.{field}.npy", getattr(in_order, field))
        temporary = self.folder / f"{name}.incomplete"
        temporary.write_text(json.dumps(covers))
        temporary.replace(self.folder / f"{name}.json")

    def added(self) -> PieceCounts:
        """Return the sum of all runs, sorted; beside it, only a few pieces of each run are in memory."""
        parts = list(self._merged())
        if not parts:
            return PieceCounts.of(self._pattern, {})
        shifts = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
        return PieceCounts(
            self._pattern,
            np.concatenate([part.text for part in parts]),
            np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=True)]),
            np.concatenate([part.counts for part in parts]),
        )

    def _merged(self) -> Iterator[PieceCounts]:
        """Yield the sum of all runs in order, some pieces at a time, none of them twice."""
        readers = [_Reader(self.folder, name, self._pattern) for name in self._names]
        while readers := [reader for reader in readers if not reader.is_done]:
            # Up to the least of the last pieces in sight, no run has more.
            bound = min(reader.last for reader in readers)
            yield added([reader.up_to(bound) for reader in readers])


class _Reader:
    """The pieces of a run, in order."""

    def __init__(self, folder: Path, name: str, pattern: tuple[str, ...]) -> None:
        try:
            arrays = [np.load(folder / f"{name}.{field}.npy", mmap_mode="r") for field in _ARRAYS]
        except (OSError, ValueError) as error:
            raise InvalidFile(
                str(folder / name), f"cannot be read: {error}; delete the folder and count again"
            ) from None
        self._run, self._at = PieceCounts(pattern, *arrays), 0

    @property
    def is_done(self) -> bool:
        return self._at == len(self._run)

    def _piece(self, number: int) -> bytes:
        ends = self._run.ends
        return self._run.text[0 if number == 0 else ends[number - 1] : ends[number]].tobytes()

    @property
    def last(self) -> bytes:
        """The last piece of the next step."""
        return self._piece(min(self._at + _STEP, len(self._run)) - 1)

    def up_to(self, bound: bytes) -> PieceCounts:
        """Return the next pieces up to `bound`, at most a step."""
        low, high = self._at, min(self._at + _STEP, len(self._run))
        while low < high:
            middle = (low + high) // 2
            if self._piece(middle) <= bound:
                low = middle + 1
            else:
                high = middle
        first, self._at = self._at, low
        run = self._run
        start = 0 if first == 0 else int(run.ends[first - 1])
        stop = start if low == first else int(run.ends[low - 1])
        return PieceCounts(
            run.pattern,
            np.array(run.text[start:stop]),
            np.array(run.ends[first:low]) - start,
            np.array(run.counts[first:low]),
        )
