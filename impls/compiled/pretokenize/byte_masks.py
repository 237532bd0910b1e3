"""64 bytes at once: comparisons become bit masks, a bit per byte. Portable vector code; LLVM picks the instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable
from impls.compiled.codegen.target import features

WIDTH = 64
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_i8, WIDTH)
_COMPRESS = "llvm.experimental.vector.compress.v64i8"
_LANES = 16
MOST_NUMBERS = 32
"""Maximum number of numbers `write_numbers` writes; there must always be room for so many."""
HAS_COMPRESS = bool(features().get("avx512vbmi2", False))
"""Whether the processor compresses vectors of bytes; `write_numbers` is slow where it does not."""

# Masks of `ascii_masks`, by offset
LETTERS, DIGITS, NEWLINES, SPACES, OTHER_SPACES, APOSTROPHES, HIGH, UPPER, SLASHES = range(0, 72, 8)
# Masks of `high_masks`, by offset
CONTINUATION, CYRILLIC_D0, CYRILLIC_D1, IDEOGRAPHS, LEAD_E4, LEAD_E9, BELOW_B0, BELOW_A0, FROM_B8, UP_TO_BE = range(
    80, 160, 8
)
# Masks of `latin_masks`, `greek_masks`, `semitic_masks` and `kana_masks`, by offset; they share the space
LEAD_C3, LEAD_C4, LEAD_C5, SIGNS, UP_TO_9E, ODD, UP_TO_88, FROM_B9, ONLY_BF = range(192, 264, 8)
LEAD_CE, FROM_AC, LEAD_CF, UP_TO_8E = range(192, 224, 8)
LEAD_D7, FROM_90_TO_AA, LEAD_D8, FROM_A0, LEAD_D9, FROM_81_TO_8A = range(192, 240, 8)
LEAD_E3, ONLY_81, ONLY_82, ONLY_83, FROM_81, BUT_97_TO_A0, BUT_BB = range(192, 248, 8)
# Masks of `deepseek_masks`, by offset
CONTROLS, HANGUL, UP_TO_BD = range(400, 424, 8)
# The mask of `lead_masks`
LEADS = 80

Mask = Callable[[Any, Any], Any]


def _constant(value: int) -> Any:
    return ir.Constant(_vector, [value] * WIDTH)


def _between(low: int, high: int) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        return builder.icmp_unsigned("<=", builder.sub(data, _constant(low)), _constant(high - low))

    return mask


def _either(*masks: Mask) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        found = masks[0](builder, data)
        for other in masks[1:]:
            found = builder.or_(found, other(builder, data))
        return found

    return mask


def _letters(builder: Any, data: Any) -> Any:
    return _between(97, 122)(builder, builder.or_(data, _constant(0x20)))


_ASCII: list[Mask] = [
    _letters,
    _between(48, 57),
    _either(_between(10, 10), _between(13, 13)),
    _between(32, 32),
    _either(_between(9, 9), _between(11, 12)),
    _between(39, 39),
    _between(128, 255),
    _between(65, 90),
    _between(47, 47),
]
_HIGH: list[Mask] = [
    _between(0x80, 0xBF),
    _between(0xD0, 0xD0),
    _between(0xD1, 0xD1),
    _either(_between(0xE5, 0xE8), _between(0xEB, 0xEC)),
    _between(0xE4, 0xE4),
    _between(0xE9, 0xE9),
    _between(0x80, 0xAF),
    _between(0x80, 0x9F),
    _between(0xB8, 0xBF),
    _between(0x80, 0xBE),
]
_LATIN: list[Mask] = [
    _between(0xC3, 0xC3),
    _between(0xC4, 0xC4),
    _between(0xC5, 0xC5),
    _either(_between(0x97, 0x97), _between(0xB7, 0xB7)),
    _between(0x80, 0x9E),
    lambda builder, data: builder.icmp_unsigned("!=", builder.and_(data, _constant(1)), _constant(0)),
    _between(0x80, 0x88),
    _between(0xB9, 0xBF),
    _between(0xBF, 0xBF),
]
_GREEK: list[Mask] = [_between(0xCE, 0xCE), _between(0xAC, 0xBF), _between(0xCF, 0xCF), _between(0x80, 0x8E)]
_SEMITIC: list[Mask] = [
    _between(0xD7, 0xD7),
    _between(0x90, 0xAA),
    _between(0xD8, 0xD8),
    _between(0xA0, 0xBF),
    _between(0xD9, 0xD9),
    _between(0x81, 0x8A),
]
_KANA: list[Mask] = [
    _between(0xE3, 0xE3),
    _between(0x81, 0x81),
    _between(0x82, 0x82),
    _between(0x83, 0x83),
    _between(0x81, 0xBF),
    _either(_between(0x80, 0x96), _between(0xA1, 0xBF)),
    _either(_between(0x80, 0xBA), _between(0xBC, 0xBF)),
]
_DEEPSEEK: list[Mask] = [
    _either(_between(0, 8), _between(14, 31), _between(127, 127)),
    _between(0xEB, 0xEC),
    _between(0x80, 0xBD),
]


def _masks(kinds: list[Mask], first: int) -> Any:
    """Return an intrinsic (address of 64 bytes, address of masks) that stores one mask per kind, `first` bytes in."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = builder.load(builder.inttoptr(arguments[0], _vector.as_pointer()), align=1)
        masks = builder.inttoptr(arguments[1], _i64.as_pointer())
        for number, kind in enumerate(kinds):
            place = builder.gep(masks, [ir.Constant(_i64, first // 8 + number)])
            builder.store(builder.bitcast(kind(builder, data), _i64), place, align=8)
        return context.get_dummy_value()

    int64 = types.int64
    return intrinsic(lambda typing, address, masks: (types.void(int64, int64), codegen))


def _splat(builder: Any, value: Any) -> Any:
    """Return the low byte of an int64, 64 times."""
    nothing, zero = ir.Constant(_vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    one = builder.insert_element(nothing, builder.trunc(value, _i8), ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, zero)


def _emit_equal_pairs(builder: Any, address: Any, other: Any, a: Any, b: Any) -> Any:
    first, second = (
        builder.icmp_unsigned(
            "==", builder.load(builder.inttoptr(place, _vector.as_pointer()), align=1), _splat(builder, byte)
        )
        for place, byte in ((address, a), (other, b))
    )
    return builder.bitcast(builder.and_(first, second), _i64)


def _emit_numbers(builder: Any, bits: Any, first: Any, address: Any) -> None:
    flags, wide = ir.VectorType(ir.IntType(1), WIDTH), ir.VectorType(_i32, _LANES)
    nothing = ir.Constant(_vector, ir.Undefined)
    kind = ir.FunctionType(_vector, [_vector, flags, _vector])
    compress = builder.module.globals.get(_COMPRESS) or ir.Function(builder.module, kind, _COMPRESS)
    numbers = builder.call(compress, [ir.Constant(_vector, list(range(WIDTH))), builder.bitcast(bits, flags), nothing])
    one = builder.insert_element(ir.Constant(wide, ir.Undefined), builder.trunc(first, _i32), _i32(0))
    base = builder.shuffle_vector(one, one, ir.Constant(wide, [0] * _LANES))
    for k in range(0, MOST_NUMBERS, _LANES):
        some = builder.shuffle_vector(numbers, nothing, ir.Constant(wide, list(range(k, k + _LANES))))
        place = builder.inttoptr(builder.add(address, _i64(4 * k)), wide.as_pointer())
        builder.store(builder.add(builder.zext(some, wide), base), place, align=1)


_raw_write_numbers = procedure(3, _emit_numbers)
_raw_equal_pairs = operation(4, _emit_equal_pairs)
_store_ascii_masks = _masks(_ASCII, LETTERS)
_store_high_masks = _masks(_HIGH, CONTINUATION)
_store_latin_masks = _masks(_LATIN, LEAD_C3)
_store_greek_masks = _masks(_GREEK, LEAD_CE)
_store_semitic_masks = _masks(_SEMITIC, LEAD_D7)
_store_kana_masks = _masks(_KANA, LEAD_E3)
_store_deepseek_masks = _masks(_DEEPSEEK, CONTROLS)
_store_lead_masks = _masks([_between(0xC0, 0xFF)], LEADS)


@inlined
def ascii_masks(address: int, masks: int) -> None:
    """Store the masks of the ASCII classes of 64 bytes, and of bytes that are not ASCII."""
    if reachable(address, WIDTH):
        _store_ascii_masks(address, masks)


@inlined
def high_masks(address: int, masks: int) -> None:
    """Store the masks of lead and continuation bytes of 64 bytes."""
    if reachable(address, WIDTH):
        _store_high_masks(address, masks)


@inlined
def latin_masks(address: int, masks: int) -> None:
    """Store the masks of 64 bytes for `alphabets.latin`."""
    if reachable(address, WIDTH):
        _store_latin_masks(address, masks)


@inlined
def greek_masks(address: int, masks: int) -> None:
    """Store the masks of 64 bytes for `alphabets.greek_lower`."""
    if reachable(address, WIDTH):
        _store_greek_masks(address, masks)


@inlined
def semitic_masks(address: int, masks: int) -> None:
    """Store the masks of 64 bytes for `alphabets.semitic`."""
    if reachable(address, WIDTH):
        _store_semitic_masks(address, masks)


@inlined
def kana_masks(address: int, masks: int) -> None:
    """Store the masks of 64 bytes for `alphabets.kana`."""
    if reachable(address, WIDTH):
        _store_kana_masks(address, masks)


@inlined
def deepseek_masks(address: int, masks: int) -> None:
    """Store the masks of 64 bytes that only `bitparallel_deepseek` needs."""
    if reachable(address, WIDTH):
        _store_deepseek_masks(address, masks)


@inlined
def lead_masks(address: int, masks: int) -> None:
    """Store the mask of those of 64 bytes that begin a multi-byte character."""
    if reachable(address, WIDTH):
        _store_lead_masks(address, masks)


@inlined
def equal_pairs(address: int, other: int, a: int, b: int) -> int:
    """Return a bit for each of 64 offsets at which `address` holds the byte `a` and `other` the byte `b`."""
    if reachable(address, WIDTH) and reachable(other, WIDTH):
        return _raw_equal_pairs(address, other, a, b)
    return 0


@inlined
def write_numbers(bits: int, first: int, address: int) -> None:
    """Write `first` + the index of each of up to MOST_NUMBERS set bits (int32), then arbitrary values."""
    if reachable(address, 4 * MOST_NUMBERS):
        _raw_write_numbers(bits, first, address)
