"""Gives kernels bit operations on int64, C functions, the interpreter's memory by address, and the decorators.

Numba compiles int64 products as `mul nsw`, which is undefined on overflow, and mixes uint64 with int64 into float64;
so everything is int64, and arithmetic that may wrap has separate operations here.

Kernels' own memory is reached by typed pointers (`pointers`). In the checked build (environment variable
BPEBENCH_COMPILED_BUILD=checked) every access to it is checked against the declared regions; one outside them is counted
as a fault: a load gives 0 and a store does nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from impls.compiled.codegen.entry_points import REGIONS_SYMBOL
from impls.compiled.codegen.pipeline import KernelCompiler, without_constants
from impls.compiled.layout import N_REGIONS

CHECKED = os.environ.get("BPEBENCH_COMPILED_BUILD") == "checked"

_Function = TypeVar("_Function", bound=Callable[..., Any])

_i1, _i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
_int = types.int64

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "no_cpython_wrapper": True,  # kernels are called by kernels and through callbacks, never from Python
    "no_cfunc_wrapper": True,
    "pipeline_class": KernelCompiler,
}


def kernel(function: _Function) -> _Function:
    """Compile a function when a kernel calls it; LLVM decides whether to inline it."""
    return cast(_Function, numba.njit(**_OPTIONS)(function))


def inlined(function: _Function) -> _Function:
    """Compile as `kernel`, but always inline, and compile only once, not for each constant; see `pipeline`."""
    return cast(_Function, without_constants(numba.njit(forceinline=True, **_OPTIONS)(function)))


OUTLINED: list[str] = []
"""Substrings of mangled names that identify the functions which are never inlined."""


def outlined(function: _Function) -> _Function:
    """Compile as `inlined`, but never inline: a loop that seldom calls it is compiled as if it did not call it."""
    names = [re.sub(r"[<>]", lambda found: f"_{ord(found[0]):x}", name) for name in function.__qualname__.split(".")]
    OUTLINED.append("".join(f"{len(name)}{name}" for name in (*function.__module__.split("."), *names)))
    return cast(_Function, without_constants(kernel(function)))


def procedure(n_arguments: int, emit: Callable[..., None]) -> Callable[..., None]:
    """Return an intrinsic as `operation` does, but one that returns no value."""
    return cast(Callable[..., None], operation(n_arguments, emit, types.void))


def operation(n_arguments: int, emit: Callable[..., Any], returns: Any = _int) -> Callable[..., int]:
    """Return an intrinsic of int64 arguments whose value `emit(builder, *arguments)` builds."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = emit(builder, *arguments)
        return context.get_dummy_value() if value is None else value

    kind = returns(*[_int] * n_arguments)
    names = ", ".join("abcdefghi"[:n_arguments])
    # `intrinsic` reads the number of arguments off the function, so write out a function of that many arguments.
    scope: dict[str, Any] = {"typed": (kind, codegen)}
    exec(f"def operation(typing{', ' if names else ''}{names}): return typed", scope)
    operation: Callable[..., int] = intrinsic(scope["operation"])
    return operation


def _emit_prefetch(builder: Any, address: Any) -> None:
    pointer = _i8.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _i32, _i32, _i32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(function, [builder.inttoptr(address, pointer), _i32(0), _i32(3), _i32(1)])


def _emit_regions(builder: Any) -> Any:
    module = builder.module
    table = module.globals.get(REGIONS_SYMBOL)
    if table is None:
        table = ir.GlobalVariable(module, _i64, REGIONS_SYMBOL)
        table.linkage = "external"
    return builder.ptrtoint(table, _i64)


def _function(module: Any, name: str, returns: Any, n_arguments: int) -> Any:
    """Return the declaration of a C function of pointer-sized arguments in `module`."""
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(returns, [_i64] * n_arguments), name)


def external(name: str, n_arguments: int) -> Callable[..., int]:
    """Return a C function of pointer-sized arguments that returns one."""

    def emit(builder: Any, *arguments: Any) -> Any:
        return builder.call(_function(builder.module, name, _i64, n_arguments), arguments)

    return operation(n_arguments, emit)


def external_void(name: str, n_arguments: int) -> Callable[..., None]:
    """Return a C function of pointer-sized arguments that returns nothing."""

    def emit(builder: Any, *arguments: Any) -> None:
        builder.call(_function(builder.module, name, ir.VoidType(), n_arguments), arguments)

    return procedure(n_arguments, emit)


