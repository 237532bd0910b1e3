"""Transcodes code points to UTF-8, sixteen at once, from the one, two or four bytes per character of a str.

Every character gets as many bytes of a vector as the longest may need; the bytes in use are then moved together (a
vector "compress", which LLVM expands into other instructions if the processor has none).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from impls.compiled.language.memory import compressed, constant, copy_memory, kernel, load, operation, reachable, store
from impls.compiled.language.pointers import i64s

GROUP = 16
"""Number of characters per step."""
STEP_BYTES = 64
"""Number of bytes that one step may write, including those it does not use."""
LONGER_FORMS = ((0x80, 0xC0), (0x800, 0xE0), (0x10000, 0xF0))
"""Of characters of two, three and four bytes: the first code point, and the first byte without its payload."""
_i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


def _transcoder(held: Any, longest: int) -> Callable[..., int]:
    """Return an intrinsic (source, target) -> number of bytes written, or -1 if there is a surrogate.

    Sixteen characters are read, integers of the type `held`; none takes more than `longest` (2 or 4) bytes.
    """
    lane, text = ir.IntType(8 * longest), ir.VectorType(_i8, GROUP * longest)
    wide = ir.VectorType(lane, GROUP)

    def emit(builder: Any, source: Any, target: Any) -> Any:
        def shifted(by: int) -> Any:
            return builder.lshr(codes, constant(wide, by))

        def tail_byte(by: int) -> Any:
            return builder.or_(builder.and_(shifted(by), constant(wide, 0x3F)), constant(wide, 0x80))

        codes = load(builder, ir.VectorType(held, GROUP), source)
        if held is not lane:
            codes = builder.zext(codes, wide)
        spelled, used, n_bytes = codes, constant(wide, 0xFF), _i64(GROUP)
        for n_tails, (least, lead) in enumerate(LONGER_FORMS[: longest - 1], 1):
            form = builder.or_(shifted(6 * n_tails), constant(wide, lead))
            for place in range(1, n_tails + 1):
                tail = builder.shl(tail_byte(6 * (n_tails - place)), constant(wide, 8 * place))
                form = builder.or_(form, tail)
            is_longer = builder.icmp_unsigned(">=", codes, constant(wide, least))
            spelled = builder.select(is_longer, form, spelled)
            used = builder.select(is_longer, constant(wide, (1 << 8 * (n_tails + 1)) - 1), used)
            n_bytes = builder.add(n_bytes, builder.ctpop(builder.zext(builder.bitcast(is_longer, _i16), _i64)))
        is_used = builder.icmp_unsigned("!=", builder.bitcast(used, text), constant(text, 0))
        store(builder, compressed(builder, builder.bitcast(spelled, text), is_used), target)
        if longest == 2:
            return n_bytes
        surrogates = builder.bitcast(builder.icmp_unsigned("==", shifted(11), constant(wide, 0xD800 >> 11)), _i16)
        return builder.select(builder.icmp_unsigned("==", surrogates, _i16(0)), n_bytes, _i64(-1))

    return operation(2, emit)


def _emit_of_three_bytes(builder: Any, source: Any) -> Any:
    kind = ir.VectorType(_i16, GROUP)
    are_wide = builder.icmp_unsigned(">=", load(builder, kind, source), constant(kind, 0x800))
    return builder.zext(builder.bitcast(are_wide, _i16), _i64)


_one_byte_characters, _two_byte_characters = _transcoder(_i8, 2), _transcoder(_i16, 2)
_any_of_two_bytes, _any_of_four_bytes = _transcoder(_i16, 4), _transcoder(_i32, 4)
_of_three_bytes = operation(1, _emit_of_three_bytes)
"""Return a bit for each of sixteen two-byte characters that takes three bytes of UTF-8."""


@kernel
def _step(kind: int, source: int, target: int) -> int:
    if kind == 1:
        return _one_byte_characters(source, target)
    if kind == 4:
        return _any_of_four_bytes(source, target)
    if _of_three_bytes(source) == 0:
        return _two_byte_characters(source, target)
    return _any_of_two_bytes(source, target)


@kernel
def transcode(kind: int, source: int, n_characters: int, target: int, scratch: int) -> int:
    """Write the UTF-8 of characters of `kind` (1, 2, 4) bytes each; return its size, or -1 if there is a surrogate.

    `target` has room for STEP_BYTES more than the text's maximum size; `scratch` has 64 bytes.
    """
    at = target
    for i in range(0, n_characters, GROUP):
        group, n_missing = source + i * kind, max(0, i + GROUP - n_characters)
        if n_missing > 0:
            # The padding zeros take one byte each.
            for k in range(8):
                i64s(scratch)[k] = 0
            copy_memory(scratch, group, (GROUP - n_missing) * kind)
            group = scratch
        if not reachable(at, STEP_BYTES):
            return -1
        n_bytes = _step(kind, group, at)
        if n_bytes < 0:
            return -1
        at += n_bytes - n_missing
    return at - target
