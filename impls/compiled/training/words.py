"""Distinct pieces of a corpus and their counts: the tables of `training/count_pieces`, enlarged as needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from impls.compiled.codegen.native import address, native
from impls.compiled.cpython.plain import Uncovered, ends_of
from impls.compiled.layout import MOST_TEXT_BYTES, PAD_BYTES, UNCOVERED
from impls.compiled.pages import aligned_zeros
from impls.compiled.pretokenize.split_context import SplitContext
from impls.compiled.slots import Slots
from impls.compiled.training import layout
from impls.core.errors import Unsupported
from impls.core.text.patterns import Splitter

_BITS, _ARENA_BYTES = 16, 1 << 20
"""Initial size of the table: log2 of its entries, and bytes of pieces."""
_MOST_COUNTED = 1 << 31
"""Counts are collected before so many bytes have been read, the most an entry can count."""


class Words(Slots):
    """Counts of distinct pieces. Not thread-safe. If `splits`, `context` splits, otherwise `regex` does."""

    def __init__(self, context: SplitContext, stages: tuple[str, ...], *, splits: bool) -> None:
        super().__init__(layout.CountingRecord)
        self._context, self._splits = context, splits
        self._splitter = Splitter(stages)
        self.hold("piece_table", aligned_zeros(16 << _BITS))
        self["piece_shift"] = 64 - _BITS
        self["most_pieces"] = 1 << (_BITS - 1)
        self.hold("starts", np.zeros(1 << (_BITS - 1), np.int64))
        self.hold("lengths", np.zeros(1 << (_BITS - 1), np.int32))
        self.hold("arena", aligned_zeros(_ARENA_BYTES))
        self["arena_bytes"] = _ARENA_BYTES
        self.counts = np.zeros(0, np.int64)
        """int64 by piece, as of the last `collect`."""
        self._n_bytes = 0

    @property
    def lengths(self) -> np.ndarray:
        """int32 by piece: its number of bytes."""
        return self.held("lengths")[: self["n_pieces"]]

    def pieces(self) -> Iterator[str]:
        """Yield the pieces, in the order of their first occurrence."""
        arena, lengths = self.held("arena"), self.lengths.tolist()
        for start, length in zip(self.held("starts")[: len(lengths)].tolist(), lengths, strict=True):
            yield arena[start : start + length].tobytes().decode()

    def add(self, texts: list[bytes]) -> None:
        """Count the pieces of texts in UTF-8; raise `InvalidPattern` for a text the pattern does not cover."""
        n_bytes, longest = sum(map(len, texts)), max(map(len, texts), default=0)
        if longest > MOST_TEXT_BYTES:
            raise Unsupported(
                "compiled", f"a text of {longest:,} bytes; it trains on texts of {MOST_TEXT_BYTES:,} at most"
            )
        if self._n_bytes + n_bytes >= _MOST_COUNTED:
            self.collect()
        self._n_bytes += n_bytes
        if not self._splits:
            for text in texts:
                self._add_split(text)
            return
        pad = bytes(PAD_BYTES)
        data = np.frombuffer(b"".join([part for text in texts for part in (text, pad)]), np.uint8)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self["texts"], self["text_bytes"] = address(data), address(sizes)
        self["n_texts"] = len(texts)
        self["text"] = self["text_at"] = self["position"] = 0
        context = self._context
        status = self._enlarging(len(data), lambda: native.count_texts(context.address, self.address), data, sizes)
        if status == UNCOVERED:
            for text in texts:
                # One of these raises, and names the text that is not covered.
                self._splitter.split(text.decode())
            raise Uncovered

    def _add_split(self, data: bytes) -> None:
        pieces = self._splitter.split(data.decode())
        text = "".join(pieces)
        ends = ends_of(text, pieces)
        padded = np.frombuffer(text.encode() + bytes(PAD_BYTES), np.uint8)
        places = (self._context.address, self.address, address(padded), address(ends))
        self["position"] = 0
        self._enlarging(len(padded) + 8 * len(ends), lambda: native.count_split(*places, len(ends)), padded, ends)

    def add_counts(self, other: Words) -> None:
        """Add the counts of another one, whose counts are collected."""
        self.collect()
        numbers = np.empty(len(other.counts), np.int32)
        self["position"] = 0
        self._enlarging(
            other["arena_used"] + 8 * len(numbers),
            lambda: native.number_pieces(self.address, other.address, address(numbers)),
            numbers,
            *other.arrays,
        )
        self.collect()
        np.add.at(self.counts, numbers, other.counts)

    def collect(self) -> None:
        """Bring `counts` up to date."""
        counts = np.zeros(self["n_pieces"], np.int64)
        counts[: len(self.counts)] = self.counts
        with native.reachable(counts, *self.arrays):
            native.collect_counts(self.address, address(counts))
        self.counts = counts
        self._n_bytes = 0

    def _enlarging(self, n_bytes: int, kernel: Callable[[], int], *arrays: np.ndarray) -> int:
        """Call a kernel, enlarging the tables for pieces of `n_bytes` until it has room; return its status."""
        while True:
            with native.reachable(*arrays, *self.arrays):
                status = kernel()
            if status != layout.NO_ROOM:
                return status
            self._enlarge(n_bytes)

    def _enlarge(self, n_bytes: int) -> None:
        used = self["arena_used"]
        arena = aligned_zeros(max(2 * self["arena_bytes"], used + 2 * n_bytes))
        arena[:used] = self.held("arena")[:used]
        self.hold("arena", arena)
        self["arena_bytes"] = len(arena) - PAD_BYTES
        shift = self["piece_shift"] - 1
        most = 1 << (63 - shift)
        for slot in ("starts", "lengths"):
            before = self.held(slot)
            larger = np.zeros(most, before.dtype)
            larger[: len(before)] = before
            self.hold(slot, larger)
        table = aligned_zeros(16 << (64 - shift))
        with native.reachable(table, *self.arrays):
            native.spread_pieces(self.address, address(table), shift)
        self.hold("piece_table", table)
