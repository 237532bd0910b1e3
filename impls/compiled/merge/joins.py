"""Finds the pairs of three-byte characters that some token holds side by side, which `merge/segments` looks up."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from impls.compiled.layout import JOINS_SHIFT

_K1 = np.uint64(-7046029254386353131 % (1 << 64))
"""The constant K1 of `lookup/hashing`."""
_LEAD, _AFTER = 0xE0, 0xF0
_leads = re.compile(b"[\xe0-\xef]").finditer


def joins_of(tokens: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return two bitmaps of the pairs of characters that a token may hold.

    The first is by the pair's hash: uint8 of shape (1 << (61 - JOINS_SHIFT),), one bit per pair. The second is by the
    right character: int64 of shape (65536,), one bit for each last byte of a left character (its six bits) with which
    some token begins. A token that begins or ends inside a character counts for every character with that end or
    beginning.
    """
    ends = np.zeros(1 << 16, np.uint64)
    whole: list[int] = []
    """Pairs of which a token holds both characters whole, left << 16 | right."""
    cut: list[np.ndarray] = []
    """Pairs of which a token holds one character only in part."""
    for token in tokens:
        for found in _leads(token, 1):
            at = found.start()
            first = _code(token[at : at + 3])
            n_rights = (4096, 64, 1)[min(len(token) - at, 3) - 1]
            if at >= 3 and _LEAD <= token[at - 3] < _AFTER:
                left = _code(token[at - 3 : at]) << 16
                if n_rights == 1:
                    whole.append(left | first)
                else:
                    cut.append(left | np.arange(first, first + n_rights))
            elif at <= 2 and all(byte & 0xC0 == 0x80 for byte in token[:at]):
                before = [byte & 63 for byte in token[:at]]
                if at == 1:
                    ends[first : first + n_rights] |= np.uint64(1 << before[0])
                else:
                    lefts = (np.arange(16) << 12) | (before[0] << 6) | before[1]
                    cut.append(((lefts[:, None] << 16) | np.arange(first, first + n_rights)).ravel())
    keys = np.concatenate([np.array(whole, np.int64), *cut])
    bits = (keys.astype(np.uint64) * _K1) >> np.uint64(JOINS_SHIFT)
    bitmap = np.zeros(1 << (64 - JOINS_SHIFT), bool)
    bitmap[bits.astype(np.int64)] = True
    return np.packbits(bitmap, bitorder="little"), ends.view(np.int64)


def _code(character: bytes) -> int:
    """Return the lowest three-byte character that begins with these bytes."""
    a, b, c = character.ljust(3, b"\0")
    return ((a & 15) << 12) | ((b & 63) << 6) | (c & 63)
