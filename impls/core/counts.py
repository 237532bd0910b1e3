"""Counts of the distinct pieces of a corpus, which is all that training needs: to be saved and added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from impls.core.errors import BPEError

_STEP = 1 << 17
"""Pieces gathered at a time."""
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

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> np.ndarray:
        """Return the start of each piece in `text`: int64 of shape (n_pieces,)."""
        return np.asarray(self.ends - self.lengths)

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of bytes of each piece: int64 of shape (n_pieces,)."""
        return np.diff(self.ends, prepend=0)

    @property
    def n_bytes(self) -> int:
        """Return the bytes of all pieces, each times its count."""
        return int(self.counts @ self.lengths)

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield (piece, count)."""
        begin, content = 0, self.text.tobytes()
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield content[begin:end].decode(), count
            begin = end

    def chosen(self, order: np.ndarray) -> PieceCounts:
        """Return the pieces with these indices, in the order given."""
        lengths = self.lengths[order]
        text = gathered(self.text, self.starts[order], lengths)
        return replace(self, text=text, ends=np.cumsum(lengths, dtype=np.int64), counts=self.counts[order])

    def sorted(self) -> PieceCounts:
        """Return the pieces in the order of their UTF-8."""
        return self.chosen(_order(self)[0])


def added(parts: Sequence[PieceCounts]) -> PieceCounts:
    """Return the sum of counts, sorted. Raises `BPEError` for different patterns, or a sum of 2**63 or more."""
    first = parts[0]
    for part in parts[1:]:
        if part.pattern != first.pattern:
            raise BPEError("counts of different patterns cannot be added; count all text with one")
    if sum(float(part.counts.astype(np.float64) @ part.lengths) for part in parts) >= _MOST:
        raise BPEError("the counts add up to 2**63 bytes of text or more")
    shifts = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
    ends = np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=True)])
    text, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("text", "counts"))
    sources = tuple(source for part in parts for source in part.sources)
    everything = PieceCounts(first.pattern, text, ends, counts, sources)
    order, group = _order(everything)
    if not len(order):
        return everything
    firsts = np.flatnonzero(np.diff(group, prepend=-1))
    return replace(everything.chosen(order[firsts]), counts=np.add.reduceat(everything.counts[order], firsts))


def gathered(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the concatenated stretches of `text` (uint8) with these starts and lengths."""
    out = np.empty(int(lengths.sum()), np.uint8)
    at = 0
    for begin in range(0, len(starts), _STEP):
        sizes = lengths[begin : begin + _STEP]
        ends = np.cumsum(sizes)
        total = int(ends[-1])
        index = np.arange(total) + np.repeat(starts[begin : begin + _STEP] - (ends - sizes), sizes)
        out[at : at + total] = text[index]
        at += total
    return out


def _order(pieces: PieceCounts) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices that sort the pieces and, in that order, a number for each that equal pieces share.

    Pieces are compared by 8 bytes, those that tie by the next 8, and finally by length.
    """
    text, starts, lengths = pieces.text, pieces.starts, pieces.lengths
    order, tied = np.arange(len(starts)), np.arange(len(starts))
    group, level, ended = np.zeros(len(order), np.int64), 0, False
    while len(tied) and not ended:
        of = order[tied]
        ended = bool((lengths[of] <= 8 * level).all())
        keys = lengths[of] if ended else _keys(text, starts[of], lengths[of], level)
        by = np.lexsort((keys, group[tied]))
        order[tied] = of[by]
        group[tied] = tied[_groups(keys[by], group[tied])]
        same = np.diff(group[tied], prepend=-1, append=-1) == 0  # as the one before, and after
        tied = tied[same[1:] | same[:-1]]
        level += 1
    return order, group


def _groups(keys: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Return for each (key, group before), both in order, the index of the first that is equal."""
    indices = np.arange(len(keys))
    indices[1:][(keys[1:] == keys[:-1]) & (within[1:] == within[:-1])] = 0
    return np.maximum.accumulate(indices)


def _keys(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray, level: int) -> np.ndarray:
    """Return bytes 8 * level to 8 * level + 7 of each piece as a number, with zeros after its end: uint64."""
    keys = np.empty(len(starts), np.uint64)
    columns = np.arange(8)
    for begin in range(0, len(starts), _STEP):
        left = lengths[begin : begin + _STEP, None] - 8 * level
        index = starts[begin : begin + _STEP, None] + 8 * level + columns
        column = np.where(columns < left, text[np.minimum(index, len(text) - 1)], 0).astype(np.uint8)
        keys[begin : begin + _STEP] = column.view(">u8").reshape(-1)
    return keys
