"""Compares 64 bytes at once into bit masks, one bit per byte, in portable vector code; LLVM picks the instructions.

Finds the lead bytes, in a window, of letters of alphabets other than ASCII, Cyrillic and ideographs. The sets are
written from the blocks of Unicode; a character in none of them is looked up individually, so a set may leave letters
out. A set is computed when the first character of its alphabet is met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import inlined, operation, procedure, reachable, shift_right
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
"""Store the masks for `latin`; the next three kernels store those for the other alphabets."""
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
"""Store the masks that only deepseek's splitter needs."""
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


WHOLE = (1 << 63) - 1
"""Mask of all bytes of a window but the last, whose character may continue after the window."""


@inlined
def is_latin(byte: int) -> bool:
    """Return whether a byte is a lead byte of `latin`."""
    return byte - 0xC3 <= 2 and byte >= 0xC3


@inlined
def is_semitic(byte: int) -> bool:
    """Return whether a byte is a lead byte of `semitic`."""
    return byte - 0xD7 <= 2 and byte >= 0xD7


@inlined
def two_bytes_wide(at: U8s, masks: Masks, byte: int) -> int:
    """Return the lead bytes, in the window at `at`, of all two-byte letters of the alphabet to which `byte` leads."""
    if is_latin(byte):
        latin_masks(at, masks)
        return latin(masks)
    if is_semitic(byte):
        semitic_masks(at, masks)
        return semitic(masks)
    if byte == 0xCE or byte == 0xCF:
        greek_masks(at, masks)
        return greek_lower(masks)
    return 0


@inlined
def three_bytes_wide(at: U8s, masks: Masks, byte: int, second: int) -> int:
    """Return the lead bytes of three-byte letters as `two_bytes_wide` does: kana, which begin with E3 and 81 to 83."""
    if byte == 0xE3 and 0x81 <= second <= 0x83:
        kana_masks(at, masks)
        return kana(masks)
    return 0


@inlined
def _followed_by(lead: int, second: int) -> int:
    return lead & shift_right(second, 1)


@inlined
def latin(masks: Masks) -> int:
    """Return the lead bytes of U+00C0 to U+017E, except × and ÷; U+017F, which folds to s, is not included."""
    c3, c5 = masks.lead_c3, masks.lead_c5
    in_c3 = _followed_by(c3, ~masks.signs)
    in_c5 = _followed_by(c5, ~masks.only_bf)
    return (in_c3 | masks.lead_c4 | in_c5) & WHOLE


@inlined
def latin_upper(masks: Masks, letters: int) -> int:
    """Return those of `letters`, the result of `latin`, that are upper case.

    From U+0100 on these are the even code points, but between U+0138 and U+0148 and from U+0179 on the odd ones.
    """
    c4, c5 = masks.lead_c4, masks.lead_c5
    odd_upper = _followed_by(c4, masks.from_b8)
    odd_upper |= _followed_by(c5, masks.up_to_88 | masks.from_b9)
    odd = shift_right(masks.odd, 1)
    extended = (c4 | c5) & ~(odd ^ odd_upper)
    return letters & (_followed_by(masks.lead_c3, masks.up_to_9e) | extended)


@inlined
def greek_lower(masks: Masks) -> int:
    """Return the lead bytes of U+03AC to U+03CE."""
    ce = _followed_by(masks.lead_ce, masks.from_ac)
    return (ce | _followed_by(masks.lead_cf, masks.up_to_8e)) & WHOLE


@inlined
def semitic(masks: Masks) -> int:
    """Return the lead bytes of Hebrew U+05D0 to U+05EA, Arabic U+0620 to U+063F and U+0641 to U+064A: no case."""
    hebrew = _followed_by(masks.lead_d7, masks.from_90_to_aa)
    arabic = _followed_by(masks.lead_d8, masks.from_a0)
    return (hebrew | arabic | _followed_by(masks.lead_d9, masks.from_81_to_8a)) & WHOLE


@inlined
def kana(masks: Masks) -> int:
    """Return the lead bytes of hiragana U+3041 to U+3096 and katakana U+30A1 to U+30FF, except the middle dot."""
    second = _followed_by(masks.only_81, masks.from_81)
    second |= _followed_by(masks.only_82, masks.but_97_to_a0)
    second |= _followed_by(masks.only_83, masks.but_bb)
    return _followed_by(masks.lead_e3, second) & (WHOLE >> 1)
