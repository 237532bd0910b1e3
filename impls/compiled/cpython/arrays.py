"""Serialises arrays as one byte string: a JSON line of names, types and shapes, then the data, 64-byte aligned."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

_ALIGNMENT = 64


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the arrays serialised; `unpacked` is the inverse."""
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
