"""Builds what kernels look up for two neighbours: what symbols merge into (`merge/pairs`: the bucket of each pair, the
order of all buckets), and which three-byte characters some token holds side by side (`merge/segments`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.layout import HANDLE_BITS, JOINS_SHIFT, NO_ROW, NONE, SYMBOL_BITS
from impls.core.errors import Unsupported

_MOST_IN_BUCKET = 8
_MOST_PLACES, _MOST_BUCKETS = NONE, (1 << (HANDLE_BITS - 1)) - 1
"""Maximum numbers that the bit fields of slots and buckets hold."""
_K1 = np.uint64(-7046029254386353131 % (1 << 64))
"""The constant K1 of `lookup/hashing`."""


def pair_rows(merges: np.ndarray, n_symbols: int) -> dict[str, np.ndarray]:
    """Return the table of merges: what two symbols merge into, as the fields `pairs`, `buckets` and `handles`.

    `merges` are int64 `(left << 21 | right) << 21 | symbol`. Raises `Unsupported` if there are too many.
    """
    lefts, rights, made = merges >> (2 * SYMBOL_BITS), (merges >> SYMBOL_BITS) & NONE, merges & NONE
    row_bits = _row_bits(lefts, rights, n_symbols)
    handles, n_buckets = _handles(lefts, row_bits)
    buckets = (handles[lefts] - (1 << row_bits[lefts])) // 2 + _bucket_in_row(rights, row_bits[lefts])
    order = np.argsort(buckets, kind="stable")
    entries = ((made << HANDLE_BITS | handles[made]) << SYMBOL_BITS | rights)[order]
    ends = np.cumsum(np.bincount(buckets, minlength=n_buckets))
    n_slots = len(entries) + len(entries) // 64 + 16
    pairs, words = np.full(n_slots, -1, np.int64), np.zeros(n_buckets, np.int64)
    n_used = -1
    if n_slots <= _MOST_PLACES and n_buckets <= _MOST_BUCKETS:
        n_used = native.build_pairs(entries, ends, n_buckets, words, pairs, n_slots)
    if n_used < 0:
        raise Unsupported("compiled", f"the model has more pairs of tokens ({len(merges)}) than its table can hold")
    return {"pairs": pairs[:n_used].copy(), "buckets": words, "handles": handles.astype(np.int32)}


def _bucket_in_row(rights: np.ndarray, bits: np.ndarray) -> np.ndarray:
    hashes = rights.astype(np.uint64) * _K1
    return ((hashes >> np.uint64(1)) >> (63 - bits).astype(np.uint64)).astype(np.int64)


def _row_bits(lefts: np.ndarray, rights: np.ndarray, n_symbols: int) -> np.ndarray:
    """Return the log2 of the number of buckets in each left symbol's row, so that none holds too many pairs: int64."""
    bits = np.zeros(n_symbols, np.int64)
    left, right = lefts, rights
    while len(left):
        places = left << SYMBOL_BITS | _bucket_in_row(right, bits[left])
        taken, counts = np.unique(places, return_counts=True)
        full = np.unique(taken[counts > _MOST_IN_BUCKET] >> SYMBOL_BITS)
        bits[full] += 1
        of_full = np.isin(left, full)
        left, right = left[of_full], right[of_full]
    return bits


def _handles(lefts: np.ndarray, row_bits: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the handles (int64 by symbol) and the number of buckets.

    Larger rows come first, so each begins at a multiple of its size. Before them is the empty bucket of NO_ROW.
    """
    rows = np.unique(lefts)
    rows = rows[np.argsort(-row_bits[rows], kind="stable")]
    sizes = 1 << row_bits[rows]
    first = sizes.max(initial=1)
    begins = first + np.cumsum(sizes) - sizes
    handles = np.full(len(row_bits), NO_ROW, np.int64)
    handles[rows] = 2 * begins + sizes
    return handles, int(first + sizes.sum())


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
