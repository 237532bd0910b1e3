"""Character classes by code point, computed by the package `regex`, so that they agree with it by construction.

They are those of Unicode 16, as in `core.text.unicode_16`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import regex

from impls.core.text.unicode_16 import stand_ins

N_CODE_POINTS = 0x110000
_PAGE = 64


@lru_cache(maxsize=1)
def _all_characters() -> str:
    codes = np.arange(N_CODE_POINTS, dtype="<u4")
    return codes[(codes < 0xD800) | (codes >= 0xE000)].tobytes().decode("utf-32-le")


@lru_cache(maxsize=128)
def members(source: str) -> np.ndarray:
    """Return which code points a one-character expression matches: bool of shape (0x110000,); no surrogate does."""
    inside = np.zeros(N_CODE_POINTS, bool)
    everything = _all_characters()
    for found in regex.finditer(f"(?:{source})+", everything):
        first, last = ord(everything[found.start()]), ord(everything[found.end() - 1])
        inside[first : last + 1] = True
    inside[0xD800:0xE000] = False
    moved = stand_ins(source)
    inside[[ord(character) for character in moved]] = inside[[ord(character) for character in moved.values()]]
    return inside


@lru_cache(maxsize=128)
def _run_starts(source: str) -> np.ndarray:
    """Return the code points at which membership in a class changes, and 0."""
    return np.concatenate(([0], np.flatnonzero(np.diff(members(source))) + 1))


def partition(sources: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Partition all code points into the coarsest classes that distinguish `sources`.

    Returns the class of each code point, uint8 of shape (0x110000,), and which class is in which source, bool of shape
    (n_classes, n_sources). Surrogates are in no source and never occur. Raises OverflowError for more than 255 classes
    or 63 sources.
    """
    if len(sources) > 63:
        raise OverflowError("more than 63 character classes")
    starts = np.unique(np.concatenate([_run_starts(source) for source in sources] or [np.zeros(1, np.int64)]))
    signature = np.zeros(len(starts), np.uint64)
    for bit, source in enumerate(sources):
        signature |= members(source)[starts].astype(np.uint64) << np.uint64(bit)
    distinct, class_of_run = np.unique(signature, return_inverse=True)
    if len(distinct) > 255:
        raise OverflowError("more than 255 character classes")
    runs = np.diff(np.concatenate((starts, [N_CODE_POINTS])))
    class_of = np.repeat(class_of_run.astype(np.uint8), runs)
    bits = np.arange(len(sources), dtype=np.uint64)
    return class_of, ((distinct[:, None] >> bits[None, :]) & np.uint64(1)).astype(bool)


def paged(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compress a value per code point to a two-level table: `pages[code >> 6]` (uint16) selects a row of 64 values.

    Returns (pages of shape (0x4400,), values of shape (n_pages * 64,)).
    """
    rows = values.reshape(-1, _PAGE)
    firsts = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))  # of equal rows
    index: dict[bytes, int] = {}
    page_of = np.array([index.setdefault(row.tobytes(), len(index)) for row in rows[firsts]], np.uint16)
    pages = np.repeat(page_of, np.diff(firsts, append=len(rows)))
    return pages, np.frombuffer(b"".join(index), values.dtype).copy()
