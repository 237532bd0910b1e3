"""Gives kernels bit operations on int64, C functions, memory, vectors, and the decorators that make them kernels.

Numba compiles int64 products as `mul nsw`, which is undefined on overflow, and mixes uint64 with int64 into float64;
so everything is int64, and arithmetic that may wrap has separate operations here.

Kernels' own memory is reached by typed pointers (`pointers`). In the checked build (environment variable
BPEBENCH_COMPILED_BUILD=checked) every access to it is checked against the declared regions; one outside them is counted
as a fault: a load gives 0 and a store does nothing.

Vector operations are built in LLVM's portable form, by the functions at the end, to process several bytes, keys or
characters at once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.entry_points import REGIONS_SYMBOL
from impls.compiled.codegen.pipeline import KernelCompiler, without_constants
from impls.compiled.layout import N_COUNTERS, N_REGIONS

CHECKED = is_checked()

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
    names = [re.sub(r"[<>]", lambda match: f"_{ord(match[0]):x}", name) for name in function.__qualname__.split(".")]
    OUTLINED.append("".join(f"{len(name)}{name}" for name in (*function.__module__.split("."), *names)))
    return cast(_Function, without_constants(kernel(function)))


def operation(n_arguments: int, emit: Callable[..., Any], returns: Any = _int, n_bytes: int = 0) -> Callable[..., int]:
    """Return an intrinsic of int64 arguments whose value `emit(builder, *arguments)` builds.

    With `n_bytes`, the first argument is the address of so many bytes, which the checked build checks.
    """

    def typed(typing: Any, *_: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if n_bytes:
                arguments = [reached(context, builder, arguments[0], n_bytes), *arguments[1:]]
            value = emit(builder, *arguments)
            return context.get_dummy_value() if returns is types.void else value

        return returns(*[_int] * n_arguments), codegen

    # `intrinsic` reads the number of arguments off the signature.
    names = ("typing", *"abcdefghi"[:n_arguments])
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return cast(Callable[..., int], intrinsic(typed))


def procedure(n_arguments: int, emit: Callable[..., Any], n_bytes: int = 0) -> Callable[..., None]:
    """Return an intrinsic as `operation` does, but one that returns no value."""
    return cast(Callable[..., None], operation(n_arguments, emit, types.void, n_bytes))


def _emit_prefetch(builder: Any, address: Any) -> None:
    pointer = _i8.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, _i32, _i32, _i32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(function, [builder.inttoptr(address, pointer), _i32(0), _i32(3), _i32(1)])


def external(name: str, n_arguments: int) -> Callable[..., int]:
    """Return a C function of pointer-sized arguments and result; the result of one that has none is arbitrary."""
    kind = ir.FunctionType(_i64, [_i64] * n_arguments)

    def emit(builder: Any, *arguments: Any) -> Any:
        return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), arguments)

    return operation(n_arguments, emit)


_function_of_4 = ir.FunctionType(_i64, [_i64] * 4).as_pointer()
call_pointer_4 = operation(
    5, lambda builder, function, *arguments: builder.call(builder.inttoptr(function, _function_of_4), arguments)
)
"""Call a C function: (address of the function, *arguments), all of pointer size."""

shift_left = operation(2, lambda builder, a, b: builder.shl(a, b))
shift_right = operation(2, lambda builder, a, b: builder.lshr(a, b))
"""Logical shift: zeros come in from the left."""
wrapping_add = operation(2, lambda builder, a, b: builder.add(a, b))
wrapping_multiply = operation(2, lambda builder, a, b: builder.mul(a, b))
lowest_bit = operation(1, lambda builder, a: builder.cttz(a, _i1(0)))
"""Index of the lowest set bit; 64 for 0."""
leading_zeros = operation(1, lambda builder, a: builder.ctlz(a, _i1(0)))
bit_count = operation(1, lambda builder, a: builder.ctpop(a))
choose = operation(3, lambda builder, condition, a, b: builder.select(builder.trunc(condition, _i1), a, b))
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


def _emit_regions(builder: Any) -> Any:
    named = builder.module.globals
    return builder.ptrtoint(named.get(REGIONS_SYMBOL) or ir.GlobalVariable(builder.module, _i64, REGIONS_SYMBOL), _i64)


_regions = operation(0, _emit_regions)


@outlined
def _checked(address: int, n_bytes: int) -> int:
    table = _regions()
    entry = table + 8 * N_COUNTERS
    for _ in range(N_REGIONS):
        if peek(entry) <= address and address + n_bytes <= peek(entry + 8):
            return address
        entry += 16
    poke_64(table, peek(table) + 1)
    poke_64(table + 8, address)
    poke_64(table + 16, n_bytes)
    spare = table + 24
    poke_64(spare, 0)
    return spare


def reached(context: Any, builder: Any, address: Any, n_bytes: int) -> Any:
    """Return an address (LLVM); in the checked build count a fault and return that of a spare word, which is 0, unless
    these bytes, 8 at most, are in one declared region."""
    if not CHECKED:
        return address
    check = types.Dispatcher(cast(Any, _checked))
    call = check.get_call_type(context.typing_context, (_int, _int), {})
    function = context.get_function(check, call)
    context.add_linking_libs(getattr(function, "libs", ()))
    return function(builder, (address, _i64(n_bytes)))


@inlined
def reachable(address: int, n_bytes: int) -> bool:
    """Return whether the bytes are in one declared region, if the build is checked: if not, it is a fault."""
    return _checked(address, n_bytes) == address if CHECKED else True


@inlined
def declare_region(number: int, start: int, end: int) -> None:
    """Declare the region `number` (0 to 7 are the kernels' own) to be [start, end), for the checked build."""
    if CHECKED:
        entry = _regions() + 8 * N_COUNTERS + 16 * number
        poke_64(entry, start)
        poke_64(entry + 8, end)


def _emit_change(builder: Any, address: Any, before: Any, after: Any) -> Any:
    exchanged = builder.cmpxchg(_pointer(builder, address), before, after, "seq_cst", "seq_cst")
    return builder.zext(builder.extract_value(exchanged, 1), _i64)


# Atomic words are int64, 8-byte aligned.
atomic_load = operation(1, lambda builder, a: builder.load_atomic(_pointer(builder, a), "acquire", 8), n_bytes=8)
"""Return a word that other threads change, and see what they wrote before it."""
atomic_store = procedure(2, lambda builder, a, n: builder.store_atomic(n, _pointer(builder, a), "release", 8), 8)
"""Store a word that other threads read, after all that was written before."""
atomic_add = operation(
    2, lambda builder, a, n: builder.atomic_rmw("add", _pointer(builder, a), n, "seq_cst"), n_bytes=8
)
"""Add to a word that other threads change; return its previous value."""
atomic_change = operation(3, _emit_change, n_bytes=8)
"""Store `after` (the third argument) if the word is `before` (the second); return 1 if it was, else 0."""

copy_memory = external("memcpy", 3)
"""Copy (destination, source, number of bytes); the two must not overlap."""
_raw_allocate = external("PyMem_RawMalloc", 1)
_raw_reallocate = external("PyMem_RawRealloc", 2)
release_memory = external("PyMem_RawFree", 1)


@kernel
def reallocate(region: int, address: int, n_bytes: int) -> int:
    """Resize memory of `allocate`, keeping its content; return its address, or 0 if out of memory (the old stays)."""
    moved = _raw_reallocate(address, n_bytes)
    if moved != 0:
        declare_region(region, moved, moved + n_bytes)
    return moved


@kernel
def allocate(region: int, n_bytes: int) -> int:
    """Return the address of uninitialised memory, or 0 if there is none; `region` (0 to 7) is for the checked build."""
    address = _raw_allocate(n_bytes)
    if address != 0:
        declare_region(region, address, address + n_bytes)
    return address


# Functions that build vector operations.


def constant(kind: Any, value: int | Sequence[int]) -> Any:
    """Return a constant vector of the type `kind` with these values, or with one value in every lane."""
    return ir.Constant(kind, [value] * kind.count if isinstance(value, int) else list(value))


def undefined(kind: Any) -> Any:
    """Return a vector of arbitrary values."""
    return ir.Constant(kind, ir.Undefined)


def splat(builder: Any, kind: Any, value: Any) -> Any:
    """Return a vector that holds `value`, an integer of its element type, in every lane."""
    first = builder.insert_element(undefined(kind), value, _i32(0))
    return lanes(builder, first, first, [0] * kind.count)


def lanes(builder: Any, a: Any, b: Any, numbers: Sequence[int]) -> Any:
    """Return the lanes with these numbers of the concatenation of two vectors."""
    return builder.shuffle_vector(a, b, constant(ir.VectorType(_i32, len(numbers)), numbers))


def load(builder: Any, kind: Any, address: Any) -> Any:
    """Load a vector, or integer, from any address (int64)."""
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


def store(builder: Any, value: Any, address: Any) -> None:
    """Store a vector, or integer, at any address (int64)."""
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=1)


def compressed(builder: Any, data: Any, used: Any) -> Any:
    """Return the bytes of a vector whose bit in `used` is set, contiguously, followed by arbitrary bytes.

    LLVM expands this into other instructions if the processor has none for it.
    """
    kind, module = data.type, builder.module
    signature = ir.FunctionType(kind, [kind, ir.VectorType(_i1, kind.count), kind])
    name = f"llvm.experimental.vector.compress.v{kind.count}i8"
    compress = module.globals.get(name) or ir.Function(module, signature, name)
    return builder.call(compress, [data, used, undefined(kind)])
