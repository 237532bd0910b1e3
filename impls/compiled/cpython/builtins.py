"""The fast boundary: built-in functions made of the kernels' methods, through the stable part of the public C API.

`PyCFunction_NewEx` binds a C function to an int that holds the address of a context. Available on CPython with an
interpreter lock whose objects are as the public headers say; elsewhere, and where BPEBENCH_COMPILED_BORDER=plain asks
for it, the plain boundary is used.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Self

import numpy as np

from impls.compiled.codegen.build import kernel_address
from impls.compiled.codegen.entry_points import METHODS
from impls.compiled.cpython.numpy_api import NumpyApi, numpy_api
from impls.compiled.cpython.str_layout import StrLayout, str_layout

_METH_O, _METH_FASTCALL = 0x0008, 0x0080


class _MethodDefinition(ctypes.Structure):
    """`PyMethodDef`; must outlive the functions made of it."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@dataclass(frozen=True, slots=True)
class Insides:
    """What the fast boundary relies on, beside public functions."""

    list_items: int
    """Offset, in a list object, of the address of its items."""
    strings: StrLayout
    arrays: NumpyApi


def insides() -> Insides | None:
    """Return what the fast boundary relies on; None where this interpreter does not support it."""
    return None if os.environ.get("BPEBENCH_COMPILED_BORDER") == "plain" else _insides()


@cache
def _insides() -> Insides | None:
    """Return them as macros of the public headers have them, tested on objects of our own; None where these differ."""
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    word_is_known = ctypes.sizeof(ctypes.c_void_p) == 8 and sys.byteorder == "little"
    # A debug build counts references elsewhere too.
    if sys.implementation.name != "cpython" or not locked or not word_is_known or hasattr(sys, "gettotalrefcount"):
        return None
    items, strings, arrays = _list_items(), str_layout(), numpy_api()
    return None if not items or strings is None or arrays is None else Insides(items, strings, arrays)


def _list_items() -> int:
    """Return where PyList_SET_ITEM finds a list's items, and 0 where that, or Py_INCREF, works otherwise."""
    word = ctypes.sizeof(ctypes.c_void_p)
    offset = 3 * word
    if list.__basicsize__ < offset + word:
        return 0
    things = [object(), object(), object()]
    size = ctypes.c_ssize_t.from_address(id(things) + offset - word).value
    items = ctypes.c_void_p.from_address(id(things) + offset).value
    if size != len(things) or not items:
        return 0
    found = (ctypes.c_void_p * len(things)).from_address(items)
    if list(found) != [id(thing) for thing in things]:
        return 0
    return offset if _counts_references_in_front(things[0]) else 0


def _counts_references_in_front(thing: object) -> bool:
    """Return whether the first four bytes of an object count its references."""
    count = ctypes.c_uint32.from_address(id(thing))
    before = count.value
    more = [thing] * 5
    return count.value == before + len(more)


class _Builtins:
    """Built-in functions of one context, a field each."""

    __slots__ = ()

    @classmethod
    def of(cls, context: int) -> Self:
        """Return those bound to the context at an address, which must outlive them."""
        return cls(*[_bound(field.name, context) for field in fields(cls)])  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Builtins(_Builtins):
    """The built-ins that encode. Each returns None where the plain boundary has to take over."""

    encode_to_list: Callable[[str], list[int] | None]
    encode_to_list_unless_special: Callable[[str], list[int] | None]
    encode_cut: Callable[[str], list[Any] | None]
    encode_to_array: Callable[[str], np.ndarray | None]
    encode_to_array_unless_special: Callable[[str], np.ndarray | None]
    count_ids: Callable[[str], int | None]

    def after(self, change: Callable[[str], str | None]) -> Builtins:
        """Return these built-ins, applied to `change(text)` where they take a text; None gives None.

        Those that search for special tokens must not be used: they would search the changed text.
        """

        def changed(take: Callable[[str], Any]) -> Callable[[str], Any]:
            return lambda text: None if (written := change(text)) is None else take(written)

        return replace(
            self,
            encode_to_list=changed(self.encode_to_list),
            encode_to_array=changed(self.encode_to_array),
            count_ids=changed(self.count_ids),
        )


@dataclass(frozen=True, slots=True)
class DecodingBuiltins(_Builtins):
    """The built-ins that decode. Each returns None where the plain boundary has to take over."""

    decode_to_str: Callable[[list[int]], str | None]
    decode_to_bytes: Callable[[list[int]], bytes | None]


@dataclass(frozen=True, slots=True)
class BatchBuiltins(_Builtins):
    """The built-ins for batches; see `threads.batch` and `threads.batch_results`."""

    run_claimed: Callable[[int, Callable[[Any], bool], Any], bool | None]
    batch_fetch: Callable[[int, Sequence[str | None], int, int, int], int]
    batch_collect: Callable[[int, list[Any], int, int], int]
    batch_encode: Callable[[int, int, int, int], int]
    batch_copy: Callable[[int, int, int], None]
    batch_close: Callable[[int], None]


_definitions: dict[str, _MethodDefinition] = {}


def _definition(name: str) -> _MethodDefinition:
    found = _definitions.get(name)
    if found is None:
        flags = _METH_O if name in METHODS else _METH_FASTCALL
        # Of two threads that get here at once both use the same: functions made of another would outlive it.
        found = _definitions.setdefault(name, _MethodDefinition(name.encode(), kernel_address(name), flags, b""))
    return found


def _bound(name: str, context_address: int) -> Any:
    make = ctypes.pythonapi["PyCFunction_NewEx"]
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(_definition(name)), context_address, None)


_integers = np.zeros(0, np.int64)


def shared_integers(count: int) -> np.ndarray:
    """Return the addresses (int64) of the int objects 0 to count - 1, 0 for one no list has needed yet.

    All tokenizers share the table and add to it; it is never released.
    """
    global _integers
    if len(_integers) < count:
        # All of it is written, so that the first list does not wait for page faults.
        larger = np.empty(max(count, 1 << 12), np.int64)
        larger[: len(_integers)] = _integers
        larger[len(_integers) :] = 0
        _integers = larger
    return _integers
