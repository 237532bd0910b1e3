"""Compiles what an object file exports: plain C functions for ctypes, and C bodies of Python's built-in functions.

A plain function takes and returns int64. A method takes (self, argument) and a fast method (self, arguments, count),
as CPython's calling conventions METH_O and METH_FASTCALL do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numba

from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS, PLAIN, PREFIX, object_file_of
from impls.compiled.codegen.pointers import record_at, view_of
from impls.compiled.cpython.interpreter import long_as_address
from impls.compiled.layout import ContextRecord

context_at = record_at(ContextRecord)


def compiled_entries(object_file: str) -> dict[str, Any]:
    """Return the compiled C callbacks of an object file by exported name; each can return its LLVM code."""
    kernels = {
        name: _kernel(about if isinstance(about, str) else about[0], name)
        for exported in (PLAIN, METHODS, FAST_METHODS)
        for name, about in exported.items()
        if object_file_of(name) == object_file
    }
    functions = {PREFIX + name: _entry(name, kernel) for name, kernel in kernels.items()}
    return {name: numba.cfunc(signature)(function) for name, (signature, function) in functions.items()}


def _kernel(module: str, name: str) -> Any:
    return getattr(import_module(f"impls.compiled.{module}"), name)


def _entry(name: str, body: Any) -> tuple[str, Callable[..., int]]:
    """Return the signature of what is exported and a function to compile, which calls the kernel `body`."""
    if name in PLAIN:
        return _signature(PLAIN[name][1]), _plain(body, PLAIN[name][1])
    if name in METHODS:
        return _signature(2), lambda bound, argument: body(context_at(long_as_address(bound)), argument)
    return _signature(3), lambda bound, arguments, count: body(context_at(long_as_address(bound)), arguments)


def _signature(n_arguments: int) -> str:
    return f"int64({', '.join(['int64'] * n_arguments)})"


def _plain(body: Any, n_arguments: int) -> Callable[..., int]:
    names = "abcdefgh"[:n_arguments]
    kinds, known = list(body.py_func.__annotations__.values())[:n_arguments], body.py_func.__globals__
    views = {f"view_{name}": view_of(kind, known) for name, kind in zip(names, kinds, strict=True) if kind != "int"}
    given = (f"view_{name}({name})" if f"view_{name}" in views else name for name in names)
    scope: dict[str, Any] = {"body": body, **views}
    exec(f"def entry({', '.join(names)}): return body({', '.join(given)})", scope)
    entry: Callable[..., int] = scope["entry"]
    return entry
