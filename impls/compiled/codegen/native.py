"""Calls the plain functions of the kernels, with types, and gives addresses of arrays; `cpython.plain` builds on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from impls.compiled.codegen.build import is_checked, kernel_address, plain_function, regions
from impls.compiled.codegen.entry_points import OBJECT_FILE_OF
from impls.compiled.layout import N_COUNTERS, N_OWN_REGIONS, N_REGIONS

if TYPE_CHECKING:
    import numpy as np


class Function:
    """A C function of int64 arguments; the interpreter lock is released while it runs.

    An array is passed as the address of its data, and declared to the checked build while the function runs.
    """

    def __init__(self, name: str) -> None:
        kernel_address(name)
        self._name = name
        self._call: Any = None

    def __call__(self, *arguments: int | np.ndarray) -> int:
        """Call the function; return its int64 result."""
        if self._call is None:
            self._call = plain_function(self._name, len(arguments))
        arrays = [each for each in arguments if not isinstance(each, int)]
        with native.reachable(*arrays):
            result: int = self._call(*[each if isinstance(each, int) else address(each) for each in arguments])
        return result


class Native:
    """The plain functions by name, as `entry_points` lists them; see their kernels' docstrings for the arguments.

    A function is loaded on its first use in this process, and its object file compiled if need be.
    """

    def __getattr__(self, name: str) -> Function:
        if name not in OBJECT_FILE_OF:
            raise AttributeError(name)
        function = Function(name)
        setattr(self, name, function)
        return function

    @contextmanager
    def reachable(self, *arrays: np.ndarray) -> Iterator[None]:
        """Declare arrays to the checked build while the block runs."""
        numbers = [declare(array) for array in arrays] if is_checked() else []
        try:
            yield
        finally:
            forget(*numbers)


native = Native()


def address(array: np.ndarray) -> int:
    """Return the address of an array's data; the caller keeps the array alive while kernels use it."""
    place: int = array.__array_interface__["data"][0]
    return place


_declaring = Lock()


def declare(array: np.ndarray) -> int:
    """Declare an array that kernels may access (checked build); return the number by which to `forget` it."""
    with _declaring:
        for number in range(N_OWN_REGIONS, N_REGIONS):
            region = regions()[N_COUNTERS + 2 * number :][:2]
            if region[0] == 0:
                region[:] = address(array), address(array) + array.nbytes
                return number
    raise RuntimeError("the checked build has no region left")


def forget(*numbers: int) -> None:
    """Withdraw the declarations of arrays (checked build)."""
    for number in numbers:
        regions()[N_COUNTERS + 2 * number :][:2] = 0


def faults() -> tuple[int, int, int]:
    """Return the number of accesses outside every region, and the last one's address and size (checked build)."""
    count, place, n_bytes = regions()[:3].tolist()
    return count, place, n_bytes
