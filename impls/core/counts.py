"""Counts of the distinct pieces of a corpus, which is all that training needs: to be saved and added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from impls.core.errors import BPEError

_MOST = np.iinfo(np.int64).max


class CountedSource(NamedTuple):
    """What was read: a file or corpus, and the SHA-256 over those of its blocks."""

    name: str
    n_bytes: int
    digest: str


@dataclass(frozen=True, slots=True, eq=False)
class PieceCounts:
    """Distinct pieces and their counts; sorted by UTF-8 if returned by `sorted` or `added`."""

    pattern: tuple[str, ...]
    """Split stages, as returned by `impls.core.text.patterns.resolve`."""
    text: np.ndarray
    """UTF-8 of the pieces, one after the other: uint8."""
    ends: np.ndarray
    """End of each piece in `text`: int64 of shape (n_pieces,)."""
    counts: np.ndarray
    """Occurrences of each piece: int64 of shape (n_pieces,)."""
    sources: tuple[CountedSource, ...] = ()
    memory_limit: int | None = None
    """Memory in bytes that learning from the counts may take; what exceeds it goes through files."""

    @classmethod
    def of(cls, pattern: tuple[str, ...], counts: dict[str, int]) -> PieceCounts:
        """Return counts given as a dictionary. Raise `BPEError` for one below 1 or of 2**63 and more."""
        for piece, count in counts.items():
            if not 0 < count <= _MOST:
                raise BPEError(f"the piece {piece!a} has the count {count}; counts go from 1 to 2**63 - 1")
        return cls._in_order(pattern, {piece.encode(): count for piece, count in counts.items()})

    @classmethod
    def _in_order(cls, pattern: tuple[str, ...], counts: Mapping[bytes, int]) -> PieceCounts:
        pieces = sorted(counts)
        ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)[1:]
        text = np.frombuffer(b"".join(pieces), np.uint8)
        return cls(pattern, text, ends, np.fromiter(map(counts.__getitem__, pieces), np.int64, len(pieces)))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> np.ndarray:
        """Return the start of each piece in `text`: int64 of shape (n_pieces,)."""
        starts: np.ndarray = self.ends - self.lengths
        return starts

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of bytes of each piece: int64 of shape (n_pieces,)."""
        lengths: np.ndarray = self.ends.copy()
        lengths[1:] -= self.ends[:-1]
        return lengths

    @property
    def n_bytes(self) -> int:
        """Return the bytes of all pieces, each times its count."""
        return int(self.counts @ self.lengths)

    def pieces(self) -> list[bytes]:
        """Return the UTF-8 of each piece."""
        content = self.text.tobytes()
        return [content[start:end] for start, end in pairwise([0, *self.ends.tolist()])]

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield (piece, count)."""
        for piece, count in zip(self.pieces(), self.counts.tolist(), strict=True):
            yield piece.decode(), count

    def chosen(self, order: np.ndarray) -> PieceCounts:
        """Return the pieces with these indices, in the order given."""
        pieces = self.pieces()
        text = np.frombuffer(b"".join([pieces[k] for k in order.tolist()]), np.uint8)
        return replace(self, text=text, ends=self.lengths[order].cumsum(), counts=self.counts[order])

    def sorted(self) -> PieceCounts:
        """Return the pieces in the order of their UTF-8."""
        pieces = self.pieces()
        return self.chosen(np.array(sorted(range(len(pieces)), key=pieces.__getitem__), np.int64))

    def at_least(self, least: int) -> PieceCounts:
        """Return the pieces that occur `least` times or more."""
        return self.chosen(np.flatnonzero(self.counts >= least))


def added(parts: Sequence[PieceCounts]) -> PieceCounts:
    """Return the sum of counts, sorted. Raises `BPEError` for different patterns, or a sum of 2**63 or more."""
    first = parts[0]
    for part in parts[1:]:
        if part.pattern != first.pattern:
            raise BPEError("counts of different patterns cannot be added; count all text with one")
    if sum(float(part.counts.astype(np.float64) @ part.lengths) for part in parts) >= _MOST:
        raise BPEError("the counts add up to 2**63 bytes of text or more")
    total: defaultdict[bytes, int] = defaultdict(int)
    for part in parts:
        for piece, count in zip(part.pieces(), part.counts.tolist(), strict=True):
            total[piece] += count
    return replace(
        PieceCounts._in_order(first.pattern, total), sources=tuple(source for part in parts for source in part.sources)
    )
