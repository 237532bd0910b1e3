"""Puts large tables in unnamed files: memory that the system can write to disk and reclaim when it runs short.

Without swap the system cannot reclaim other memory. While there is enough, the pages stay in the system's cache, and
this is as fast as other memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

from impls.compiled.pages import aligned_zeros
from impls.core.errors import BPEError

_SHARE = 8
"""A table is in a file if it takes more than 1 / _SHARE of the limit; there are hardly more large tables than that."""


def zeros(n_bytes: int, limit: int | None) -> np.ndarray:
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
