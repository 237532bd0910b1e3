"""Finds three functions of NumPy's public C API where NumPy's own headers do: in the capsule `_ARRAY_API`."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

# Indices in the table of functions, part of NumPy's ABI since 1.7 (numpy/__multiarray_api.h).
_C_API_VERSION, _RESIZE, _GET_POINTER, _EMPTY = 0, 80, 160, 184
_KNOWN_VERSIONS = (0x1000009, 0x2000000)
_UINT32 = np.dtype(np.uint32)


@dataclass(frozen=True, slots=True)
class NumpyApi:
    """Addresses of the functions, and of the dtype passed to them."""

    empty: int
    """PyArray_Empty(number of dimensions, shape, dtype (reference stolen), Fortran order) -> new array."""
    get_pointer: int
    """PyArray_GetPtr(array, indices) -> address of an element."""
    resize: int
    """PyArray_Resize(array, shape and its length as a struct, whether to check references, order) -> None."""
    dtype: int
    """The dtype uint32, which lives as long as NumPy."""


def numpy_api() -> NumpyApi | None:
    """Return the C API for creating arrays; None for an unknown ABI."""
    core = getattr(np, "_core", None) or getattr(np, "core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer_of(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[_C_API_VERSION] or 0)()
    if version not in _KNOWN_VERSIONS:
        return None
    return NumpyApi(table[_EMPTY] or 0, table[_GET_POINTER] or 0, table[_RESIZE] or 0, id(_UINT32))
