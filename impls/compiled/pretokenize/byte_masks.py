"""Compares 64 bytes at once into bit masks, one bit per byte, in portable vector code; LLVM picks the instructions.

Finds the lead bytes, in a window, of letters of alphabets other than ASCII, Cyrillic and ideographs. The sets are
written from the blocks of Unicode; a character in none of them is looked up individually, so a set may leave letters
out. A set is computed when the first character of its alphabet is met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from impls.compiled.codegen.target import features
from impls.compiled.language.memory import (
    compressed,
    constant,
    inlined,
    lanes,
    load,
    operation,
    procedure,
    reachable,
    shift_right,
    splat,
    store,
)
from impls.compiled.language.pointers import address_of
from impls.compiled.language.typed_memory import I32s, U8s

WIDTH = 64
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_i8, WIDTH)
_LANES = 16
MOST_NUMBERS = 32
"""Maximum count of numbers that `write_numbers` writes; there must always be room for this many."""
HAS_COMPRESS = bool(features().get("avx512vbmi2", False))
"""Whether the processor has an instruction to compress vectors of bytes; `write_numbers` is slow without."""

Mask = Callable[[Any, Any], Any]


def _between(low: int, high: int) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        return builder.icmp_unsigned("<=", builder.sub(data, constant(_vector, low)), constant(_vector, high - low))

    return mask


def _either(*masks: Mask) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        union = masks[0](builder, data)
        for other in masks[1:]:
            union = builder.or_(union, other(builder, data))
        return union

    return mask


def _letters(builder: Any, data: Any) -> Any:
    return _between(97, 122)(builder, builder.or_(data, constant(_vector, 0x20)))


def _is(*bytes_: int) -> Mask:
    return _either(*(_between(byte, byte) for byte in bytes_))


def _is_odd(builder: Any, data: Any) -> Any:
    return builder.icmp_unsigned("!=", builder.and_(data, constant(_vector, 1)), constant(_vector, 0))


def _masks(*kinds: Mask) -> Callable[[U8s], Any]:
    """Return a kernel that gives the masks of 64 bytes, a tuple of one per kind."""

    def emit(builder: Any, address: Any) -> Any:
        data = load(builder, _vector, address)
        masks = ir.Constant(ir.ArrayType(_i64, len(kinds)), ir.Undefined)
        for number, kind in enumerate(kinds):
            masks = builder.insert_value(masks, builder.bitcast(kind(builder, data), _i64), number)
        return masks

    returns = types.UniTuple(types.int64, len(kinds))  # type: ignore[no-untyped-call]
    masks_at = operation(1, emit, returns, WIDTH)

    @inlined
    def masks_of(at: U8s) -> Any:
        return masks_at(address_of(at))

    return masks_of


_from_b8 = _between(0xB8, 0xBF)
ascii_masks = _masks(
    _letters,
    _between(48, 57),
    _is(10, 13),
    _is(32),
    _either(_is(9), _between(11, 12)),
    _is(39),
    _between(128, 255),
    _between(65, 90),
    _is(47),
)
"""Letters, digits, line breaks, spaces, other blanks, apostrophes, what is not ASCII, upper case, slashes."""
high_masks = _masks(
    _between(0x80, 0xBF),
    _is(0xD0),
    _is(0xD1),
    _either(_between(0xE5, 0xE8), _between(0xEB, 0xEC)),
    _is(0xE4),
    _is(0xE9),
    _between(0x80, 0xAF),
    _between(0x80, 0x9F),
    _from_b8,
    _between(0x80, 0xBE),
)
"""Continuation bytes; D0 and D1; lead bytes of ideographs and Hangul, E4 and E9; below B0, below A0, from B8, to BE."""
_latin_masks = _masks(
    _is(0xC3),
    _is(0xC4),
    _is(0xC5),
    _is(0x97, 0xB7),
    _between(0x80, 0x9E),
    _is_odd,
    _between(0x80, 0x88),
    _from_b8,
    _between(0xB9, 0xBF),
    _is(0xBF),
)
_greek_masks = _masks(_is(0xCE), _between(0xAC, 0xBF), _is(0xCF), _between(0x80, 0x8E))
_semitic_masks = _masks(
    _is(0xD7), _between(0x90, 0xAA), _is(0xD8), _between(0xA0, 0xBF), _is(0xD9), _between(0x81, 0x8A)
)
_kana_masks = _masks(
    _is(0xE3),
    _is(0x81),
    _is(0x82),
    _is(0x83),
    _between(0x81, 0xBF),
    _either(_between(0x80, 0x96), _between(0xA1, 0xBF)),
    _either(_between(0x80, 0xBA), _between(0xBC, 0xBF)),
)
control_mask = _masks(_either(_between(0, 8), _between(14, 31), _is(127)))
"""Control characters that are not white space."""
deepseek_masks = _masks(_between(0xEB, 0xEC), _between(0x80, 0xBD))
"""Lead bytes of Hangul; continuation bytes up to BD."""


def _emit_equal_pairs(builder: Any, address: Any, other: Any, a: Any, b: Any) -> Any:
    first, second = (
        builder.icmp_unsigned("==", load(builder, _vector, place), splat(builder, _vector, builder.trunc(byte, _i8)))
        for place, byte in ((address, a), (other, b))
    )
    return builder.bitcast(builder.and_(first, second), _i64)


def _emit_numbers(builder: Any, bits: Any, first: Any, address: Any) -> None:
    wide = ir.VectorType(_i32, _LANES)
    flags = builder.bitcast(bits, ir.VectorType(ir.IntType(1), WIDTH))
    numbers = compressed(builder, constant(_vector, range(WIDTH)), flags)
    base = splat(builder, wide, builder.trunc(first, _i32))
    for k in range(0, MOST_NUMBERS, _LANES):
        some = builder.zext(lanes(builder, numbers, numbers, range(k, k + _LANES)), wide)
        store(builder, builder.add(some, base), builder.add(address, _i64(4 * k)))


_raw_write_numbers = procedure(3, _emit_numbers)
_raw_equal_pairs = operation(4, _emit_equal_pairs)


@inlined
def equal_pairs(text: U8s, other: U8s, a: int, b: int) -> int:
    """Return a bit for each of 64 offsets at which `text` holds the byte `a` and `other` the byte `b`."""
    if reachable(address_of(text), WIDTH) and reachable(address_of(other), WIDTH):
        return _raw_equal_pairs(address_of(text), address_of(other), a, b)
    return 0


@inlined
def write_numbers(bits: int, first: int, numbers: I32s) -> None:
    """Write `first` + the index of each of up to MOST_NUMBERS set bits, followed by arbitrary values."""
    if reachable(address_of(numbers), 4 * MOST_NUMBERS):
        _raw_write_numbers(bits, first, address_of(numbers))


WHOLE = (1 << 63) - 1
"""Mask of all bytes of a window but the last, whose character may continue after the window."""


@inlined
def is_semitic(byte: int) -> bool:
    """Return whether a byte is a lead byte of the Hebrew and Arabic letters of `two_bytes_wide`."""
    return byte - 0xD7 <= 2 and byte >= 0xD7


@inlined
def two_bytes_wide(at: U8s, byte: int) -> tuple[int, int]:
    """Return the lead bytes, in the window at `at`, of all two-byte letters of the alphabet to which `byte` leads.

    Returns also those of Latin letters that are upper case; letters of the other alphabets are not.
    """
    if byte - 0xC3 <= 2 and byte >= 0xC3:
        return _latin(at)
    if is_semitic(byte):
        return _semitic(at), 0
    if byte == 0xCE or byte == 0xCF:
        return _greek_lower(at), 0
    return 0, 0


@inlined
def three_bytes_wide(at: U8s, byte: int, second: int) -> int:
    """Return the lead bytes of three-byte letters likewise: kana, which begin with E3 and 81 to 83."""
    return _kana(at) if byte == 0xE3 and 0x81 <= second <= 0x83 else 0


@inlined
def _followed_by(lead: int, second: int) -> int:
    return lead & shift_right(second, 1)


@inlined
def _latin(at: U8s) -> tuple[int, int]:
    """Return the lead bytes of U+00C0 to U+017E, except × and ÷, and those of upper case.

    U+017F, which folds to s, is not included. From U+0100 on upper case is at even code points, but between U+0138 and
    U+0148 and from U+0179 on at odd ones.
    """
    c3, c4, c5, signs, up_to_9e, is_odd, up_to_88, from_b8, from_b9, only_bf = _latin_masks(at)
    letters = (_followed_by(c3, ~signs) | c4 | _followed_by(c5, ~only_bf)) & WHOLE
    odd_upper = _followed_by(c4, from_b8) | _followed_by(c5, up_to_88 | from_b9)
    extended = (c4 | c5) & ~(shift_right(is_odd, 1) ^ odd_upper)
    return letters, letters & (_followed_by(c3, up_to_9e) | extended)


@inlined
def _greek_lower(at: U8s) -> int:
    """Return the lead bytes of U+03AC to U+03CE."""
    ce, from_ac, cf, up_to_8e = _greek_masks(at)
    return (_followed_by(ce, from_ac) | _followed_by(cf, up_to_8e)) & WHOLE


@inlined
def _semitic(at: U8s) -> int:
    """Return the lead bytes of Hebrew U+05D0 to U+05EA, Arabic U+0620 to U+063F and U+0641 to U+064A: no case."""
    d7, from_90_to_aa, d8, from_a0, d9, from_81_to_8a = _semitic_masks(at)
    arabic = _followed_by(d8, from_a0) | _followed_by(d9, from_81_to_8a)
    return (_followed_by(d7, from_90_to_aa) | arabic) & WHOLE


@inlined
def _kana(at: U8s) -> int:
    """Return the lead bytes of hiragana U+3041 to U+3096 and katakana U+30A1 to U+30FF, except the middle dot."""
    e3, only_81, only_82, only_83, from_81, but_97_to_a0, but_bb = _kana_masks(at)
    second = _followed_by(only_81, from_81) | _followed_by(only_82, but_97_to_a0) | _followed_by(only_83, but_bb)
    return _followed_by(e3, second) & (WHOLE >> 1)
