"""Many texts at once, on several threads, as lists or as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack

import numpy as np

from impls.core.arguments import Special, check_texts, text_sequence, thread_count
from impls.operations.coder import Coder
from impls.operations.specials import are_ordinary, prepared, written

Ids = TypeVar("Ids")
Texts = Sequence[str]


def encode_batch(tokenizer: Coder, texts: Texts, threads: int | None, **special: Unpack[Special]) -> list[list[int]]:
    """Return `Tokenizer.encode_batch`."""
    texts, n_threads = text_sequence(texts), thread_count(threads)
    if are_ordinary(tokenizer, texts, **special):
        return prepared(tokenizer, tokenizer.encode_normalized_batch, _all_written, texts, n_threads)
    return map_on_threads(partial(tokenizer.encode, **special), texts, n_threads)


def _all_written(tokenizer: Coder, texts: Texts) -> Texts:
    check_texts(texts)
    return [written(tokenizer, text) for text in texts]


def map_on_threads(encode: Callable[[str], Ids], texts: Texts, threads: int) -> list[Ids]:
    """Return `encode(text)` of each text, in order."""
    if threads == 1 or len(texts) < 2:
        return [encode(text) for text in texts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(encode, texts))


def as_array(ids: Sequence[int]) -> np.ndarray:
    """Return ids as a uint32 array."""
    return np.array(ids, dtype=np.uint32)


def joined(rows: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists or arrays of ids concatenated (uint32), and their offsets (int64 of shape (len(rows) + 1,))."""
    arrays = [np.zeros(0, np.uint32), *(np.asarray(row, np.uint32) for row in rows)]
    return np.concatenate(arrays), np.cumsum(list(map(len, arrays)), dtype=np.int64)
