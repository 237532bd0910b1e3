"""Compares 64 bytes at once into bit masks, one bit per byte, in portable vector code; LLVM picks the instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable
from impls.compiled.codegen.target import features
from impls.compiled.codegen.vectors import compressed, constant, lanes, load, splat, store

WIDTH = 64
_i8, _i32, _i64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_vector = ir.VectorType(_i8, WIDTH)
_LANES = 16
MOST_NUMBERS = 32
"""Maximum count of numbers that `write_numbers` writes; there must always be room for this many."""
HAS_COMPRESS = bool(features().get("avx512vbmi2", False))
"""Whether the processor has an instruction to compress vectors of bytes; `write_numbers` is slow without."""

# Offsets of the masks of `ascii_masks`
LETTERS, DIGITS, NEWLINES, SPACES, OTHER_SPACES, APOSTROPHES, HIGH, UPPER, SLASHES = range(0, 72, 8)
# Offsets of the masks of `high_masks`
CONTINUATION, CYRILLIC_D0, CYRILLIC_D1, IDEOGRAPHS, LEAD_E4, LEAD_E9, BELOW_B0, BELOW_A0, FROM_B8, UP_TO_BE = range(
    80, 160, 8
)
# Offsets of the masks of `latin_masks`, `greek_masks`, `semitic_masks` and `kana_masks`, which share the space
LEAD_C3, LEAD_C4, LEAD_C5, SIGNS, UP_TO_9E, ODD, UP_TO_88, FROM_B9, ONLY_BF = range(192, 264, 8)
LEAD_CE, FROM_AC, LEAD_CF, UP_TO_8E = range(192, 224, 8)
LEAD_D7, FROM_90_TO_AA, LEAD_D8, FROM_A0, LEAD_D9, FROM_81_TO_8A = range(192, 240, 8)
LEAD_E3, ONLY_81, ONLY_82, ONLY_83, FROM_81, BUT_97_TO_A0, BUT_BB = range(192, 248, 8)
# Offsets of the masks of `deepseek_masks`
CONTROLS, HANGUL, UP_TO_BD = range(400, 424, 8)
# Offset of the mask of `lead_masks`
LEADS = 80

Mask = Callable[[Any, Any], Any]


def _between(low: int, high: int) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        return builder.icmp_unsigned("<=", builder.sub(data, constant(_vector, low)), constant(_vector, high - low))

    return mask


def _either(*masks: Mask) -> Mask:
    def mask(builder: Any, data: Any) -> Any:
        found = masks[0](builder, data)
        for other in masks[1:]:
            found = builder.or_(found, other(builder, data))
        return found

    return mask


def _letters(builder: Any, data: Any) -> Any:
    return _between(97, 122)(builder, builder.or_(data, constant(_vector, 0x20)))


def _is(*bytes_: int) -> Mask:
    return _either(*(_between(byte, byte) for byte in bytes_))


def _is_odd(builder: Any, data: Any) -> Any:
    return builder.icmp_unsigned("!=", builder.and_(data, constant(_vector, 1)), constant(_vector, 0))


def _masks(first: int, *kinds: Mask) -> Callable[[int, int], None]:
    """Return a kernel (address of 64 bytes, address of masks) that stores one mask per kind from offset `first` on."""

    def emit(builder: Any, address: Any, masks: Any) -> None:
        data = load(builder, _vector, address)
        place = builder.inttoptr(masks, _i64.as_pointer())
        for number, kind in enumerate(kinds):
            mask = builder.bitcast(kind(builder, data), _i64)
            builder.store(mask, builder.gep(place, [ir.Constant(_i64, first // 8 + number)]), align=8)

    store = procedure(2, emit)

    @inlined
    def store_masks(address: int, masks: int) -> None:
        if reachable(address, WIDTH):
            store(address, masks)

    return store_masks


ascii_masks = _masks(
    LETTERS,
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
"""Store the masks of the ASCII classes, and that of bytes that are not ASCII."""
high_masks = _masks(
    CONTINUATION,
    _between(0x80, 0xBF),
    _is(0xD0),
    _is(0xD1),
    _either(_between(0xE5, 0xE8), _between(0xEB, 0xEC)),
    _is(0xE4),
    _is(0xE9),
    _between(0x80, 0xAF),
    _between(0x80, 0x9F),
    _between(0xB8, 0xBF),
    _between(0x80, 0xBE),
)
"""Store the masks of lead and continuation bytes."""
latin_masks = _masks(
    LEAD_C3,
    _is(0xC3),
    _is(0xC4),
    _is(0xC5),
    _is(0x97, 0xB7),
    _between(0x80, 0x9E),
    _is_odd,
    _between(0x80, 0x88),
    _between(0xB9, 0xBF),
    _is(0xBF),
)
"""Store the masks for `alphabets.latin`; the next three kernels store those for the other functions of `alphabets`."""
greek_masks = _masks(LEAD_CE, _is(0xCE), _between(0xAC, 0xBF), _is(0xCF), _between(0x80, 0x8E))
semitic_masks = _masks(
    LEAD_D7, _is(0xD7), _between(0x90, 0xAA), _is(0xD8), _between(0xA0, 0xBF), _is(0xD9), _between(0x81, 0x8A)
)
kana_masks = _masks(
    LEAD_E3,
    _is(0xE3),
    _is(0x81),
    _is(0x82),
    _is(0x83),
    _between(0x81, 0xBF),
    _either(_between(0x80, 0x96), _between(0xA1, 0xBF)),
    _either(_between(0x80, 0xBA), _between(0xBC, 0xBF)),
)
deepseek_masks = _masks(
    CONTROLS,
    _either(_between(0, 8), _between(14, 31), _is(127)),
    _between(0xEB, 0xEC),
    _between(0x80, 0xBD),
)
"""Store the masks that only `bitparallel_deepseek` needs."""
lead_masks = _masks(LEADS, _between(0xC0, 0xFF))
"""Store the mask of bytes that begin a multi-byte character."""


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
def equal_pairs(address: int, other: int, a: int, b: int) -> int:
    """Return a bit for each of 64 offsets at which `address` holds the byte `a` and `other` the byte `b`."""
    if reachable(address, WIDTH) and reachable(other, WIDTH):
        return _raw_equal_pairs(address, other, a, b)
    return 0


@inlined
def write_numbers(bits: int, first: int, address: int) -> None:
    """Write `first` + the index of each of up to MOST_NUMBERS set bits (int32), followed by arbitrary values."""
    if reachable(address, 4 * MOST_NUMBERS):
        _raw_write_numbers(bits, first, address)
