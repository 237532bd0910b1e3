"""Importing a peer's library, and what Rust libraries do when they fail."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from impls.errors import BPEError, Missing, Unsupported


def library(name: str, package: str, module: str) -> Any:
    """The imported `module`; raises `Missing` naming the distribution `package` where it is not installed.

    Where something the library itself needs is not installed, that is what `Missing` names. What it uses that is
    deprecated is no concern of ours.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name or module
        own = absent.partition(".")[0] == module.partition(".")[0]
        raise Missing(name, package if own else absent) from None


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turns what a library raises or panics with while it reads a model into `Unsupported`, with its first line."""
    try:
        yield
    except (BPEError, OSError, MemoryError):
        raise
    except BaseException as error:
        if not refuses(error):
            raise
        raise Unsupported(name, f"it refuses the model: {(str(error) or repr(error)).splitlines()[0]}") from None


def refuses(error: BaseException) -> bool:
    """Whether a library failed by an exception or by a panic of its Rust code, which derives from BaseException."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"
