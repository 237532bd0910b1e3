"""Calls the plain functions of the kernels, with types, and holds the memory that they get by address: a record of
numbers and of addresses of arrays, which it keeps alive. `cpython.plain` builds on it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Lock

import numpy as np

from impls.compiled.codegen.build import is_checked, kernel_address, regions
from impls.compiled.codegen.entry_points import OBJECT_FILE_OF
from impls.compiled.language.typed_memory import Record
from impls.compiled.layout import N_COUNTERS, N_OWN_REGIONS, N_REGIONS
from impls.compiled.pages import address
from impls.core import kernels

_declaring = Lock()


class Declared:
    """A region of the checked build: as long as this object exists, kernels may access an array."""

    def __init__(self, array: np.ndarray) -> None:
        begin = address(array)
        with _declaring:
            table = regions()[N_COUNTERS:].reshape(N_REGIONS, 2)[N_OWN_REGIONS:]
            self._region = table[np.flatnonzero(table[:, 0] == 0)[0]]
            self._region[:] = begin, begin + array.nbytes

    def __del__(self) -> None:
        self._region[:] = 0


class Native:
    """The plain functions by name, as `entry_points` lists them; see their kernels' docstrings for the arguments.

    A function is loaded on its first use in this process, and its object file compiled if need be. The interpreter lock
    is released while it runs. An array is passed as the address of its data.
    """

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in OBJECT_FILE_OF:
            raise AttributeError(name)
        call = ctypes.CFUNCTYPE(ctypes.c_int64)(kernel_address(name))

        def called(*arguments: int | np.ndarray) -> int:
            declared = [Declared(each) for each in arguments if not isinstance(each, int)] if is_checked() else []
            words = [ctypes.c_int64(each if isinstance(each, int) else address(each)) for each in arguments]
            result: int = call(*words)
            del declared
            return result

        setattr(self, name, called)
        return called


native = Native()
kernels.native = native


def faults() -> tuple[int, int, int]:
    """Return the number of accesses outside every region, and the last one's address and size (checked build)."""
    count, place, n_bytes = regions()[:3].tolist()
    return count, place, n_bytes


class Slots:
    """One record whose fields are read and written by name.

    The arrays that it points at are kept alive, and declared to the checked build.
    """

    def __init__(self, kind: type[Record], n_more: int = 0) -> None:
        """Make a record of zeros, followed by `n_more` bytes or a few more."""
        self.slots = np.zeros((kind.dtype.itemsize + n_more + 7) >> 3, np.int64)
        self.address = address(self.slots)
        self._index = kind.index
        self._held: dict[str, np.ndarray] = {}
        self._declared: dict[str, Declared] = {}
        self.keep("slots", self.slots)

    def __getitem__(self, field: str) -> int:
        return int(self.slots[self._index[field]])

    def __setitem__(self, field: str, value: int) -> None:
        self.slots[self._index[field]] = value

    def address_of(self, field: str) -> int:
        """Return the address of a field."""
        return self.address + 8 * self._index[field]

    def hold(self, field: str, array: np.ndarray) -> None:
        """Make a field point at an array, which is kept alive, instead of the array it pointed at before."""
        self.keep(field, array)
        self[field] = address(array)

    def grow(self, field: str, larger: np.ndarray, n_used: int) -> None:
        """Make a field point at a larger array, to which the first `n_used` items of its present one are copied."""
        if n_used:
            larger[:n_used] = self._held[field][:n_used]
        self.hold(field, larger)

    def release(self, *fields: str) -> None:
        """Make fields point at nothing, and drop their arrays."""
        for field in fields:
            if self._held.pop(field, None) is not None:
                self[field] = 0
                self._declared.pop(field, None)

    def held(self, field: str) -> np.ndarray:
        """Return the array that a field points at."""
        return self._held[field]

    def keep(self, name: str, array: np.ndarray) -> None:
        """Keep an array alive to which the record points only indirectly."""
        self._held[name] = array
        if is_checked():
            self._declared[name] = Declared(array)

    @property
    def arrays(self) -> list[np.ndarray]:
        """Return all arrays that kernels may access through this record."""
        return list(self._held.values())
