"""Builds vector operations in LLVM's portable form, to process several bytes, keys or characters at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

_i1, _i8, _i32 = (ir.IntType(bits) for bits in (1, 8, 32))


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
