"""What is changed inside Numba: the same functions, without copies, and a clear message where Numba has changed."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numba
import pytest
from child import run
from numba.core import types
from numba.core.registry import cpu_target

import impls
from impls.compiled.codegen import build
from impls.compiled.codegen.__main__ import image_of
from impls.compiled.codegen.entry_points import PREFIX
from impls.compiled.codegen.loading import load
from impls.compiled.codegen.memory import inlined, kernel, shift_left
from impls.compiled.codegen.pipeline import collected

NAME = PREFIX + "power"


def power_of() -> Callable[[int, int], int]:
    """Return new functions that compute a to the power n, by calls and an operation of their own."""

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


def test_an_object_file_is_made_of_functions_collected_one_by_one() -> None:
    with collected() as modules:
        callback = numba.cfunc("int64(int64, int64)")(power_of())
    assert len(modules) > 2
    found = load(image_of({NAME: callback}, modules), [NAME], {})
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(found[NAME])
    assert [function(3, n) for n in (0, 1, 2, 7)] == [1, 3, 9, 2187]


def test_of_what_is_called_with_constants_there_are_no_copies_that_make_no_difference() -> None:
    @inlined
    def scaled(a: int, by: int) -> int:
        return a * by

    def entry(a: int) -> int:
        return scaled(a, 3) + scaled(a, 5)

    with collected() as modules:
        callback = numba.cfunc("int64(int64)")(entry)
    definitions = [line for text in modules for line in text.splitlines() if line.startswith("define")]
    assert sum("scaled" in line for line in definitions) == 1
    found = load(image_of({NAME: callback}, modules), [NAME], {})
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(found[NAME])(2) == 16


def test_the_digest_covers_whatever_kernels_import() -> None:
    digested = dict(build._sources())
    mark = b"\nfrom impls.compiled.codegen.memory import"
    kernels = [
        content.decode()
        for name, content in digested.items()
        if mark in content or name.endswith(("layout.py", "typed_memory.py"))
    ]
    imported = set()
    for module, names in re.findall(r"^from impls\.([\w.]+) import (\([^)]*\)|.*)", "".join(kernels), re.MULTILINE):
        path = module.replace(".", "/")
        if (Path(impls.__file__).parent / path).is_dir():
            imported |= {f"{path}/{name}.py" for name in re.findall(r"\w+", names)}
        else:
            imported.add(f"{path}.py")
    wanted = {
        "compiled/layout.py",
        "compiled/training/layout.py",
        "compiled/codegen/memory.py",
        "compiled/lookup/cache.py",
    }
    assert wanted <= imported <= set(digested)


def test_numba_compiles_as_usual_afterwards() -> None:
    codegen = cpu_target.target_context.codegen()
    owners = codegen, type(codegen), types.Function
    before = [dict(vars(owner)) for owner in owners]
    with collected():
        assert [dict(vars(owner)) for owner in owners] != before
    assert [dict(vars(owner)) for owner in owners] == before
    assert numba.njit(lambda a: a + 1)(1) == 2


@pytest.mark.parametrize("name", ["get_call_type", "_library_class", "set_env", "get_call_template"])
def test_a_release_of_numba_that_lacks_a_name_is_refused_in_one_line(name: str) -> None:
    """The names are hidden in a process of its own, by owners that have all the others."""
    code = f"""
from impls.compiled.codegen import pipeline

usual, pipeline.hasattr = hasattr, lambda owner, name: name != {name!r} and usual(owner, name)
from impls.compiled.codegen.__main__ import compile_to
compile_to("decoding", {{}})
"""
    done = run(code, NUMBA_OPT="0")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(rf"RuntimeError: Numba [\d.]+ lacks \w+\.{name}; install one that .* allows", last), last


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
