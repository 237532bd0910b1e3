"""Which lead bytes of a window begin letters of alphabets beside ASCII, Cyrillic and ideographs.

Written from the blocks of Unicode; what stands in none of these sets is looked up one character at a time, so a set
may leave letters out. A set is made when the first character of its alphabet is met.
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
"""All bytes of a window but the last, whose character may go on behind it."""


@inlined
def is_latin(byte: int) -> bool:
    """Whether the lead byte is one of `latin`."""
    return byte - 0xC3 <= 2 and byte >= 0xC3


@inlined
def is_semitic(byte: int) -> bool:
    """Whether the lead byte is one of `semitic`."""
    return byte - 0xD7 <= 2 and byte >= 0xD7


@inlined
def two_bytes_wide(at: int, masks: int, byte: int) -> int:
    """The lead bytes of all letters of two bytes of the alphabet that `byte` leads to, in the window at `at`."""
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
    """As `two_bytes_wide`; kana begin with E3 and 81 to 83."""
    if byte == 0xE3 and 0x81 <= second <= 0x83:
        kana_masks(at, masks)
        return kana(masks)
    return 0


@inlined
def _followed_by(lead: int, second: int) -> int:
    return lead & shift_right(second, 1)


@inlined
def latin(masks: int) -> int:
    """U+00C0 to U+017E but the signs of multiplication and division; U+017F, which folds to s, is not among them."""
    c3, c5 = load_i64(masks + LEAD_C3), load_i64(masks + LEAD_C5)
    in_c3 = _followed_by(c3, ~load_i64(masks + SIGNS))
    in_c5 = _followed_by(c5, ~load_i64(masks + ONLY_BF))
    return (in_c3 | load_i64(masks + LEAD_C4) | in_c5) & WHOLE


@inlined
def latin_upper(masks: int, letters: int) -> int:
    """Those of `latin` in upper case.

    From U+0100 on the even ones are, but between U+0138 and U+0148 and from U+0179 on the odd ones.
    """
    c4, c5 = load_i64(masks + LEAD_C4), load_i64(masks + LEAD_C5)
    odd_upper = _followed_by(c4, load_i64(masks + FROM_B8))
    odd_upper |= _followed_by(c5, load_i64(masks + UP_TO_88) | load_i64(masks + FROM_B9))
    odd = shift_right(load_i64(masks + ODD), 1)
    extended = (c4 | c5) & ~(odd ^ odd_upper)
    return letters & (_followed_by(load_i64(masks + LEAD_C3), load_i64(masks + UP_TO_9E)) | extended)


@inlined
def greek_lower(masks: int) -> int:
    """U+03AC to U+03CE."""
    ce = _followed_by(load_i64(masks + LEAD_CE), load_i64(masks + FROM_AC))
    return (ce | _followed_by(load_i64(masks + LEAD_CF), load_i64(masks + UP_TO_8E))) & WHOLE


@inlined
def semitic(masks: int) -> int:
    """Hebrew U+05D0 to U+05EA, Arabic U+0620 to U+063F and U+0641 to U+064A: letters without case."""
    hebrew = _followed_by(load_i64(masks + LEAD_D7), load_i64(masks + FROM_90_TO_AA))
    arabic = _followed_by(load_i64(masks + LEAD_D8), load_i64(masks + FROM_A0))
    return (hebrew | arabic | _followed_by(load_i64(masks + LEAD_D9), load_i64(masks + FROM_81_TO_8A))) & WHOLE


@inlined
def kana(masks: int) -> int:
    """Hiragana U+3041 to U+3096 and katakana U+30A1 to U+30FF but the middle dot: three bytes, without case."""
    second = _followed_by(load_i64(masks + ONLY_81), load_i64(masks + FROM_81))
    second |= _followed_by(load_i64(masks + ONLY_82), load_i64(masks + BUT_97_TO_A0))
    second |= _followed_by(load_i64(masks + ONLY_83), load_i64(masks + BUT_BB))
    return _followed_by(load_i64(masks + LEAD_E3), second) & (WHOLE >> 1)
