"""Importing a peer's library, and handling its failures and what it prints."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from impls.core.errors import BPEError, Missing, Unsupported
from impls.production.failures import first_line, is_panic


def library(name: str, package: str, module: str, *, alone: bool = False) -> Any:
    """Import and return `module`; raise `Missing` naming the distribution `package` where it is not installed.

    Where a dependency of the library is not installed, `Missing` names that. Its deprecation warnings are ignored. With
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
def loading(name: str) -> Iterator[None]:
    """Convert an error or panic of a library while it reads a model into `Unsupported`, with its first line."""
    try:
        yield
    except (BPEError, OSError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise Unsupported(name, f"it refuses the model: {first_line(error)}") from None


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
