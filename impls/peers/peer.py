"""Base of the adapters: `library` imports a third-party package, and a `Peer` uses its calls where they are right.

An adapter imports its library by `library`, and its `_load` makes the library's tokenizer and returns its `Calls`: one
line for each call other than `encode` that gives what a method of `Tokenizer` gives. Whatever it leaves out is
inherited from `Tokenizer`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from impls.core.arguments import id_list
from impls.core.errors import Missing, Unsupported
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.operations import batches, pieces
from impls.peers.conversion import has_plain_rules, rayon_threads
from impls.production.libraries import is_panic, loading

Lists = list[list[int]]
Ragged = tuple[np.ndarray, np.ndarray]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What a library's tokenizer can be asked; None for what it cannot. Texts hold no special tokens."""

    encode: Callable[[str], list[int]]
    array: Callable[[str], np.ndarray] | None = None
    batch: Callable[[list[str], int], Lists | None] | None = None
    """Texts and a number of threads -> the ids of each text; None if it cannot use this number of threads."""
    ragged: Callable[[list[str], int], Ragged | None] | None = None
    """The same as `encode_ragged` returns them."""
    count: Callable[[str], int] | None = None
    encode_bytes: Callable[[bytes], list[int]] | None = None
    """Bytes that are not UTF-8 -> ids, by the library's own rule."""
    decode: Callable[[list[int]], str | None] | None = None
    decode_bytes: Callable[[list[int]], bytes] | None = None
    skips_unknown: bool = False
    """Whether it silently skips unknown ids when it decodes; otherwise it raises for them, special ones included."""


def on_pool(call: Callable[[list[str]], T], *, least: int = 2) -> Callable[[list[str], int], T | None]:
    """Return a call that runs on a Rayon pool: it is for this pool's number of threads, from `least` on."""
    return lambda texts, threads: call(texts) if threads == rayon_threads() >= least else None


def on_several(call: Callable[[list[str], int], T]) -> Callable[[list[str], int], T | None]:
    """Return a call that takes any number of threads, and is of use from two on."""
    return lambda texts, threads: call(texts, threads) if threads > 1 else None


def views(ids: Any, offsets: Any) -> Ragged:
    """Return buffers of ids and of offsets as read-only arrays."""
    return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64)


class Peer(Tokenizer):
    """A third-party encoder over our model, or a trainer; a subclass in `impls/peers/a_b.py` has the name `a-b`."""

    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors: ClassVar[tuple[type[Exception], ...]] = (UnicodeEncodeError,)
    reads_sentencepiece: ClassVar[bool] = False
    """Whether `_load` takes a SentencePiece model that `has_plain_rules`; the library then gets original texts."""
    no_encoder: ClassVar[str] = ""
    """For a trainer, why it does not encode."""

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    def __init__(self, model: Model) -> None:
        self.normalizes = self.reads_sentencepiece and has_plain_rules(model)
        super().__init__(model)
        with loading(self.name):
            self._calls = self._load(model)
        # Calls of it are timed, so there is nothing of ours between.
        self.encode_normalized = self._calls.encode  # type: ignore[assignment, method-assign]

    def _load(self, model: Model) -> Calls:
        """Return the calls of the library's tokenizer over `model`; raise `Unsupported` for one it cannot run."""
        raise Unsupported(self.name, f"{self.no_encoder}; it trains only")

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

    def encode_normalized_ragged(self, texts: Sequence[str], threads: int) -> Ragged:
        """Return the ids of `encode_normalized_batch` as the library's arrays, if it makes them."""
        ragged = self._calls.ragged
        if ragged is not None and (arrays := ragged(list(texts), threads)) is not None:
            return arrays
        if self._calls.array is None:
            return batches.joined(self.encode_normalized_batch(texts, threads))
        return super().encode_normalized_ragged(texts, threads)

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes, if not UTF-8 by the library's rule, where it has one."""
        return pieces.encode_bytes(self, data, self._calls.encode_bytes)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library if nothing is recognised or normalised in it."""
        count = self._calls.count
        refused: tuple[type[Exception], ...] = (*self.surrogate_errors, TypeError)
        if count is not None and at_most is None and not self.model.added_tokens and self.model.normalization is None:
            try:
                return count(text)
            except refused:
                pass
        return super().count(text, at_most)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if it knows all of them."""
        ids = id_list(ids)
        data = self._decoded(self._calls.decode_bytes, ids)
        return super().decode_bytes(ids) if data is None else data

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them and they are valid UTF-8."""
        ids = id_list(ids)
        text = self._decoded(self._calls.decode, ids) if errors == "replace" else None
        return super().decode(ids, errors) if text is None or "\ufffd" in text else text

    def _decoded(self, decode: Callable[[list[int]], T] | None, ids: list[int]) -> T | None:
        """Return what the library makes of `ids`; None if it has no such call, or does not know all of them."""
        if decode is None or self.normalizes or (self._calls.skips_unknown and not self._are_tokens(ids)):
            return None
        try:
            return decode(ids)
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            return None

    def _are_tokens(self, ids: list[int]) -> bool:
        """Return whether `ids` is not empty and each id is below the first one without a token."""
        return bool(ids) and min(ids) >= 0 and max(ids) < self._n_dense

    @cached_property
    def _n_dense(self) -> int:
        tokens = self.model.tokens
        return tokens.index(None) if None in tokens else len(tokens)


# --- packages -----------------------------------------------------------------------------------------------------


def library(name: str, package: str, module: str, *, alone: bool = False) -> Any:
    """Import and return `module`; raise `Missing` naming the distribution `package` if it is not installed.

    If a dependency of the library is not installed, `Missing` names that. Deprecation warnings are ignored. With
    `alone` a compiled module is loaded without its package, for packages that import what they do not require.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return _without_package(module) if alone else import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name or module
        own = absent.partition(".")[0] == module.partition(".")[0]
        raise Missing(name, package if own else absent) from None


def _without_package(module: str) -> Any:
    if module in sys.modules:
        return sys.modules[module]
    folder, _, name = module.rpartition(".")
    package = find_spec(folder)
    spec = package and PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=module)
    loaded = sys.modules[module] = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirect descriptor 1 to standard error inside the `with` block, for Rust code too."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
