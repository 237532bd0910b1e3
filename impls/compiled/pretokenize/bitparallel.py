"""What the bit-parallel splitters share: classes of the characters in 64 bytes, and writing the ends of pieces.

A window begins where a piece begins. Bit algebra (shifts and carries, as in Langdale and Lemire 2019, "Parsing
gigabytes of JSON per second") marks where the next pieces begin. Only marks that no text beyond the window can change
are used, and the last of them is where the next window begins. A character outside the algebra (a digit or white space
beyond ASCII, a letter that folds to ASCII) cuts the window short; if nothing is left, the automaton finds one piece.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    bit_count,
    inlined,
    kernel,
    leading_zeros,
    load_i64,
    load_u8,
    load_u16,
    lowest_bit,
    shift_left,
    shift_right,
    store_32,
    store_64,
    wrapping_add,
)
from impls.compiled.layout import CL100K, DEEPSEEK, O200K, ContextRecord
from impls.compiled.pretokenize.alphabets import (
    WHOLE,
    is_latin,
    is_semitic,
    latin_upper,
    three_bytes_wide,
    two_bytes_wide,
)
from impls.compiled.pretokenize.byte_masks import (
    BELOW_A0,
    BELOW_B0,
    CONTINUATION,
    CYRILLIC_D0,
    CYRILLIC_D1,
    FROM_B8,
    HANGUL,
    HAS_COMPRESS,
    HIGH,
    IDEOGRAPHS,
    LEAD_E4,
    LEAD_E9,
    LETTERS,
    MOST_NUMBERS,
    UP_TO_BD,
    UP_TO_BE,
    UPPER,
    high_masks,
    write_numbers,
)
from impls.compiled.pretokenize.scan import code_point, width
from impls.core.pattern.flags import BOTH_CASES, CUT, LETTER, MARK, UPPER_CASE

READABLE = 96
"""Bytes that must be readable from a window's start on: its 64, and those read for a piece at its last byte."""
EDGE = 4
"""Bytes before the end of a window whose marks may still change: the longest contraction has three bytes."""
LEAST = 8
"""Minimum size of a window that was cut short; smaller ones are left to the automaton."""
# Offsets of masks, in addition to those of `pretokenize/byte_masks`
ANY_CASE, MARKS, CUTS = 160, 168, 176
SINOGRAPHS = ANY_CASE
"""Offset of the ideographs of deepseek's second stage; that pattern does not distinguish case."""


@inlined
def flags_at(context: ContextRecord, at: int, byte: int) -> int:
    """Return the flags (`core/pattern/flags`) of the character at `at` whose lead byte is `byte`."""
    code = code_point(at, byte)
    page = load_u16(context.flag_pages + 2 * (code >> 6))
    return load_u8(context.character_flags + (page << 6) + (code & 63))


@inlined
def _ideographs(masks: int, up_to: int) -> int:
    """Return the lead bytes of three-byte letters without case: U+4E00 to U+9FBF (or U+9F7F), U+B000 to U+CFFF.

    `up_to` is the mask of the second bytes allowed after E9: UP_TO_BE (or UP_TO_BD).
    """
    e4 = load_i64(masks + LEAD_E4) & shift_right(load_i64(masks + FROM_B8), 1)
    e9 = load_i64(masks + LEAD_E9) & shift_right(load_i64(masks + up_to), 1)
    return load_i64(masks + IDEOGRAPHS) | e4 | e9


@inlined
def _three_wide(leads: int) -> int:
    """Return all bytes of the three-byte characters with these lead bytes."""
    return leads | shift_left(leads, 1) | shift_left(leads, 2)


@inlined
def spread(flag: int, bytes_: int) -> int:
    """Return `bytes_` if the flag is not 0, else 0."""
    return bytes_ if flag != 0 else 0


@inlined
def _mark_non_ascii(context: ContextRecord, at: int, masks: int, kind: int) -> None:
    """Complete LETTERS and fill CONTINUATION and CUTS for a window that is not all ASCII.

    `kind` is a compile-time constant: O200K distinguishes case, so UPPER is completed, and ANY_CASE and MARKS are
    filled; for DEEPSEEK SINOGRAPHS is filled, and CUTS holds those of ASCII already.
    """
    high_masks(at, masks)
    continuation = load_i64(masks + CONTINUATION)
    two = load_i64(masks + CYRILLIC_D0) | load_i64(masks + CYRILLIC_D1)
    three = _ideographs(masks, UP_TO_BD if kind == DEEPSEEK else UP_TO_BE)
    upper, any_case, marks, cuts = 0, 0, 0, 0
    if kind == O200K:
        upper_two = load_i64(masks + CYRILLIC_D0) & WHOLE & shift_right(load_i64(masks + BELOW_B0), 1)
        upper = load_i64(masks + UPPER) | upper_two | shift_left(upper_two, 1)
        # The case of other letters is looked up.
        two &= WHOLE & (load_i64(masks + CYRILLIC_D0) | shift_right(load_i64(masks + BELOW_A0), 1))
        any_case = _three_wide(three)
    if kind == DEEPSEEK:
        cuts = load_i64(masks + CUTS)
        store_64(masks + SINOGRAPHS, _three_wide(three & ~load_i64(masks + HANGUL)))
    letters = load_i64(masks + LETTERS) | two | shift_left(two, 1) | _three_wide(three)
    others = load_i64(masks + HIGH) & ~(continuation | two | three)
    while others != 0:
        i = lowest_bit(others)
        byte = load_u8(at + i)
        two, three = two_bytes_wide(at, masks, byte), 0
        if kind != DEEPSEEK:
            three = three_bytes_wide(at, masks, byte, load_u8(at + i + 1))
        if shift_right(two | three, i) & 1:
            found = two | shift_left(two, 1) | _three_wide(three)
            letters |= found
            others &= ~(two | three)
            if kind == O200K and is_latin(byte):
                upper_two = latin_upper(masks, two)
                upper |= upper_two | shift_left(upper_two, 1)
            elif kind == O200K and (three != 0 or is_semitic(byte)):
                any_case |= found
            continue
        others &= others - 1
        flags = flags_at(context, at + i, byte)
        bytes_ = shift_left(shift_left(1, width(byte)) - 1, i)
        letters |= spread(flags & LETTER, bytes_)
        cuts |= spread(flags & CUT, bytes_)
        if kind == O200K:
            upper |= spread(flags & UPPER_CASE, bytes_)
            any_case |= spread(flags & BOTH_CASES, bytes_)
            marks |= spread(flags & MARK, bytes_)
    store_64(masks + LETTERS, letters)
    store_64(masks + CUTS, cuts)
    if kind == O200K:
        store_64(masks + UPPER, upper)
        store_64(masks + ANY_CASE, any_case)
        store_64(masks + MARKS, marks)


