"""Holds memory that kernels get by address: a record of numbers and of addresses of arrays, which it keeps alive."""

from __future__ import annotations

import weakref
from functools import cache

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import address, declare, forget
from impls.compiled.typed_memory import Record, places


@cache
def index_by_field(dtype: np.dtype) -> dict[str, int]:
    """Return the index of every field in a record seen as an int64 array; fields of nested records by dotted name."""
    return {name: offset >> 3 for name, offset in places(dtype).items()}


class Slots:
    """One record whose fields are read and written by name; those of nested records by dotted name."""

    def __init__(self, kind: type[Record]) -> None:
        self.slots = np.zeros(kind.dtype.itemsize >> 3, np.int64)
        self.address = address(self.slots)
        self._index = index_by_field(kind.dtype)
        self._held: dict[str, np.ndarray] = {}

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

    def release(self, *fields: str) -> None:
        """Make fields point at nothing, and drop their arrays."""
        for field in fields:
            if self._held.pop(field, None) is not None:
                self[field] = 0

    def held(self, field: str) -> np.ndarray:
        """Return the array that a field points at."""
        return self._held[field]

    def keep(self, name: str, array: np.ndarray) -> None:
        """Keep an array alive to which the record points only indirectly."""
        self._held[name] = array

    @property
    def arrays(self) -> list[np.ndarray]:
        """Return all arrays that kernels may access through this record."""
        return [self.slots, *self._held.values()]


class DeclaredSlots(Slots):
    """Slots whose arrays are declared to the checked build as long as they are held."""

    def __init__(self, kind: type[Record]) -> None:
        super().__init__(kind)
        self._numbers: dict[str, int] = {}
        weakref.finalize(self, _forget_all, self._numbers)
        self.keep("slots", self.slots)

    def keep(self, name: str, array: np.ndarray) -> None:
        """Keep an array alive, and declare it to the checked build."""
        super().keep(name, array)
        if is_checked():
            if name in self._numbers:
                forget(self._numbers[name])
            self._numbers[name] = declare(array)


def _forget_all(numbers: dict[str, int]) -> None:
    forget(*numbers.values())
