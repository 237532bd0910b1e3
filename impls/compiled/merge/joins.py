"""The pairs of three-byte characters that some token holds side by side: what `merge/segments` looks up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from impls.compiled.layout import JOINS_SHIFT

_K1 = np.uint64(-7046029254386353131 % (1 << 64))
"""As in `lookup/hashing`."""
_LEAD, _AFTER = 0xE0, 0xF0


def joins_of(tokens: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return which pairs of characters a token may hold: by hash, and by the last six bits of the left one.

    uint8 of shape (1 << (61 - JOINS_SHIFT),), a bit for every pair; int64 of shape (65536,) by right character, a bit
    for every end of a left one that some token begins with. A token that begins or ends inside a character counts for
    every character with that end or beginning.
    """
    ends = np.zeros(1 << 16, np.uint64)
    parts = [key for token in tokens for key in _keys(token, ends)]
    keys = np.concatenate([np.zeros(0, np.int64), *parts])
    bits = (keys.astype(np.uint64) * _K1) >> np.uint64(JOINS_SHIFT)
    bitmap = np.zeros(1 << (64 - JOINS_SHIFT), bool)
    bitmap[bits.astype(np.int64)] = True
    return np.packbits(bitmap, bitorder="little"), ends.view(np.int64)


def _keys(token: bytes, ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the pairs a token may hold, left << 16 | right; where it holds one byte of the left, set `ends` instead."""
    for at in range(1, len(token)):
        if not _LEAD <= token[at] < _AFTER:
            continue
        first = _code(token[at : at + 3])
        n_rights = (4096, 64, 1)[min(len(token) - at, 3) - 1]
        rights = np.arange(first, first + n_rights, dtype=np.int64)
        before = [byte & 63 for byte in token[max(0, at - 2) : at]]
        if at >= 3 and _LEAD <= token[at - 3] < _AFTER:
            yield (_code(token[at - 3 : at]) << 16) | rights
        elif at <= 2 and all(byte & 0xC0 == 0x80 for byte in token[:at]):
            if at == 1:
                ends[first : first + n_rights] |= np.uint64(1 << before[0])
            else:
                lefts = (np.arange(16, dtype=np.int64) << 12) | (before[0] << 6) | before[1]
                yield ((lefts[:, None] << 16) | rights).ravel()


def _code(character: bytes) -> int:
    """Return the lowest three-byte character that begins with these bytes."""
    a, b, c = character.ljust(3, b"\0")
    return ((a & 15) << 12) | ((b & 63) << 6) | (c & 63)
