"""Finds the lead bytes, in a window, of letters of alphabets other than ASCII, Cyrillic and ideographs.

The sets are written from the blocks of Unicode; a character in none of them is looked up individually, so a set may
leave letters out. A set is computed when the first character of its alphabet is met.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, load_i64, shift_right
from impls.compiled.pretokenize.byte_masks import (
    BUT_97_TO_A0,
    BUT_BB,
    FROM_81,
    FROM_81_TO_8A,
    FROM_90_TO_AA,
    FROM_A0,
    FROM_AC,
    FROM_B8,
    FROM_B9,
    LEAD_C3,
    LEAD_C4,
    LEAD_C5,
    LEAD_CE,
    LEAD_CF,
    LEAD_D7,
    LEAD_D8,
    LEAD_D9,
    LEAD_E3,
    ODD,
    ONLY_81,
    ONLY_82,
    ONLY_83,
    ONLY_BF,
    SIGNS,
    UP_TO_8E,
    UP_TO_9E,
    UP_TO_88,
    greek_masks,
    kana_masks,
    latin_masks,
    semitic_masks,
)

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
def two_bytes_wide(at: int, masks: int, byte: int) -> int:
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
def three_bytes_wide(at: int, masks: int, byte: int, second: int) -> int:
    """Return the lead bytes of three-byte letters as `two_bytes_wide` does: kana, which begin with E3 and 81 to 83."""
    if byte == 0xE3 and 0x81 <= second <= 0x83:
        kana_masks(at, masks)
        return kana(masks)
    return 0


@inlined
def _followed_by(lead: int, second: int) -> int:
    return lead & shift_right(second, 1)


@inlined
def latin(masks: int) -> int:
    """Return the lead bytes of U+00C0 to U+017E, except × and ÷; U+017F, which folds to s, is not included."""
    c3, c5 = load_i64(masks + LEAD_C3), load_i64(masks + LEAD_C5)
    in_c3 = _followed_by(c3, ~load_i64(masks + SIGNS))
    in_c5 = _followed_by(c5, ~load_i64(masks + ONLY_BF))
    return (in_c3 | load_i64(masks + LEAD_C4) | in_c5) & WHOLE


@inlined
def latin_upper(masks: int, letters: int) -> int:
    """Return those of `letters`, the result of `latin`, that are upper case.

    From U+0100 on these are the even code points, but between U+0138 and U+0148 and from U+0179 on the odd ones.
    """
    c4, c5 = load_i64(masks + LEAD_C4), load_i64(masks + LEAD_C5)
    odd_upper = _followed_by(c4, load_i64(masks + FROM_B8))
    odd_upper |= _followed_by(c5, load_i64(masks + UP_TO_88) | load_i64(masks + FROM_B9))
    odd = shift_right(load_i64(masks + ODD), 1)
    extended = (c4 | c5) & ~(odd ^ odd_upper)
    return letters & (_followed_by(load_i64(masks + LEAD_C3), load_i64(masks + UP_TO_9E)) | extended)


@inlined
def greek_lower(masks: int) -> int:
    """Return the lead bytes of U+03AC to U+03CE."""
    ce = _followed_by(load_i64(masks + LEAD_CE), load_i64(masks + FROM_AC))
    return (ce | _followed_by(load_i64(masks + LEAD_CF), load_i64(masks + UP_TO_8E))) & WHOLE


@inlined
def semitic(masks: int) -> int:
    """Return the lead bytes of Hebrew U+05D0 to U+05EA, Arabic U+0620 to U+063F and U+0641 to U+064A: no case."""
    hebrew = _followed_by(load_i64(masks + LEAD_D7), load_i64(masks + FROM_90_TO_AA))
    arabic = _followed_by(load_i64(masks + LEAD_D8), load_i64(masks + FROM_A0))
    return (hebrew | arabic | _followed_by(load_i64(masks + LEAD_D9), load_i64(masks + FROM_81_TO_8A))) & WHOLE


@inlined
def kana(masks: int) -> int:
    """Return the lead bytes of hiragana U+3041 to U+3096 and katakana U+30A1 to U+30FF, except the middle dot."""
    second = _followed_by(load_i64(masks + ONLY_81), load_i64(masks + FROM_81))
    second |= _followed_by(load_i64(masks + ONLY_82), load_i64(masks + BUT_97_TO_A0))
    second |= _followed_by(load_i64(masks + ONLY_83), load_i64(masks + BUT_BB))
    return _followed_by(load_i64(masks + LEAD_E3), second) & (WHOLE >> 1)
