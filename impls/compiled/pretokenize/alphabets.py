"""Finds the lead bytes, in a window, of letters of alphabets other than ASCII, Cyrillic and ideographs.

The sets are written from the blocks of Unicode; a character in none of them is looked up individually, so a set may
leave letters out. A set is computed when the first character of its alphabet is met.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, shift_right
from impls.compiled.pretokenize.byte_masks import (
    greek_masks,
    kana_masks,
    latin_masks,
    semitic_masks,
)
from impls.compiled.pretokenize.layout import Masks
from impls.compiled.typed_memory import U8s

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
