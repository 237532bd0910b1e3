"""Finds how this interpreter stores strings, lists and ints, and NumPy's C API; makes built-in functions of kernels.

What the fast boundary relies on is what the macros of the public headers compute, read off sample objects and tested on
others; if anything is not as expected, there is no layout, and the plain boundary is used.

The ints of all ids lie side by side in memory that is never freed, so that their addresses fill a list of ids. Making a
list neither looks an int up nor writes to it, so no reference is counted, and no count may reach zero. From Python 3.12
on these ints are immortal, as None is; before, their counts start at 2**60, and freeing a list counts down.
`sys.getrefcount` of an id says nothing about the number of lists that hold it.

`PyCFunction_NewEx`, of the stable C API, binds a C function to an int that holds the address of a context. This needs a
CPython that has an interpreter lock; elsewhere, and with BPEBENCH_COMPILED_BORDER=plain, the plain boundary is used.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from impls.compiled.codegen.build import kernel_address
from impls.compiled.codegen.entry_points import FAST_METHODS, METHODS
from impls.compiled.layout import ARRAY_DATA_AT, INT_BYTES
from impls.compiled.pages import address, aligned_zeros

# Indices in the table of functions, part of NumPy's ABI since 1.7 (numpy/__multiarray_api.h).
_C_API_VERSION, _RESIZE, _EMPTY = 0, 80, 184
_KNOWN_VERSIONS = (0x1000009, 0x2000000)
_UINT32 = np.dtype(np.uint32)
"""This dtype lives as long as NumPy."""

_STATE_AT = 32
"""Offset of the state of a str: its type, length and hash are before it."""
_SAMPLES = {1: "caf\xe9 au lait, na\xefve", 2: "pas\u0327a\u011f\u0131n \u20ac", 4: "\U0001f44d, more \U0001f680"}


def interpreter_layout() -> dict[str, int] | None:
    """Return what the fast boundary relies on besides public functions, by the fields of `layout.ContextRecord`.

    None if this interpreter does not support it.
    """
    return None if os.environ.get("BPEBENCH_COMPILED_BORDER") == "plain" else _interpreter_layout()


@cache
def _interpreter_layout() -> dict[str, int] | None:
    """Return it as the macros of the public headers say, tested on new objects; None if the objects differ."""
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    word_is_known = ctypes.sizeof(ctypes.c_void_p) == 8 and sys.byteorder == "little"
    # A debug build counts references elsewhere too.
    if sys.implementation.name != "cpython" or not locked or not word_is_known or hasattr(sys, "gettotalrefcount"):
        return None
    items, strings, arrays = _list_items(), str_layout(), numpy_api()
    if not items or strings is None or arrays is None or int_words() is None:
        return None
    return {"list_items": items} | strings | arrays


def _words(thing: object, n_bytes: int) -> np.ndarray:
    """Return the first `n_bytes` of an object, padded to whole words, as int64."""
    return np.frombuffer(ctypes.string_at(id(thing), n_bytes).ljust(-(-n_bytes // 8) * 8, b"\0"), np.int64)


def _list_items() -> int:
    """Return the offset at which PyList_SET_ITEM finds the address of a list's items.

    Returns 0 if that macro works in another way here.
    """
    offset, things = 24, [object(), object(), object()]
    if list.__basicsize__ < offset + 8:
        return 0
    _, _, size, items = _words(things, offset + 8).tolist()
    if size != len(things) or not items:
        return 0
    addresses = (ctypes.c_void_p * len(things)).from_address(items)
    return offset if list(addresses) == list(map(id, things)) else 0


def numpy_api() -> dict[str, int] | None:
    """Return the addresses of NumPy's C functions, and of the dtype passed to them; None for an unknown ABI.

    They are PyArray_Empty(number of dimensions, shape, dtype (reference stolen), Fortran order) -> new array, and
    PyArray_Resize(array, shape and its length as a struct, whether to check references, order) -> None. None also if
    the macro PyArray_DATA works in another way here.
    """
    core = getattr(np, "_core", None) or getattr(np, "core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[_C_API_VERSION] or 0)()
    array = np.zeros(1, _UINT32)
    data = ctypes.c_void_p.from_address(id(array) + ARRAY_DATA_AT).value
    if version not in _KNOWN_VERSIONS or data != array.__array_interface__["data"][0]:
        return None
    functions = {"new_array": _EMPTY, "resize": _RESIZE}
    return {field: table[number] or 0 for field, number in functions.items()} | {"array_kind": id(_UINT32)}


def str_layout() -> dict[str, int] | None:
    """Return the layout of a str whose characters follow its header; None if it is not as expected."""
    # New objects: neither interned nor with cached UTF-8.
    samples = {kind: "".join(list(text)) for kind, text in _SAMPLES.items()}
    data = sys.getsizeof(samples[2]) - 2 * (len(samples[2]) + 1)
    if not all(_holds(text, data, kind) for kind, text in samples.items()):
        return None
    # The header of an ASCII str ends where others hold the size, then the address, of their UTF-8.
    utf8 = sys.getsizeof("") - 1 + 8
    flags = {"".join(["plain", " text"]): 1 | 8 | 16} | {text: kind | 8 for kind, text in samples.items()}
    words = {int(_words(text, _STATE_AT + 4)[-1]): flag for text, flag in flags.items()}
    shifts = [shift for shift in range(2, 24) if all(word >> shift & 31 == flag for word, flag in words.items())]
    if not shifts or not _caches_utf8(samples[2], utf8):
        return None
    return {"str_state": _STATE_AT, "str_shift": shifts[0], "str_utf8": utf8, "str_data": data}


def _holds(text: str, data: int, kind: int) -> bool:
    """Return whether a str has its type and length at the expected offsets, and its characters at `data`."""
    if sys.getsizeof(text) != data + kind * (len(text) + 1) or not _STATE_AT + 8 < data <= 96:
        return False
    type_address, length = _words(text, data).tolist()[1:3]
    characters = text.encode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[kind])
    held = ctypes.string_at(id(text) + data, len(characters))
    return (type_address, length, held) == (id(str), len(text), characters)


def _caches_utf8(text: str, offset: int) -> bool:
    """Return whether a new str has the address of its UTF-8 at an offset once the UTF-8 is asked for, and 0 before."""
    as_utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
    as_utf8.restype, as_utf8.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_void_p]
    place = ctypes.c_void_p.from_address(id(text) + offset)
    return place.value is None and as_utf8(text, None) == place.value is not None


MOST_INTS = 1 << 21
"""Ids from this on have no ints here: memory is reserved for all ids up to the largest."""
_FEWEST_INTS = 1 << 16
_INT_OBJECT_BYTES = 28
_NEVER_FREED = 1 << 60


@cache
def int_words() -> np.ndarray | None:
    """Return the words (int64) of a new 0, and of larger ints but for their digit; None if ints differ from these."""
    samples = [int(digits) for digits in ("0", "40000", "7000000", str((1 << 30) - 1))]
    if sys.int_info.bits_per_digit != 30 or {sys.getsizeof(n) for n in samples[1:]} != {_INT_OBJECT_BYTES}:
        return None
    words = np.array([_words(n, _INT_OBJECT_BYTES) for n in samples])
    if words[:, 3].tolist() != samples or set(words[:, 1].tolist()) != {id(int)} or len(set(words[1:, 2].tolist())) > 1:
        return None
    # An immortal object has the top bit of its count's lower half set, which no counted None reaches.
    count = ctypes.c_int64.from_address(id(None)).value
    words[:, 0] = count if count & 1 << 31 else _NEVER_FREED
    words[:, 3] = 0
    return words[:2]


_ints = (np.zeros((0, 4), np.int64), 0)
"""Memory for ints, one row for each, and how many rows are ints."""


def shared_integers(count: int) -> int:
    """Return the address of the int 0; the others up to count - 1 follow. All tokenizers share them.

    `int_words` must not be None, and `count` at most MOST_INTS.
    """
    global _ints
    rows, n_ints = _ints
    if count > len(rows):
        # With twice the room each time, what earlier lists still hold is less than half of all memory.
        room = max(count, min(2 * len(rows), MOST_INTS), _FEWEST_INTS)
        rows, n_ints = aligned_zeros(INT_BYTES * room).view(np.int64).reshape(room, 4), 0
        # Lists outlive this module when the interpreter exits, so nobody may free the memory.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(rows))
    if count > n_ints:
        zero, larger = int_words()  # type: ignore[misc]
        rows[n_ints:count] = larger
        rows[n_ints:count, 3] = np.arange(n_ints, count)
        if n_ints == 0:
            rows[0] = zero
        _ints = rows, count
    return address(rows)


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
    encode_to_array: Callable[[str], np.ndarray | None]
    encode_to_array_unless_special: Callable[[str], np.ndarray | None]
    decode_to_str: Callable[[list[int]], str | None]
    decode_to_bytes: Callable[[list[int]], bytes | None]
    # For batches; see `threads.batch`.
    run_claimed: Callable[[int, Callable[[Any], bool], Any], bool | None]
    batch_fetch: Callable[[int, Sequence[str | None], int, int, int], int]
    batch_collect: Callable[[int, list[Any], int, bool], None]

    def __init__(self, context: int, change: Callable[[str], str | None] | None = None) -> None:
        """Store the address of the context.

        With `change`, the built-ins of a text take `change(text)`, and return None if that is None. Those that search
        for special tokens must not be used then: they would search the changed text.
        """
        self._context, self._change = context, change

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS and name not in FAST_METHODS:
            raise AttributeError(name)
        make = ctypes.pythonapi["PyCFunction_NewEx"]
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        function = make(ctypes.addressof(_definition(name)), self._context, None)
        if self._change is not None:
            function = _after(self._change, function)
        setattr(self, name, function)
        return function


def _after(change: Callable[[str], str | None], take: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: None if (written := change(text)) is None else take(written)


@cache
def _definition(name: str) -> _MethodDefinition:
    flags = _METH_O if name in METHODS else _METH_FASTCALL
    definition = _MethodDefinition(name.encode(), kernel_address(name), flags, b"")
    # It is never freed: some functions are deallocated after this module, at the very end of the interpreter.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    return definition
