"""Compares 64 bytes at once into bit masks, one bit per byte, in portable vector code; LLVM picks the instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable
from impls.compiled.codegen.pointers import address_of
from impls.compiled.codegen.target import features
from impls.compiled.codegen.vectors import compressed, constant, lanes, load, splat, store
from impls.compiled.pretokenize.layout import Masks
from impls.compiled.typed_memory import I32s, U8s, places

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


def _masks(first: str, *kinds: Mask) -> Callable[[U8s, Masks], None]:
    """Return a kernel (64 bytes, masks) that stores one mask per kind, from the field `first` on."""
    offset = places(Masks.dtype)[first]

    def emit(builder: Any, address: Any, masks: Any) -> None:
        data = load(builder, _vector, address)
        place = builder.inttoptr(masks, _i64.as_pointer())
        for number, kind in enumerate(kinds):
            mask = builder.bitcast(kind(builder, data), _i64)
            builder.store(mask, builder.gep(place, [ir.Constant(_i64, offset // 8 + number)]), align=8)

    store = procedure(2, emit)

    @inlined
    def store_masks(at: U8s, masks: Masks) -> None:
        if reachable(address_of(at), WIDTH):
            store(address_of(at), address_of(masks))

    return store_masks


ascii_masks = _masks(
    "letters",
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
    "continuation",
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
    "lead_c3",
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
greek_masks = _masks("lead_ce", _is(0xCE), _between(0xAC, 0xBF), _is(0xCF), _between(0x80, 0x8E))
semitic_masks = _masks(
    "lead_d7", _is(0xD7), _between(0x90, 0xAA), _is(0xD8), _between(0xA0, 0xBF), _is(0xD9), _between(0x81, 0x8A)
)
kana_masks = _masks(
    "lead_e3",
    _is(0xE3),
    _is(0x81),
    _is(0x82),
    _is(0x83),
    _between(0x81, 0xBF),
    _either(_between(0x80, 0x96), _between(0xA1, 0xBF)),
    _either(_between(0x80, 0xBA), _between(0xBC, 0xBF)),
)
deepseek_masks = _masks(
    "controls",
    _either(_between(0, 8), _between(14, 31), _is(127)),
    _between(0xEB, 0xEC),
    _between(0x80, 0xBD),
)
"""Store the masks that only `bitparallel_deepseek` needs."""
lead_masks = _masks("leads", _between(0xC0, 0xFF))
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
