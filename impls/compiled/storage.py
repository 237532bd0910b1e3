"""The user's cache of compiled kernels and prepared tables, read into memory that the kernels can use."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from impls.compiled.pages import aligned_zeros
from impls.core import cache
from impls.core.cache import is_private, write_checked

__all__ = ["cache_folder", "is_private", "read_checked", "write_checked"]


def cache_folder() -> Path:
    """Return the folder for compiled kernels and prepared tables, within the user's cache folder."""
    return cache.cache_folder() / "compiled"


def read_checked(path: Path) -> np.ndarray | None:
    """Return the content of a file of `write_checked` as uint8, 64-byte aligned.

    Returns None if the file is missing, damaged, or open to others.
    """
    try:
        with os.fdopen(cache.open_cached(path), "rb", buffering=0) as file:
            digest = file.read(cache.DIGEST_BYTES)
            n_bytes = os.fstat(file.fileno()).st_size - cache.DIGEST_BYTES
            if n_bytes < 0:
                return None
            content = aligned_zeros(n_bytes)
            if file.readinto(content.data) != n_bytes:
                return None
    except (OSError, ValueError):
        return None
    return content if cache.checksum(path, hashlib.sha256(content.data).digest()) == digest else None
