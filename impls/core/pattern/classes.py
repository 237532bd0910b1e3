"""Character classes by code point, computed by the package `regex`, so that they agree with it by construction.

They are those of Unicode 16, as in `core.text.unicode_16`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import regex

from impls.core.text.unicode_16 import named_codes, stand_ins

N_CODE_POINTS = 0x110000
PAGE = 64


_UNIFORM = 0x40000
"""From here on characters are all alike but for tags, variation selectors and the first and last of each plane."""


@lru_cache(maxsize=8)
def _sample(*named: int) -> tuple[np.ndarray, str]:
    """Return code points in order so that each has the properties of those that follow it up to the next: int64.

    An expression may tell `named` code points from their neighbours. The number of all code points comes last. Also
    returns the code points as a text.
    """
    sampled = np.zeros(N_CODE_POINTS + 1, bool)
    sampled[:_UNIFORM] = sampled[0xE0000:0xE1001] = True
    for shift in (-3, -2, -1, 0, 1):
        sampled[_UNIFORM + shift :: 0x10000] = True
    for code in named:
        sampled[code : code + 2] = True
    sampled[0xD800:0xE000] = False
    codes = np.flatnonzero(sampled)
    return codes, codes[:-1].astype("<u4").tobytes().decode("utf-32-le")


@lru_cache(maxsize=128)
def members(source: str) -> np.ndarray:
    """Return which code points a one-character expression matches: bool of shape (0x110000,); no surrogate does."""
    codes, text = _sample(*(code for code in named_codes(source).tolist() if code >= _UNIFORM))
    inside = np.zeros(N_CODE_POINTS, bool)
    for match in regex.finditer(f"(?:{source})+", text):
        inside[codes[match.start()] : codes[match.end()]] = True
    inside[0xD800:0xE000] = False
    moved = stand_ins(source)
    inside[[ord(character) for character in moved]] = inside[[ord(character) for character in moved.values()]]
    return inside


@lru_cache(maxsize=128)
def _run_starts(source: str) -> np.ndarray:
    """Return the code points at which membership in a class changes, and 0."""
    if len(source) == 1 and source.isascii() and source != ".":  # stands for itself
        return np.array([0, ord(source), ord(source) + 1])
    return np.concatenate(([0], np.flatnonzero(np.diff(members(source))) + 1))


def partition(sources: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Partition all code points into the coarsest classes that distinguish `sources`.

    Returns the class of each code point, uint8 of shape (0x110000,), and which class is in which source, bool of shape
    (n_classes, n_sources). Surrogates are in no source and never occur. Raises OverflowError for more than 255 classes
    or 63 sources.
    """
    if len(sources) > 63:
        raise OverflowError("more than 63 character classes")
    starts = np.flatnonzero(np.bincount(np.concatenate([[0], *map(_run_starts, sources)])))
    signature = np.zeros(len(starts), np.uint64)
    for bit, source in enumerate(sources):
        signature |= members(source)[starts].astype(np.uint64) << np.uint64(bit)
    distinct, class_of_run = np.unique(signature, return_inverse=True)
    if len(distinct) > 255:
        raise OverflowError("more than 255 character classes")
    class_of = np.repeat(class_of_run.astype(np.uint8), np.diff(starts, append=N_CODE_POINTS))
    bits = np.arange(len(sources), dtype=np.uint64)
    return class_of, ((distinct[:, None] >> bits[None, :]) & np.uint64(1)).astype(bool)


def paged(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compress a value per code point to a two-level table: `pages[code >> 6]` (uint16) selects a row of 64 values.

    Returns (pages of shape (0x4400,), values of shape (n_pages * 64,)).
    """
    rows = values.reshape(-1, PAGE)
    firsts = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))  # of equal rows
    index: dict[bytes, int] = {}
    page_of = np.array([index.setdefault(row.tobytes(), len(index)) for row in rows[firsts]], np.uint16)
    return np.repeat(page_of, np.diff(firsts, append=len(rows))), np.frombuffer(b"".join(index), values.dtype).copy()
