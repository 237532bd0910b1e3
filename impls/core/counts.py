"""Counts of the distinct pieces of a corpus: all that training needs of it, to be kept, added up and weighted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from impls.core.errors import BPEError

_STEP = 1 << 17
"""Pieces that are gathered at once."""
_MOST = np.iinfo(np.int64).max


class CountedSource(NamedTuple):
    """What was read: a file or corpus, and the SHA-256 over those of its blocks."""

    name: str
    n_bytes: int
    digest: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class PieceCounts:
    """Distinct pieces and their counts, sorted by UTF-8 where `sorted` or `added` returned it."""

    pattern: tuple[str, ...]
    """Stages, as `impls.core.text.patterns.resolve` returns them."""
    text: np.ndarray
    """UTF-8 of the pieces, one after the other: uint8."""
    ends: np.ndarray
    """int64 of shape (n_pieces,): where each ends in `text`."""
    counts: np.ndarray
    """int64 of shape (n_pieces,)."""
    sources: tuple[CountedSource, ...] = ()

    @classmethod
    def of(cls, pattern: tuple[str, ...], counts: dict[str, int]) -> PieceCounts:
        """Return counts given as a dictionary."""
        pieces = [piece.encode() for piece in counts]
        text = np.frombuffer(b"".join(pieces), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), dtype=np.int64)
        return cls(pattern, text, ends, np.fromiter(counts.values(), np.int64, len(pieces))).sorted()

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> np.ndarray:
        """int64 of shape (n_pieces,): where each piece begins in `text`."""
        starts: np.ndarray = self.ends - self.lengths
        return starts

    @property
    def lengths(self) -> np.ndarray:
        """int64 of shape (n_pieces,): bytes of each piece."""
        lengths: np.ndarray = self.ends.copy()
        lengths[1:] -= self.ends[:-1]
        return lengths

    @property
    def n_bytes(self) -> int:
        """Bytes of all pieces, each as often as it occurs."""
        return int(self.counts @ self.lengths)

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield (piece, count)."""
        begin, content = 0, self.text.tobytes()
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield content[begin:end].decode(), count
            begin = end

    def chosen(self, order: np.ndarray) -> PieceCounts:
        """Return the pieces of these indices, in their order."""
        lengths = self.lengths[order]
        text = gathered(self.text, self.starts[order], lengths)
        return replace(self, text=text, ends=np.cumsum(lengths, dtype=np.int64), counts=self.counts[order])

    def sorted(self) -> PieceCounts:
        """Return the pieces in the order of their UTF-8."""
        return self.chosen(_order(self.text, self.starts, self.lengths))

    def at_least(self, least: int) -> PieceCounts:
        """Return the pieces that occur `least` times or more."""
        return self.chosen(np.flatnonzero(self.counts >= least))

    def weighted(self, weight: float) -> PieceCounts:
        """Return the counts times `weight`, each rounded to the nearest number, halves to even, but not to 0.

        Raises `BPEError` for a weight that is not positive, or counts that would not fit in 64 bits.
        """
        if not 0 < weight < float("inf"):
            raise BPEError(f"a weight must be a positive number, not {weight}")
        if weight == 1:
            return self
        if float(self.counts.astype(np.float64) @ self.lengths) * weight >= _MOST:
            raise BPEError(f"a weight of {weight} makes this 2**63 bytes of text or more; give a smaller one")
        counts = np.maximum(1, np.rint(self.counts * weight)).astype(np.int64)
        sources = tuple(source._replace(weight=source.weight * weight) for source in self.sources)
        return replace(self, counts=counts, sources=sources)


def added(parts: Sequence[PieceCounts]) -> PieceCounts:
    """Return the sum of counts, sorted. Raises `BPEError` for different patterns, or a sum of 2**63 or more."""
    first = parts[0]
    for part in parts[1:]:
        if part.pattern != first.pattern:
            raise BPEError("counts of different patterns cannot be added; count all text with one")
    if sum(float(part.counts.astype(np.float64) @ part.lengths) for part in parts) >= _MOST:
        raise BPEError("the counts add up to 2**63 bytes of text or more; give smaller weights")
    shifts = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
    ends = np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=True)])
    text, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("text", "counts"))
    sources = tuple(source for part in parts for source in part.sources)
    everything = PieceCounts(first.pattern, text, ends, counts, sources).sorted()
    return _without_repeats(everything) if len(parts) > 1 else everything


def _without_repeats(counts: PieceCounts) -> PieceCounts:
    """Return sorted counts with those of equal pieces added up."""
    if not len(counts):
        return counts
    is_first = np.ones(len(counts), np.bool_)
    lengths, starts = counts.lengths, counts.starts
    candidates = np.flatnonzero(lengths[1:] == lengths[:-1]) + 1
    for begin in range(0, len(candidates), _STEP):
        of = candidates[begin : begin + _STEP]
        here, before = (gathered(counts.text, starts[at], lengths[at]) for at in (of, of - 1))
        bounds = np.cumsum(lengths[of])
        differ = np.add.reduceat(np.append(here != before, False).astype(np.int64), np.append(0, bounds)[:-1])
        is_first[of] = np.where(lengths[of] > 0, differ > 0, False)
    sums = np.add.reduceat(counts.counts, np.flatnonzero(is_first))
    return replace(counts.chosen(np.flatnonzero(is_first)), counts=sums)


def gathered(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the stretches of `text` (uint8) that begin at `starts`, one after the other."""
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


def _order(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the indices that sort the pieces: by 8 bytes, those that tie by 8 more, and at last by length."""
    order = np.argsort(_keys(text, starts, lengths, 0), kind="stable")
    group = _groups(_keys(text, starts[order], lengths[order], 0), np.zeros(len(order), np.int64))
    level = 1
    tied = _tied(group)
    while len(tied):
        of = order[tied]
        ended = bool((lengths[of] <= 8 * level).all())
        keys = lengths[of] if ended else _keys(text, starts[of], lengths[of], level)
        by = np.lexsort((keys, group[tied]))
        order[tied] = of[by]
        if ended:
            break
        group[tied] = tied[0] + _groups(keys[by], group[tied])
        tied = tied[_tied(group[tied])]
        level += 1
    return order


def _groups(keys: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Number the runs of equal (key, group before), both in order."""
    if not len(keys):
        return np.zeros(0, np.int64)
    differs = (np.diff(keys) != 0) | (np.diff(within) != 0)
    return np.append(0, np.cumsum(differs))


def _tied(group: np.ndarray) -> np.ndarray:
    """Return the indices of members of groups of two or more."""
    if len(group) < 2:
        return np.zeros(0, np.int64)
    same = np.diff(group) == 0
    return np.flatnonzero(np.append(same, False) | np.append(False, same))


def _keys(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray, level: int) -> np.ndarray:
    """Return bytes 8 * level to 8 * level + 7 of each piece as a number, with zeros after its end: uint64."""
    keys = np.empty(len(starts), np.uint64)
    columns = np.arange(8)
    for begin in range(0, len(starts), _STEP):
        left = lengths[begin : begin + _STEP, None] - 8 * level
        index = starts[begin : begin + _STEP, None] + 8 * level + columns
        found = np.where(columns < left, text[np.minimum(index, len(text) - 1)], 0).astype(np.uint8)
        keys[begin : begin + _STEP] = found.view(">u8").reshape(-1)
    return keys
