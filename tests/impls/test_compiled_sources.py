"""LLVM code as Numba lowers it makes the same functions as what Numba links itself."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numba
import pytest

from impls.compiled.codegen import build
from impls.compiled.codegen.__main__ import image_of
from impls.compiled.codegen.build import Kernels
from impls.compiled.codegen.entry_points import PREFIX
from impls.compiled.codegen.memory import inlined, kernel, shift_left
from impls.compiled.codegen.sources import collected

NAME = PREFIX + "power"


def power_of() -> Callable[[int, int], int]:
    """a to the power n, by calls of its own and of an operation; new functions each time."""

    @inlined
    def square(a: int) -> int:
        return a * a

    @kernel
    def power(a: int, n: int) -> int:
        found = 1
        while n > 0:
            if n & 1:
                found *= a
            a = square(a)
            n >>= 1
        return found + shift_left(0, 3)

    def entry(a: int, n: int) -> int:
        return power(a, n)

    return entry


@pytest.mark.parametrize("how", ["collected", "as usual"])
def test_an_object_file_is_made_of_what_was_collected_and_of_what_numba_linked(how: str) -> None:
    with collected() if how == "collected" else nullcontext([]) as modules:
        callback = numba.cfunc("int64(int64, int64)")(power_of())
    assert (len(modules) > 2) == (how == "collected"), "functions are collected one by one"
    kernels = Kernels(image_of({NAME: callback}, modules))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(kernels.address("power"))
    assert [function(3, n) for n in (0, 1, 2, 7)] == [1, 3, 9, 2187]


def test_the_digest_covers_whatever_kernels_import() -> None:
    folder = Path(build.__file__).parent
    imported = {
        name.replace(".", "/") + ".py"
        for path in (folder / "kernels").glob("*.py")
        for name in re.findall(r"^from impls\.compiled\.([\w.]+) import", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {"layout.py", "training_layout.py", "kernels/memory.py"} <= imported
    assert imported - {"kernels.py"} <= set(build._SOURCES)


def test_numba_compiles_as_usual_afterwards() -> None:
    with collected():
        pass
    assert numba.njit(lambda a: a + 1)(1) == 2


@kernel
def raising(a: int) -> int:
    if a > 3:
        raise ValueError("too large")
    return a


def test_a_kernel_that_may_raise_is_refused() -> None:
    with collected() as modules:
        callback = numba.cfunc("int64(int64)")(lambda a: raising(a))
    with pytest.raises(RuntimeError, match="it can raise or allocates"):
        image_of({NAME: callback}, modules)
