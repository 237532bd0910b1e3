"""Base of the adapters of libraries: an `Adapter` uses a library's calls where they are right.

`_load` makes the library's tokenizer and returns its `Calls`: one line for each call other than `encode` that gives
what a method of `Tokenizer` gives. Whatever it leaves out is inherited from `Tokenizer`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeVar

import numpy as np

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.operations import decoding, pieces, specials
from impls.production.libraries import failure, is_panic, loading

Lists = list[list[int]]
A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What a library's tokenizer can be asked; None for what it cannot. Texts hold no special tokens."""

    encode: Callable[[str], list[int]]
    array: Callable[[str], np.ndarray] | None = None
    batch: Callable[[list[str], int], Lists | None] | None = None
    """Texts and a number of threads -> the ids of each text; None if it cannot use this number of threads."""
    count: Callable[[str], int] | None = None
    encode_bytes: Callable[[bytes], list[int]] | None = None
    """Bytes that are not UTF-8 -> ids, by the library's own rule."""
    decode: Callable[[list[int]], str | None] | None = None
    decode_bytes: Callable[[list[int]], bytes] | None = None
    skips_unknown: bool = False
    """Whether it silently skips unknown ids when it decodes; otherwise it raises for them, special ones included."""


def on_several(call: Callable[[list[str], int], T]) -> Callable[[list[str], int], T | None]:
    """Return a call that takes any number of threads, and is of use from two on."""
    return lambda texts, threads: call(texts, threads) if threads > 1 else None


class Adapter(Tokenizer):
    """A library's tokenizer over our model."""

    kind: ClassVar[Literal["production", "peer"]] = "production"

    def __init__(self, model: Model) -> None:
        self.normalizes = self._takes_original_texts(model)
        super().__init__(model)
        with loading(self.name):
            self._calls = self._load(model)
        # Calls of it are timed, so there is nothing of ours between.
        self.encode_normalized = self._calls.encode  # type: ignore[assignment, method-assign]

    def _takes_original_texts(self, model: Model) -> bool:
        """Return whether the library gets texts as they are, and normalises them itself."""
        return False

    @abstractmethod
    def _load(self, model: Model) -> Calls:
        """Return the calls of the library's tokenizer over `model`; raise `Unsupported` for one it cannot run."""

    def _guarded(self, call: Callable[[A], T]) -> Callable[[A], T]:
        """Return `call` with panics and plain errors of the library as `LibraryFailed`, which names the pattern."""
        name, stages = self.name, self.model.pattern  # without `self`, which would hold itself

        def guarded(given: A) -> T:
            try:
                return call(given)
            except BaseException as error:
                raise failure(name, stages, error) from None

        return guarded

    def encode_normalized(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens; every object has the library's call in its place."""
        return self._calls.encode(text)

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as the array, or a view of the buffer, that the library makes."""
        array = self._calls.array
        return super().encode_normalized_array(text) if array is None else array(text)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> Lists:
        """Return `encode_normalized` of each text, by the library's threads if it can use this number of them."""
        batch = self._calls.batch
        lists = None if batch is None else batch(list(texts), threads)
        return super().encode_normalized_batch(texts, threads) if lists is None else lists

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes, if not UTF-8 by the library's rule, where it has one."""
        return pieces.encode_bytes(self, data, self._calls.encode_bytes)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library if no token is recognised in it."""
        if self._calls.count is None or at_most is not None or self.model.added_tokens:
            return super().count(text, at_most)
        return specials.prepared(self, self._calls.count, specials.written, text)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if it knows all of them."""
        ids = id_list(ids)
        decode = self._calls.decode_bytes
        data = None if decode is None else self._decoded(decode, ids)
        return decoding.decode_bytes(self.model, ids) if data is None else data

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them and they are valid UTF-8."""
        if self._calls.decode is not None and errors == "replace":
            text = self._decoded(self._calls.decode, ids := id_list(ids))
            if text is not None and "\ufffd" not in text:
                return text
        return decoding.decode(self.model, ids, errors, self.decode_bytes)

    def _decoded(self, decode: Callable[[list[int]], T], ids: list[int]) -> T | None:
        """Return what the library makes of `ids`; None if it does not know all of them."""
        try:
            skips = self._calls.skips_unknown and not (ids and min(ids) >= 0 and max(ids) < self._n_dense)
            return None if skips else decode(ids)
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            return None

    @cached_property
    def _n_dense(self) -> int:
        """Return the first id without a token."""
        tokens = self.model.tokens
        return tokens.index(None) if None in tokens else len(tokens)
