"""Transcodes code points to UTF-8, sixteen at once, from the one, two or four bytes per character of a str.

Every character gets as many bytes of a vector as the longest may need; the bytes in use are then moved together (a
vector "compress", which LLVM expands into other instructions if the processor has none).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import copy_memory, kernel, operation, reachable
from impls.compiled.codegen.pointers import i64s
from impls.compiled.codegen.vectors import compressed, constant, declared, load, store

GROUP = 16
"""Number of characters per step."""
STEP_BYTES = 64
"""Number of bytes that one step may write, including those it does not use."""
_i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


def _vector(kind: Any, value: int) -> Any:
    return constant(ir.VectorType(kind, GROUP), value)


def _load(builder: Any, address: Any, held: Any, wanted: Any) -> Any:
    """Load sixteen integers of the type `held` and widen them to `wanted`."""
    data = load(builder, ir.VectorType(held, GROUP), address)
    return data if held is wanted else builder.zext(data, ir.VectorType(wanted, GROUP))


def _together(builder: Any, data: Any, used: Any, target: Any, n_bytes: int) -> None:
    """Store the bytes of `data` whose byte in `used` is not 0, contiguously."""
    kind = ir.VectorType(_i8, n_bytes)
    mask = builder.icmp_unsigned("!=", builder.bitcast(used, kind), constant(kind, 0))
    store(builder, compressed(builder, builder.bitcast(data, kind), mask), target)


def _count(builder: Any, condition: Any) -> Any:
    """Return how many of sixteen conditions hold, as an int64."""
    bits = builder.zext(builder.bitcast(condition, _i16), _i64)
    return builder.ctpop(bits)


def _at_least(builder: Any, codes: Any, kind: Any, limit: int) -> Any:
    return builder.icmp_unsigned(">=", codes, _vector(kind, limit))


def _tail_byte(builder: Any, codes: Any, kind: Any, shift: int) -> Any:
    """Return the UTF-8 continuation bytes that hold the six bits of the codes from bit `shift` on."""
    shifted = builder.lshr(codes, _vector(kind, shift)) if shift else codes
    return builder.or_(builder.and_(shifted, _vector(kind, 0x3F)), _vector(kind, 0x80))


def _up_to_two(held: Any) -> Callable[..., int]:
    """Return an intrinsic (source, target) -> number of bytes written, for characters below U+0800."""

    def emit(builder: Any, source: Any, target: Any) -> Any:
        codes = _load(builder, source, held, _i16)
        long = _at_least(builder, codes, _i16, 0x80)
        lead = builder.or_(builder.lshr(codes, _vector(_i16, 6)), _vector(_i16, 0xC0))
        tail = builder.shl(_tail_byte(builder, codes, _i16, 0), _vector(_i16, 8))
        lanes = builder.select(long, builder.or_(lead, tail), codes)
        used = builder.select(long, _vector(_i16, 0xFFFF), _vector(_i16, 0xFF))
        _together(builder, lanes, used, target, 2 * GROUP)
        return builder.add(_count(builder, long), _i64(GROUP))

    return operation(2, emit)


def _up_to_four(held: Any) -> Callable[..., int]:
    """Return an intrinsic (source, target) -> number of bytes written, for any characters; -1 for a surrogate."""

    def emit(builder: Any, source: Any, target: Any) -> Any:
        codes = _load(builder, source, held, _i32)
        two, three, four = (_at_least(builder, codes, _i32, limit) for limit in (0x80, 0x800, 0x10000))

        def spelled(lead: int, n_tails: int) -> Any:
            first = builder.lshr(codes, _vector(_i32, 6 * n_tails))
            word = builder.or_(first, _vector(_i32, lead))
            for place in range(1, n_tails + 1):
                tail = _tail_byte(builder, codes, _i32, 6 * (n_tails - place))
                word = builder.or_(word, builder.shl(tail, _vector(_i32, 8 * place)))
            return word

        lanes, used = codes, _vector(_i32, 0xFF)
        for long, lead, n_tails in ((two, 0xC0, 1), (three, 0xE0, 2), (four, 0xF0, 3)):
            lanes = builder.select(long, spelled(lead, n_tails), lanes)
            used = builder.select(long, _vector(_i32, (1 << 8 * (n_tails + 1)) - 1), used)
        _together(builder, lanes, used, target, 4 * GROUP)
        n_bytes = _i64(GROUP)
        for long in (two, three, four):
            n_bytes = builder.add(n_bytes, _count(builder, long))
        planes = builder.and_(codes, _vector(_i32, 0xFFFFF800))
        surrogates = builder.icmp_unsigned("==", planes, _vector(_i32, 0xD800))
        return builder.select(
            builder.icmp_unsigned("==", builder.bitcast(surrogates, _i16), _i16(0)), n_bytes, _i64(-1)
        )

    return operation(2, emit)


def _emit_all_bits(builder: Any, source: Any) -> Any:
    kind = ir.VectorType(_i16, GROUP)
    reduce = declared(builder, f"llvm.vector.reduce.or.v{GROUP}i16", ir.FunctionType(_i16, [kind]))
    return builder.zext(builder.call(reduce, [_load(builder, source, _i16, _i16)]), _i64)


_one_byte_characters, _two_byte_characters = _up_to_two(_i8), _up_to_two(_i16)
_any_of_two_bytes, _any_of_four_bytes = _up_to_four(_i16), _up_to_four(_i32)
_all_bits = operation(1, _emit_all_bits)
"""Return the bitwise or of sixteen characters of two bytes each."""


@kernel
def _step(kind: int, source: int, target: int) -> int:
    if kind == 1:
        return _one_byte_characters(source, target)
    if kind == 4:
        return _any_of_four_bytes(source, target)
    if _all_bits(source) < 0x800:
        return _two_byte_characters(source, target)
    return _any_of_two_bytes(source, target)


@kernel
def transcode(kind: int, source: int, n_characters: int, target: int, scratch: int) -> int:
    """Write the UTF-8 of characters of `kind` (1, 2, 4) bytes each; return its size, or -1 if there is a surrogate.

    `target` has room for STEP_BYTES more than the text's maximum size; `scratch` has 64 bytes.
    """
    at, i = target, 0
    while i + GROUP <= n_characters:
        if not reachable(at, STEP_BYTES):
            return -1
        n_bytes = _step(kind, source + i * kind, at)
        if n_bytes < 0:
            return -1
        at += n_bytes
        i += GROUP
    rest = n_characters - i
    if rest > 0:
        for k in range(8):
            i64s(scratch)[k] = 0
        copy_memory(scratch, source + i * kind, rest * kind)
        # The padding zeros take one byte each.
        n_bytes = _step(kind, scratch, at)
        if n_bytes < 0:
            return -1
        at += n_bytes - (GROUP - rest)
    return at - target
