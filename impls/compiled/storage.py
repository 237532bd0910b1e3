"""The user's cache of compiled kernels and prepared tables, read into memory that the kernels can use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from impls.compiled.pages import aligned_zeros
from impls.core import cache
from impls.core.cache import is_private, write_checked

__all__ = ["cache_folder", "is_private", "packed", "read_checked", "unpacked", "write_checked"]

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