@kernel
def mark_non_ascii(context: ContextRecord, at: int, masks: int) -> None:
    """Complete LETTERS and fill CONTINUATION and CUTS for a window that is not all ASCII."""
    _mark_non_ascii(context, at, masks, CL100K)


@kernel
def mark_non_ascii_with_case(context: ContextRecord, at: int, masks: int) -> None:
    """Mark as `mark_non_ascii` does, for a pattern that distinguishes case: complete UPPER, fill ANY_CASE and MARKS."""
    _mark_non_ascii(context, at, masks, O200K)


@kernel
def mark_for_deepseek(context: ContextRecord, at: int, masks: int) -> None:
    """Mark as `mark_non_ascii` does, with marks as letters; also fill SINOGRAPHS, and keep the bits already in CUTS."""
    _mark_non_ascii(context, at, masks, DEEPSEEK)


@inlined
def carried(starts: int, runs: int) -> int:
    """Return `starts`, which are bits of `runs`, each extended to the upper end of its run."""
    return runs & (~wrapping_add(runs, starts) | starts)


@inlined
def run_ends(starts: int, runs: int) -> int:
    """Return the first bit after the run of each of `starts`, which are bits of `runs`."""
    return wrapping_add(starts, runs) & ~runs


@inlined
def every_third(run_starts: int, runs: int) -> int:
    """Return marks at every third byte of each run, beginning with its first."""
    inner = runs & shift_left(runs, 1) & shift_left(runs, 2) & shift_left(runs, 3)
    marks = run_starts
    more = run_starts
    while True:
        more = shift_left(more, 3) & inner
        if more == 0:
            return marks
        marks |= more


@inlined
def newline_starts(newlines: int, blanks: int, punctuation: int) -> int:
    """Return where white space begins pieces, in a window that has line breaks.

    Line breaks right after punctuation belong to it; in other white space, everything up to the last line break is one
    piece, and the blanks after it begin another.
    """
    spaces = blanks | newlines
    attached = shift_left(punctuation, 1) & newlines
    free = spaces & ~carried(attached, newlines)
    starts = free & ~shift_left(free, 1)
    blank_starts = shift_left(newlines, 1) & blanks
    if run_ends(blank_starts, blanks) & newlines == 0:
        return starts | blank_starts
    while blank_starts != 0:
        first = blank_starts & -blank_starts
        blank_starts &= blank_starts - 1
        end = run_ends(first, blanks)
        end &= ~(first - 1)
        if (end & -end & newlines) == 0:
            starts |= first
    return starts


@inlined
def is_contraction(at: int) -> int:
    """Return the number of letters (0, 1 or 2) of an English contraction after the apostrophe at `at`, in any case."""
    first = load_u8(at + 1) | 32
    if first == 115 or first == 100 or first == 109 or first == 116:
        return 1
    second = load_u8(at + 2) | 32
    if (first == 108 and second == 108) or (first == 118 and second == 101) or (first == 114 and second == 101):
        return 2
    return 0


@inlined
def final_starts(starts: int, spaces: int, size: int) -> int:
    """Return the marks a window of `size` bytes may use: none at 0, none near its end or in white space up to there."""
    usable = size - EDGE
    if shift_right(spaces, usable - 1) & 1:
        others = ~spaces & shift_right(-1, 65 - usable)
        usable = 64 - leading_zeros(others)
    if usable < 2:
        return 0
    return starts & shift_right(-1, 64 - usable) & ~1


@inlined
def write_starts(starts: int, window: int, at: int) -> int:
    """Write `window` + the index of each of `starts`: ends of pieces, int32; return the end of the output.

    To avoid a branch per piece, it writes MOST_NUMBERS numbers in all, or up to three too many.
    """
    n = bit_count(starts)
    end = at + 4 * n
    if HAS_COMPRESS and n <= MOST_NUMBERS:
        write_numbers(starts, window, at)
        return end
    while starts != 0:
        for k in range(4):
            store_32(at + 4 * k, window + lowest_bit(starts))
            starts &= starts - 1
        at += 16
    return end


@inlined
def last_start(starts: int) -> int:
    """Return the index of the last of `starts`, which are not 0."""
    return 63 - leading_zeros(starts)
