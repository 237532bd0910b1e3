"""Starts of pieces in 64 bytes for deepseek's three stages: digits by threes, runs of ideographs, everything else.

The bit-parallel twin of NAMED["deepseek"] in `patterns`; for patterns of one stage see `bitparallel_patterns`. A stage
sees only its own part of the text: where digits or ideographs begin, white space before them is at the end of its part.
A character that is no letter, mark, sign, digit or white space cuts a window short, and so do kana.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i64,
    load_u8,
    lowest_bit,
    shift_left,
    shift_right,
    store_64,
)
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.alphabets import two_bytes_wide
from impls.compiled.pretokenize.bitparallel import (
    ANY_CASE,
    CUTS,
    every_third,
    flags_at,
    newline_starts,
    run_ends,
    spread,
)
from impls.compiled.pretokenize.byte_masks import (
    CONTINUATION,
    CONTROLS,
    CYRILLIC_D0,
    CYRILLIC_D1,
    DIGITS,
    FROM_B8,
    HANGUL,
    HIGH,
    IDEOGRAPHS,
    LEAD_E4,
    LEAD_E9,
    LETTERS,
    NEWLINES,
    SPACES,
    UP_TO_BD,
    deepseek_masks,
    high_masks,
)
from impls.compiled.pretokenize.scan import width
from impls.core.pattern.flags import CUT, LETTER

SINOGRAPHS = ANY_CASE
"""The ideographs of the second stage; the slot is free, as this pattern does not distinguish case."""


@kernel
def mark_kinds(context: ContextRecord, at: int, masks: int) -> None:
    """Complete LETTERS (which include marks here) and fill CONTINUATION, SINOGRAPHS and CUTS for any window."""
    deepseek_masks(at, masks)
    cuts = load_i64(masks + CONTROLS)
    store_64(masks + SINOGRAPHS, 0)
    if load_i64(masks + HIGH) == 0:
        store_64(masks + CUTS, cuts)
        return
    high_masks(at, masks)
    continuation = load_i64(masks + CONTINUATION)
    two = load_i64(masks + CYRILLIC_D0) | load_i64(masks + CYRILLIC_D1)
    hangul = load_i64(masks + IDEOGRAPHS) & load_i64(masks + HANGUL)
    e4 = load_i64(masks + LEAD_E4) & shift_right(load_i64(masks + FROM_B8), 1)
    e9 = load_i64(masks + LEAD_E9) & shift_right(load_i64(masks + UP_TO_BD), 1)
    sinographs = (load_i64(masks + IDEOGRAPHS) & ~hangul) | e4 | e9
    three = sinographs | hangul
    letters = load_i64(masks + LETTERS) | two | shift_left(two, 1)
    letters |= three | shift_left(three, 1) | shift_left(three, 2)
    store_64(masks + SINOGRAPHS, sinographs | shift_left(sinographs, 1) | shift_left(sinographs, 2))
    others = load_i64(masks + HIGH) & ~(continuation | two | three)
    while others != 0:
        i = lowest_bit(others)
        byte = load_u8(at + i)
        two = two_bytes_wide(at, masks, byte)
        if shift_right(two, i) & 1:
            letters |= two | shift_left(two, 1)
            others &= ~two
            continue
        others &= others - 1
        flags = flags_at(context, at + i, byte)
        bytes_ = shift_left(shift_left(1, width(byte)) - 1, i)
        letters |= spread(flags & LETTER, bytes_)
        cuts |= spread(flags & CUT, bytes_)
    store_64(masks + LETTERS, letters)
    store_64(masks + CUTS, cuts)


@inlined
def deepseek_starts(masks: int, letters: int, blanks: int) -> int:
    """Return where pieces begin; LETTERS and SINOGRAPHS are those of `mark_kinds`."""
    digits, newlines = load_i64(masks + DIGITS), load_i64(masks + NEWLINES)
    high, sinographs = load_i64(masks + HIGH), load_i64(masks + SINOGRAPHS)
    spaces = blanks | newlines
    punctuation = ~(letters | digits | spaces)
    words = letters & ~sinographs
    leading = punctuation & ~shift_left(punctuation, 1) & ~shift_left(load_i64(masks + SPACES), 1)
    # One ASCII sign leads in ASCII letters; other letters after these begin a piece.
    plain = words & ~high
    led_in = shift_left(leading & ~high, 1) & plain
    starts = leading | (words & ~shift_left(words, 1) & ~shift_left(blanks, 1) & ~led_in)
    starts |= run_ends(led_in, plain) & words
    starts |= sinographs & ~shift_left(sinographs, 1)
    starts |= every_third(digits & ~shift_left(digits, 1), digits)
    if newlines != 0:
        starts |= newline_starts(newlines, blanks, punctuation)
    else:
        starts |= spaces & ~shift_left(spaces, 1)
    # The last blank belongs to what follows, unless that is another stage's.
    return starts | (blanks & ~shift_right(spaces | digits | sinographs, 1))
