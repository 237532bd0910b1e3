"""Memory for large tables: zeroed, aligned, and in huge pages where the system gives them.

A probe of a large table misses the processor's cache of addresses as well, unless pages are large (2 MB on most
machines). Pages nothing touches cost nothing. Where nothing of the kind exists this is ordinary memory.
"""

from __future__ import annotations

import contextlib
import mmap

import numpy as np

_CACHE_LINE = 64
_HUGE_PAGE = 1 << 21


def aligned_zeros(n_bytes: int) -> np.ndarray:
    """Zeroed uint8 memory that begins on a cache line, or on a huge page where it is as large as one."""
    if n_bytes < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return _from_boundary(np.zeros(n_bytes + _CACHE_LINE, np.uint8), n_bytes, _CACHE_LINE)
    # Private: a forked child has its own.
    memory = mmap.mmap(-1, n_bytes + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return _from_boundary(np.frombuffer(memory, np.uint8), n_bytes, _HUGE_PAGE)


def _from_boundary(memory: np.ndarray, n_bytes: int, boundary: int) -> np.ndarray:
    place: int = memory.__array_interface__["data"][0]
    start = -place % boundary
    return memory[start : start + n_bytes]
