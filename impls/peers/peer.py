"""Base of the adapters: `library` imports a third-party package, and `Peer` uses its calls where they are correct.

An adapter imports its library by `library`, makes the library's tokenizer in `_load`, and overrides the
methods of `Tokenizer` for which the library has a call other than `encode`. Decoding, and anything else it does not
override, is inherited from `Tokenizer`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, ClassVar, Literal

from impls.core.arguments import id_list
from impls.core.errors import Missing, Unsupported
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import has_plain_rules
from impls.production.libraries import is_panic, loading


class Peer(Tokenizer):
    """A third-party encoder over our model, or a trainer."""

    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors: ClassVar[tuple[type[Exception], ...]] = (UnicodeEncodeError,)
    reads_sentencepiece: ClassVar[bool] = False
    """Whether `_load` takes a SentencePiece model that `has_plain_rules`; the library then gets original texts."""
    no_encoder: ClassVar[str] = ""
    """For a trainer, why it does not encode."""

    def __init__(self, model: Model) -> None:
        self.normalizes = self.reads_sentencepiece and has_plain_rules(model)
        super().__init__(model)
        with loading(self.name):
            self._library = self._load(model)

    def _load(self, model: Model) -> Any:
        """Return the library's tokenizer over `model`; raise `Unsupported` for a model it cannot run."""
        raise Unsupported(self.name, f"{self.no_encoder}; it trains only")

    def encode_normalized(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens, by the library's `encode`."""
        return self._library.encode(text)

    def _counted(self, count: Callable[[str], int], text: str, at_most: int | None) -> int:
        """Count the ids of `text`, by the library's own `count` if nothing is recognised or normalised in it."""
        refused: tuple[type[Exception], ...] = (*self.surrogate_errors, TypeError)
        if at_most is None and not self.model.added_tokens and self.model.normalization is None:
            try:
                return count(text)
            except refused:
                pass
        return super().count(text, at_most)

    def _bytes_if_known(self, decode: Callable[[list[int]], bytes], ids: Iterable[int]) -> bytes:
        """Return the bytes of `ids`, by a library that silently skips unknown ids, if it knows all of them."""
        ids = id_list(ids)
        return decode(ids) if self._are_tokens(ids) else super().decode_bytes(ids)

    def _text_if_known(self, decode: Callable[[list[int]], str | None], ids: Iterable[int], errors: str) -> str:
        """Return the text of `ids`, by such a library, if they are valid UTF-8."""
        ids = id_list(ids)
        try:
            text = decode(ids) if errors == "replace" and self._are_tokens(ids) else None
        except TypeError:
            text = None
        return super().decode(ids, errors) if text is None or "\ufffd" in text else text

    def _are_tokens(self, ids: list[int]) -> bool:
        """Return whether `ids` is not empty and each id is below the first one without a token."""
        return bool(ids) and min(ids) >= 0 and max(ids) < self._n_dense

    @cached_property
    def _n_dense(self) -> int:
        tokens = self.model.tokens
        return tokens.index(None) if None in tokens else len(tokens)

    def _bytes_unless_refused(
        self, decode: Callable[[list[int]], bytes], ids: Iterable[int], *, panics: bool = False
    ) -> bytes:
        """Return the bytes of `ids`, by a library that raises (or `panics`) for unknown ids.

        In that case `Tokenizer` decodes them, or names the unknown one.
        """
        ids = id_list(ids)
        if not self.normalizes:
            try:
                return decode(ids)
            except (ValueError, OverflowError, TypeError):
                pass
            except BaseException as error:
                if not (panics and is_panic(error)):
                    raise
        return super().decode_bytes(ids)


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
