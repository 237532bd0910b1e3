"""Lays the ints of all ids side by side in memory that is never freed, so that their addresses fill a list of ids.

Making a list neither looks an int up nor writes to it, so no reference is counted, and no count may reach zero. From
Python 3.12 on these ints are immortal, as None is; before, their counts start at 2**60, and freeing a list counts down.
`sys.getrefcount` of an id says nothing about the number of lists that hold it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from impls.compiled.layout import INT_BYTES
from impls.compiled.pages import aligned_zeros

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
    words = np.array([_read(n) for n in samples])
    if words[:, 3].tolist() != samples or set(words[:, 1].tolist()) != {id(int)} or len(set(words[1:, 2].tolist())) > 1:
        return None
    words[:, 0] = _count_of_an_int_that_never_dies()
    words[:, 3] = 0
    return words[:2]


def _read(integer: int) -> np.ndarray:
    return np.frombuffer(ctypes.string_at(id(integer), _INT_OBJECT_BYTES).ljust(INT_BYTES, b"\0"), np.int64)


def _count_of_an_int_that_never_dies() -> int:
    count = ctypes.c_int64.from_address(id(None)).value
    # An immortal object has the top bit of its count's lower half set, which no counted None reaches.
    return count if count & 1 << 31 else _NEVER_FREED


_ints = (np.zeros((0, 4), np.int64), 0)
"""Memory for ints, a row each, and how many rows are ints."""


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
    address: int = rows.__array_interface__["data"][0]
    return address
