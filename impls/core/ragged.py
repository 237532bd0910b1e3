"""Ids of many texts in one array, and encoding on several threads. Knows no algorithm and no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np

Ids = TypeVar("Ids")


def map_on_threads(encode: Callable[[str], Ids], texts: Sequence[str], threads: int) -> list[Ids]:
    """Return `encode(text)` of each text, in order."""
    if threads == 1 or len(texts) < 2:
        return [encode(text) for text in texts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(encode, texts))


def joined(rows: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists or arrays of ids concatenated (uint32), and their offsets (int64 of shape (len(rows) + 1,))."""
    import numpy as np

    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    if rows and not isinstance(rows[0], np.ndarray):
        rows = [np.array(row, dtype=np.uint32) for row in rows]
    return (np.concatenate(rows) if rows else np.zeros(0, np.uint32)), offsets
