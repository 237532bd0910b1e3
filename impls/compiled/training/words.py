"""Holds the distinct pieces of a corpus and their counts: the tables of `training/count_pieces`, enlarged as needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from impls.compiled.codegen.native import Slots, native
from impls.compiled.cpython.plain import Uncovered
from impls.compiled.layout import MOST_TEXT_BYTES, PAD_BYTES, UNCOVERED
from impls.compiled.pages import aligned_zeros, bounded_zeros
from impls.compiled.pretokenize.layout import WHOLE_TEXT
from impls.compiled.pretokenize.splitting import SplitContext, Splitting, splitting_of
from impls.compiled.training import layout
from impls.core.counts import PieceCounts, gathered
from impls.core.errors import Unsupported
from impls.core.text.patterns import Splitter

_BITS, _ARENA_BYTES = 16, 1 << 20
"""Initial sizes: log2 of the number of entries of the table, and bytes of pieces."""


class Pieces(Slots):
    """Distinct pieces and their counts."""

    @classmethod
    def of(cls, counts: PieceCounts) -> Pieces:
        """Return the pieces of `counts`, in the same order."""
        pieces, n, limit = cls(layout.CountingRecord), len(counts), counts.memory_limit
        text = bounded_zeros(len(counts.text) + PAD_BYTES, limit)
        text[: len(counts.text)] = counts.text
        starts, lengths = bounded_zeros(8 * n, limit).view(np.int64), bounded_zeros(4 * n, limit).view(np.int32)
        starts[1:] = counts.ends[:-1]
        np.subtract(counts.ends, starts, out=lengths, casting="unsafe")
        pieces.hold("arena", text)
        pieces["arena_used"] = len(counts.text)
        pieces.hold("starts", starts)
        pieces.hold("lengths", lengths)
        pieces.hold("counts", np.ascontiguousarray(counts.counts, np.int64))
        pieces["n_pieces"] = n
        return pieces

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of bytes of each piece: int32."""
        return self.held("lengths")[: self["n_pieces"]]

    @property
    def counts(self) -> np.ndarray:
        """Return the number of occurrences of each piece: int64."""
        return self.held("counts")[: self["n_pieces"]]

    def pieces(self) -> Iterator[str]:
        """Yield the pieces as strings, in order."""
        arena, lengths = self.held("arena"), self.lengths.tolist()
        for start, length in zip(self.held("starts")[: len(lengths)].tolist(), lengths, strict=True):
            yield arena[start : start + length].tobytes().decode()


class Words(Pieces):
    """Counts pieces, kept in the order of their first occurrence.

    Not thread-safe. If kernels cannot split by the pattern `stages`, `regex` does, and to kernels each piece is a text.
    """

    def __init__(self, stages: tuple[str, ...]) -> None:
        super().__init__(layout.CountingRecord)
        splitting, _ = splitting_of(stages)
        self._splits = splitting is not None
        self.context = SplitContext(splitting or Splitting(WHOLE_TEXT))
        """The memory that kernels split with, and the tables of the pattern."""
        self.stages, self._splitter = stages, Splitter(stages)
        self.hold("piece_table", aligned_zeros(16 << _BITS))
        self["piece_shift"] = 64 - _BITS
        self["most_pieces"] = 1 << (_BITS - 1)
        for slot, kind in (("starts", np.int64), ("lengths", np.int32), ("counts", np.int64)):
            self.hold(slot, np.zeros(1 << (_BITS - 1), kind))
        self.hold("arena", aligned_zeros(_ARENA_BYTES))
        self["arena_bytes"] = _ARENA_BYTES

    def may_outgrow(self, n_bytes: int) -> bool:
        """Return whether the tables may soon grow, and would take more than `n_bytes` while they do."""
        now = sum(array.nbytes for array in self.arrays)
        pieces_left, bytes_left = self["most_pieces"] - self["n_pieces"], self["arena_bytes"] - self["arena_used"]
        is_nearly_full = 4 * pieces_left < self["most_pieces"] or 4 * bytes_left < self["arena_bytes"]
        # The enlarged tables have twice the size, and exist beside the present ones for a while.
        return is_nearly_full and 3 * now > n_bytes

    def add(self, texts: list[bytes]) -> None:
        """Count the pieces of texts in UTF-8; raise `InvalidPattern` for a text the pattern does not cover."""
        longest = max(map(len, texts), default=0)
        if longest > MOST_TEXT_BYTES:
            raise Unsupported(
                "compiled", f"a text of {longest:,} bytes; it trains on texts of at most {MOST_TEXT_BYTES:,}"
            )
        self.add_texts(*_side_by_side(texts))

    def add_texts(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Count as `add` does; `data` (uint8) holds the texts, one right after the other, and PAD_BYTES more; `sizes`
        (int64) is the number of bytes of each text."""
        if not self._splits:
            pieces = (piece for text in _texts(data, sizes) for piece in self._splitter.split(text.decode()))
            data, sizes = _side_by_side([piece.encode() for piece in pieces])
        self.hold("texts", data)
        self.hold("text_bytes", sizes)
        self["n_readable"], self["n_texts"] = len(data), len(sizes)
        self["text"] = self["text_at"] = self["position"] = 0
        status = self.enlarging(len(data), lambda: native.count_texts(self.context.address, self.address))
        self.release("texts", "text_bytes")
        if status == UNCOVERED:
            for text in _texts(data, sizes):
                # One of these calls raises, and names the text that is not covered.
                self._splitter.split(text.decode())
            raise Uncovered

    def add_counts(self, other: Pieces) -> None:
        """Add the counts of `other`."""
        self["position"] = 0
        n_bytes = other["arena_used"] + 8 * other["n_pieces"]
        self.enlarging(n_bytes, lambda: native.add_pieces(self.address, other.address))

    def counted(self) -> PieceCounts:
        """Return the counts, with pieces in the order of their first occurrence; afterwards nothing can be counted."""
        self.release("piece_table")
        lengths = self.lengths.astype(np.int64)
        text = gathered(self.held("arena"), self.held("starts")[: len(lengths)], lengths)
        return PieceCounts(self.stages, text, np.cumsum(lengths), self.counts)

    def enlarging(self, n_bytes: int, kernel: Callable[[], int]) -> int:
        """Call a kernel, and enlarge the tables for pieces of `n_bytes` until it has room; return its status."""
        while True:
            status = kernel()
            if status != layout.NO_ROOM:
                return status
            self._enlarge(n_bytes)

    def _enlarge(self, n_bytes: int) -> None:
        used, n_pieces = self["arena_used"], self["n_pieces"]
        arena = aligned_zeros(max(2 * self["arena_bytes"], used + 2 * n_bytes))
        self.grow("arena", arena, used)
        self["arena_bytes"] = len(arena)
        shift = self["piece_shift"] - 1
        for slot in ("starts", "lengths", "counts"):
            self.grow(slot, np.zeros(1 << (63 - shift), self.held(slot).dtype), n_pieces)
        table = aligned_zeros(16 << (64 - shift))
        native.spread_pieces(self.address, table, shift)
        self.hold("piece_table", table)


def _side_by_side(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return texts, and their sizes, as `Words.add_texts` takes them."""
    data = np.frombuffer(b"".join([*texts, bytes(PAD_BYTES)]), np.uint8)
    return data, np.fromiter(map(len, texts), np.int64, len(texts))


def _texts(data: np.ndarray, sizes: np.ndarray) -> Iterator[bytes]:
    """Yield the texts of `Words.add_texts`."""
    at = 0
    for size in sizes.tolist():
        yield data[at : at + size].tobytes()
        at += size