def _call_pointer(n_arguments: int) -> Callable[..., int]:
    """Return an intrinsic that calls a C function: (address of the function, *arguments), all of pointer size."""

    def emit(builder: Any, address: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(_i64, [_i64] * n_arguments)
        return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)

    return operation(n_arguments + 1, emit)


call_pointer_2, call_pointer_4, call_pointer_5, call_pointer_6 = map(_call_pointer, (2, 4, 5, 6))

shift_left = operation(2, lambda builder, a, b: builder.shl(a, b))
shift_right = operation(2, lambda builder, a, b: builder.lshr(a, b))
"""Logical shift: zeros come in from the left."""
wrapping_add = operation(2, lambda builder, a, b: builder.add(a, b))
wrapping_multiply = operation(2, lambda builder, a, b: builder.mul(a, b))
lowest_bit = operation(1, lambda builder, a: builder.cttz(a, _i1(0)))
"""Index of the lowest set bit; 64 for 0."""
leading_zeros = operation(1, lambda builder, a: builder.ctlz(a, _i1(0)))
bit_count = operation(1, lambda builder, a: builder.ctpop(a))
choose: Callable[..., int] = intrinsic(
    lambda typing, condition, a, b: (
        _int(types.boolean, _int, _int),
        lambda context, builder, signature, arguments: builder.select(*arguments),
    )
)
"""`a if condition else b` without a branch."""
prefetch = procedure(1, _emit_prefetch)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _i64.as_pointer())


def _raw_load(kind: Any) -> Callable[..., int]:
    def emit(builder: Any, address: Any) -> Any:
        value = builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)
        return value if kind is _i64 else builder.zext(value, _i64)

    return operation(1, emit)


peek, peek_u8, peek_u16, peek_u32 = map(_raw_load, (_i64, _i8, _i16, _i32))
poke_64 = procedure(2, lambda builder, a, n: builder.store(n, _pointer(builder, a), align=1))
"""Access memory that the interpreter owns, without a check against the regions."""
_regions = operation(0, _emit_regions)

if CHECKED:

    @kernel
    def reachable(address: int, n_bytes: int) -> bool:
        """Return whether the bytes are in one declared region; count a fault otherwise."""
        table = _regions()
        entry = table + 64
        for _ in range(N_REGIONS):
            if peek(entry) <= address and address + n_bytes <= peek(entry + 8):
                return True
            entry += 16
        poke_64(table, peek(table) + 1)
        poke_64(table + 8, address)
        poke_64(table + 16, n_bytes)
        return False

    @kernel
    def declare_region(number: int, start: int, end: int) -> None:
        """Declare the region `number` (0 to 7 are the kernels' own) to be [start, end)."""
        entry = _regions() + 64 + 16 * number
        poke_64(entry, start)
        poke_64(entry + 8, end)

else:

    @inlined
    def reachable(address: int, n_bytes: int) -> bool:
        """Return True; the checked build returns whether the bytes are in one declared region."""
        return True

    @inlined
    def declare_region(number: int, start: int, end: int) -> None:
        """Do nothing; the checked build declares the region `number` to be [start, end)."""


# Atomic words are int64, 8-byte aligned.
_raw_atomic_load = operation(1, lambda builder, a: builder.load_atomic(_pointer(builder, a), "acquire", 8))
_raw_atomic_store = procedure(2, lambda builder, a, n: builder.store_atomic(n, _pointer(builder, a), "release", 8))
_raw_atomic_add = operation(2, lambda builder, a, n: builder.atomic_rmw("add", _pointer(builder, a), n, "seq_cst"))


def _emit_change(builder: Any, address: Any, before: Any, after: Any) -> Any:
    found = builder.cmpxchg(_pointer(builder, address), before, after, "seq_cst", "seq_cst")
    return builder.zext(builder.extract_value(found, 1), _i64)


_raw_atomic_change = operation(3, _emit_change)


@inlined
def atomic_load(address: int) -> int:
    """Return a word that other threads change, and see what they wrote before it."""
    return _raw_atomic_load(address) if reachable(address, 8) else 0


@inlined
def atomic_store(address: int, value: int) -> None:
    """Store a word that other threads read, after all that was written before."""
    if reachable(address, 8):
        _raw_atomic_store(address, value)


@inlined
def atomic_add(address: int, n: int) -> int:
    """Add to a word that other threads change; return its previous value."""
    return _raw_atomic_add(address, n) if reachable(address, 8) else 0


@inlined
def atomic_change(address: int, before: int, after: int) -> int:
    """Store `after` if the word is `before`; return 1 if it was, else 0."""
    return _raw_atomic_change(address, before, after) if reachable(address, 8) else 0
