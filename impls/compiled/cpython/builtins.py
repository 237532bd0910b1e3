"""The fast boundary: built-in functions made of the kernels' methods, through the stable part of the public C API.

`PyCFunction_NewEx` binds a C function to an int that holds the address of a context. This needs a CPython that has an
interpreter lock and whose objects are as the public headers say; elsewhere, and with BPEBENCH_COMPILED_BORDER=plain,
the plain boundary is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from impls.compiled.codegen.build import kernel_address
from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS

_METH_O, _METH_FASTCALL = 0x0008, 0x0080


class _MethodDefinition(ctypes.Structure):
    """The C struct `PyMethodDef`; must outlive the functions created from it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Builtins:
    """The built-in functions of one context, which must outlive them; they return None if the plain boundary must act.

    Each is bound, and its object file loaded, on the first access to its attribute.
    """

    encode_to_list: Callable[[str], list[int] | None]
    encode_to_list_unless_special: Callable[[str], list[int] | None]
    encode_cut: Callable[[str], list[Any] | None]
    encode_to_array: Callable[[str], np.ndarray | None]
    encode_to_array_unless_special: Callable[[str], np.ndarray | None]
    count_ids: Callable[[str], int | None]
    decode_to_str: Callable[[list[int]], str | None]
    decode_to_bytes: Callable[[list[int]], bytes | None]
    # For batches; see `threads.batch` and `threads.batch_results`.
    run_claimed: Callable[[int, Callable[[Any], bool], Any], bool | None]
    batch_fetch: Callable[[int, Sequence[str | None], int, int, int], int]
    batch_collect: Callable[[int, list[Any], int], None]
    batch_encode: Callable[[int, int, int], int]
    batch_close: Callable[[int], None]

    def __init__(self, context: int, change: Callable[[str], str | None] | None = None) -> None:
        """Store the address of the context; for `change` see `after`."""
        self._context, self._change = context, change

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS and name not in FAST_METHODS:
            raise AttributeError(name)
        function = _bound(name, self._context)
        if self._change is not None:
            function = _after(self._change, function)
        setattr(self, name, function)
        return function

    def after(self, change: Callable[[str], str | None]) -> Builtins:
        """Return built-ins that apply those of a text to `change(text)`; they return None if `change` does.

        The built-ins that search for special tokens must not be used: they would search the changed text.
        """
        return Builtins(self._context, change)


def _after(change: Callable[[str], str | None], take: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: None if (written := change(text)) is None else take(written)


_definitions: dict[str, _MethodDefinition] = {}


def _definition(name: str) -> _MethodDefinition:
    found = _definitions.get(name)
    if found is None:
        flags = _METH_O if name in METHODS else _METH_FASTCALL
        # Two threads that get here at once use the same definition: functions made of a dropped one would outlive it.
        # It is never freed: some functions are deallocated after this module, at the very end of the interpreter.
        found = _MethodDefinition(name.encode(), kernel_address(name), flags, b"")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(found))
        found = _definitions.setdefault(name, found)
    return found


def _bound(name: str, context_address: int) -> Any:
    make = ctypes.pythonapi["PyCFunction_NewEx"]
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(_definition(name)), context_address, None)
