"""Allocates memory for large tables: zeroed, aligned, and in huge pages if the system has them; reads cached tables.

A probe of a large table misses the TLB as well, unless pages are large (2 MB on most machines). Pages that are never
touched cost nothing, but the first touch of a large page takes all of it. Without huge pages this is ordinary memory.

Tables of training that may exceed a limit are put in unnamed files: memory that the system can write to disk and
reclaim when it runs short. Without swap it cannot reclaim other memory. While there is enough, the pages stay in the
system's cache, and this is as fast as other memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from impls.core import cache
from impls.core.cache import is_private, write_checked
from impls.core.errors import BPEError

_CACHE_LINE = 64
_HUGE_PAGE = 1 << 21


def aligned_zeros(n_bytes: int, in_small_pages: int = 0) -> np.ndarray:
    """Return zeroed memory (uint8), aligned to a cache line, or to a huge page if it is at least as large as one.

    Memory to be used from its start on begins with so many bytes in small pages: the first touch of a large page takes
    longer than that of a small one, but not as long as those of all the small pages that it replaces.
    """
    if n_bytes < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        array = np.zeros(n_bytes + _CACHE_LINE, np.uint8)
        start = -address(array) % _CACHE_LINE
        return array[start : start + n_bytes]
    # The mapping is private: a forked child gets a copy.
    try:
        memory = mmap.mmap(-1, n_bytes + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for {n_bytes} bytes: {error.strerror}") from error
    array = np.frombuffer(memory, np.uint8)
    # A large page must begin where the small pages end.
    start = -(address(array) + in_small_pages) % _HUGE_PAGE
    with contextlib.suppress(OSError):
        if in_small_pages > 0:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        if n_large := (n_bytes - in_small_pages) & -_HUGE_PAGE:
            memory.madvise(mmap.MADV_HUGEPAGE, start + in_small_pages, n_large)
    return array[start : start + n_bytes]


def return_freed() -> None:
    """Return to the system memory that was freed but that the allocator keeps, if the allocator can (glibc)."""
    with contextlib.suppress(AttributeError, TypeError, OSError):
        ctypes.CDLL(None).malloc_trim(ctypes.c_size_t(0))


def address(array: np.ndarray) -> int:
    """Return the address of an array's data; the caller keeps the array alive while kernels use it."""
    return array.ctypes.data


_SHARE = 8
"""A table is in a file if it takes more than 1 / _SHARE of the limit; there are hardly more large tables than that."""


def bounded_zeros(n_bytes: int, limit: int | None) -> np.ndarray:
    """Return zeroed uint8 of shape (n_bytes,), in a file if all tables together might take more than `limit` bytes.

    Raises `BPEError` if the disk is full.
    """
    if limit is None or n_bytes <= limit // _SHARE:
        return aligned_zeros(n_bytes)
    with tempfile.TemporaryFile(prefix="bpebench-") as file:
        try:
            if hasattr(os, "posix_fallocate"):  # else a full disk would end the process when a page is written first
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
        except OSError as error:
            problem = f"{tempfile.gettempdir()}: no room for {n_bytes:,} bytes ({error.strerror})"
            raise BPEError(f"{problem}; set TMPDIR to a folder on a larger disk, or a higher memory limit") from None
        return np.frombuffer(mmap.mmap(file.fileno(), n_bytes), np.uint8)


__all__ = ["address", "cache_folder", "is_private", "packed", "read_checked", "unpacked", "write_checked"]

_ALIGNMENT = 64


def cache_folder() -> Path:
    """Return the folder for compiled kernels and prepared tables, within the user's cache folder."""
    return cache.cache_folder() / "compiled"


def read_checked(path: Path) -> np.ndarray | None:
    """Return the content of a file of `write_checked` as uint8, 64-byte aligned; None as `cache.read_checked` does."""
    cached = cache.read_checked(path, aligned_zeros)
    return None if cached is None else cached.content


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the arrays as one byte string: a JSON line of names, types and shapes, then the data, 64-byte aligned."""
    header = json.dumps([(name, array.dtype.str, array.shape) for name, array in arrays.items()]).encode()
    parts = [len(header).to_bytes(8, "little"), header]
    size = 8 + len(header)
    for array in arrays.values():
        padding = -size % _ALIGNMENT
        data = np.ascontiguousarray(array).tobytes()
        parts += [bytes(padding), data]
        size += padding + len(data)
    return b"".join([*parts, bytes(_ALIGNMENT)])


def unpacked(data: np.ndarray) -> dict[str, np.ndarray]:
    """Return views of the arrays serialised in `data` (uint8), by name, in their original order."""
    header_size = int.from_bytes(data[:8].tobytes(), "little")
    position = 8 + header_size
    arrays: dict[str, np.ndarray] = {}
    for name, kind, shape in json.loads(data[8:position].tobytes()):
        position += -position % _ALIGNMENT
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, kind, count, position).reshape(shape)
        position += arrays[name].nbytes
    return arrays
