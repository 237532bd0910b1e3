"""Right tokenizers, built in different ways: no check may call them wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from planted_wrapper import Full, Grown, Right, changed, model, remembers

Cached = changed(Right, encode=remembers(str))


class Threaded(Full):
    """Batches run in a pool of threads."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(self.encode, texts))


class Library(Right):
    """Another library altogether."""

    inner = "tokenizers"


class RefusesSpecials(Right):
    """Special text is an error, as in tiktoken."""

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)


class IgnoresKeywords(Right):
    """Accepts any keyword argument and ignores it; in pure Python."""

    inner = "naive"

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


class OnlyFits(Right):
    """One of the three operations with a limit."""

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)


class Appends(Right):
    """Its growing texts have nothing beyond `append` and `ids`."""

    def incremental(self) -> Any:
        grown = type("Appends", (), {"append": lambda self, text: self.inner.append(text)})()
        grown.inner = Grown(self)
        type(grown).ids = property(lambda self: self.inner.ids)
        return grown
