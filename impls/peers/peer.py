"""Base of the peers: a `Peer` is an `Adapter` whose package is imported by `library`, and need not be installed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any, ClassVar

from impls.core.errors import Missing, Unsupported
from impls.core.model import Model
from impls.peers import PEERS
from impls.peers.conversion import has_plain_rules, rayon_threads
from impls.production.adapter import Adapter, Calls, Lists, T, on_several

__all__ = ["Calls", "Lists", "Peer", "library", "on_pool", "on_several", "stdout_to_stderr"]


def on_pool(call: Callable[[list[str]], T], least: int = 2) -> Callable[[list[str], int], T | None]:
    """Return a call that runs on a Rayon pool: it is for this pool's number of threads, from `least` on."""
    return lambda texts, threads: call(texts) if threads == rayon_threads() >= least else None


def on_one(call: Callable[[list[str]], T]) -> Callable[[list[str], int], T | None]:
    """Return a call that runs on one thread, and releases the GIL: for more threads it is called in each."""
    return lambda texts, threads: call(texts) if threads == 1 else None


_BATCH_ON: dict[str, Callable[[Any], Any]] = {"one": on_one, "pool": on_pool, "several": on_several}


class Peer(Adapter):
    """A third-party encoder over our model, or a trainer; a subclass in `impls/peers/a_b.py` has the name `a-b`, as
    attributes the fields of that entry of `PEERS`, and its `library`."""

    kind = "peer"
    surrogate_errors: ClassVar[tuple[type[Exception], ...]] = (UnicodeEncodeError,)
    reads_sentencepiece: ClassVar[bool] = False
    no_encoder: ClassVar[str] = ""
    built_in: ClassVar[Sequence[str]] = ()
    calls: ClassVar[Mapping[str, str]] = {}
    batch_on: ClassVar[str] = ""
    skips_unknown: ClassVar[bool] = False
    library: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")
        if cls.name in PEERS:
            cls.library = library(cls.name)
            for field, value in PEERS[cls.name].items():
                setattr(cls, field, value)

    def _takes_original_texts(self, model: Model) -> bool:
        return self.reads_sentencepiece and has_plain_rules(model)

    def _load(self, model: Model) -> Calls:
        raise Unsupported(self.name, f"{self.no_encoder}; it trains only")

    def _calls_of(self, tokenizer: Any, **others: Any) -> Calls:
        """Return the calls of the library's tokenizer: its methods that `PEERS` names, and `others`."""
        methods = {call: getattr(tokenizer, method) for call, method in self.calls.items()}
        if self.batch_on:
            methods["batch"] = _BATCH_ON[self.batch_on](methods["batch"])
        return Calls(**methods, **others, skips_unknown=self.skips_unknown)

    def _decoded(self, decode: Callable[[list[int]], T], ids: list[int]) -> T | None:
        """Return None for a model whose texts the library normalises: it decodes them by rules of its own."""
        return None if self.normalizes else super()._decoded(decode, ids)


# --- packages -----------------------------------------------------------------------------------------------------


def library(name: str) -> Any:
    """Import and return the module of the peer `name`; raise `Missing` naming its distribution if it is not installed.

    If a dependency of the library is not installed, `Missing` names that. Deprecation warnings are ignored.
    """
    module = PEERS[name]["module"]
    folder = module.rpartition(".")[0]
    empty = "without_package" in PEERS[name] and folder not in sys.modules and find_spec(folder)
    if empty:
        sys.modules[folder] = module_from_spec(empty)  # the package as it is before it is run
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            return import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name or module
        own = absent.partition(".")[0] == module.partition(".")[0]
        raise Missing(name, PEERS[name]["package"] if own else absent) from None
    finally:
        if empty:
            del sys.modules[folder]


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
