"""What an object file exports: plain C functions for ctypes, and bodies of built-in functions for Python.

A plain function takes and returns int64; a method takes (self, argument), a fast method (self, arguments, count).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

import numba
from llvmlite import binding as llvm

from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS, PLAIN, PREFIX, REGIONS_SYMBOL, object_file_of
from impls.compiled.codegen.memory import record_at
from impls.compiled.cpython.interpreter import long_as_address
from impls.compiled.layout import ContextRecord, EventsRecord
from impls.compiled.threads.layout import WorkerRecord
from impls.compiled.training.layout import BlockRecord, CountingRecord, LearningRecord

T = TypeVar("T")
_RECORDS = (BlockRecord, ContextRecord, CountingRecord, EventsRecord, LearningRecord, WorkerRecord)
_VIEWS = {kind.__name__: record_at(kind) for kind in _RECORDS}
context_at = record_at(ContextRecord)


def compiled_entries(object_file: str) -> dict[str, Any]:
    """Return the compiled C callbacks of an object file by exported name; each can show its LLVM code."""
    # Where Numba links each entry as it compiles it, what others call by name must have an address; none is called.
    for name in (PREFIX + "encode", REGIONS_SYMBOL):
        llvm.add_symbol(name, 1)
    entries = {
        name: _plain(_kernel(module, name), n_arguments) for name, (module, n_arguments) in _of(PLAIN, object_file)
    }
    entries |= {name: _method(_kernel(module, name)) for name, module in _of(METHODS, object_file)}
    entries |= {name: _fast_method(_kernel(module, name)) for name, module in _of(FAST_METHODS, object_file)}
    return {PREFIX + name: entry for name, entry in entries.items()}


def _of(exported: Mapping[str, T], object_file: str) -> list[tuple[str, T]]:
    return [(name, about) for name, about in exported.items() if object_file_of(name) == object_file]


def _kernel(module: str, name: str) -> Any:
    return getattr(import_module(f"impls.compiled.{module}"), name)


def _signature(n_arguments: int) -> str:
    return f"int64({', '.join(['int64'] * n_arguments)})"


def _plain(body: Any, n_arguments: int) -> Any:
    names = "abcdefgh"[:n_arguments]
    kinds = list(body.py_func.__annotations__.values())[:n_arguments]
    views = {f"view_{name}": _VIEWS[kind] for name, kind in zip(names, kinds, strict=True) if kind in _VIEWS}
    given = (f"view_{name}({name})" if f"view_{name}" in views else name for name in names)
    scope: dict[str, Any] = {"body": body, **views}
    exec(f"def entry({', '.join(names)}): return body({', '.join(given)})", scope)
    return numba.cfunc(_signature(n_arguments))(scope["entry"])


def _method(body: Callable[[ContextRecord, int], int]) -> Any:
    @numba.cfunc(_signature(2))
    def entry(bound: int, argument: int) -> int:
        return body(context_at(long_as_address(bound)), argument)

    return entry


def _fast_method(body: Callable[[ContextRecord, int], int]) -> Any:
    @numba.cfunc(_signature(3))
    def entry(bound: int, arguments: int, count: int) -> int:
        return body(context_at(long_as_address(bound)), arguments)

    return entry
