"""Right tokenizers, built in different ways: no check may call them wrong."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from planted_bugs import Full, Right, model


class Cached(Right):
    """Caches the last thousand whole texts, and returns copies."""

    def __init__(self) -> None:
        super().__init__()
        self.known: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self.lock = threading.Lock()

    def encode(self, text: str) -> list[int]:
        with self.lock:
            found = self.known.get(text)
            if found is None:
                found = self.known[text] = tuple(super().encode(text))
                if len(self.known) > 1_000:
                    self.known.popitem(last=False)
            return list(found)


class Threaded(Full):
    """Batches run in a pool of threads."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(self.encode, texts))


class NumpyArrays(Full):
    """Lists contain ints, arrays are numpy's."""

    def encode_array(self, text: str) -> Any:
        return np.asarray(self.encode(text), dtype=np.uint32)


class Library(Right):
    """Another library altogether."""

    inner = "tokenizers"


class Slow(Right):
    """Pure Python."""

    inner = "naive"


class RefusesSpecials(Right):
    """Special text is an error, as in tiktoken."""

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)


class IgnoresKeywords(Right):
    """Accepts any keyword argument and ignores it."""

    def encode(self, text: str, **_: Any) -> list[int]:
        return super().encode(text)


class StrictText(Right):
    """Refuses invalid Unicode text and unknown ids with errors of its own."""

    def encode(self, text: str) -> list[int]:
        text.encode()
        return super().encode(text)

    def decode(self, ids: list[int]) -> str:
        if any(not 0 <= i < model().vocab_size for i in ids):
            raise KeyError("no such id")
        return super().decode(ids)
