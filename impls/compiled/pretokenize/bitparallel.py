"""What the bit-parallel splitters share: classes of the characters in 64 bytes, writing the ends of pieces, the loop.

A window begins where a piece begins. Bit algebra (shifts and carries, as in Langdale and Lemire 2019, "Parsing
gigabytes of JSON per second") marks where the next pieces begin. Only marks that no text beyond the window can change
are used, and the last of them is where the next window begins. A character outside the algebra (a digit or white space
beyond ASCII, a letter that folds to ASCII) cuts the window short; if nothing is left, the automaton finds one piece.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    bit_count,
    inlined,
    leading_zeros,
    lowest_bit,
    outlined,
    shift_left,
    shift_right,
    wrapping_add,
)
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import I32s, U8s
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.byte_masks import (
    HAS_COMPRESS,
    MOST_NUMBERS,
    WHOLE,
    ascii_masks,
    deepseek_masks,
    high_masks,
    is_semitic,
    three_bytes_wide,
    two_bytes_wide,
    write_numbers,
)
from impls.compiled.pretokenize.layout import DEEPSEEK, O200K, Masks
from impls.compiled.pretokenize.scan import code_point, of_code_point, width
from impls.core.pattern.flags import BOTH_CASES, CUT, LETTER, MARK, UPPER_CASE

EDGE = 4
"""Bytes before the end of a window whose marks may still change: the longest contraction has three bytes."""
LEAST = 8
"""Minimum size of a window that was cut short; smaller ones are left to the automaton."""


@inlined
def mark_ascii(at: U8s, masks: Masks) -> None:
    """Fill the masks of the ASCII classes, and that of bytes that are not ASCII."""
    letters, digits, newlines, spaces, other_spaces, apostrophes, high, upper, slashes = ascii_masks(at)
    masks.letters, masks.digits, masks.newlines = letters, digits, newlines
    masks.spaces, masks.other_spaces, masks.apostrophes = spaces, other_spaces, apostrophes
    masks.high, masks.upper, masks.slashes = high, upper, slashes


@inlined
def _three_wide(leads: int) -> int:
    """Return all bytes of the three-byte characters with these lead bytes."""
    return leads | shift_left(leads, 1) | shift_left(leads, 2)


@inlined
def spread(flag: int, bytes_: int) -> int:
    """Return `bytes_` if the flag is not 0, else 0."""
    return bytes_ if flag != 0 else 0


@outlined
def mark_non_ascii(context: ContextRecord, at: U8s, masks: Masks, kind: int) -> None:
    """Complete `letters` and fill `continuation` and `cuts` for a window that is not all ASCII.

    O200K distinguishes case, so `upper` is completed, and `any_case` and `marks` are filled. For DEEPSEEK marks are
    letters, `sinographs` is filled, and `cuts` holds those of ASCII already. Other kinds are alike.
    """
    continuation, d0, d1, ideographs, e4, e9, below_b0, below_a0, from_b8, last_of_e9 = high_masks(at)
    upper, any_case, marks, cuts, hangul = 0, 0, 0, 0, 0
    if kind == DEEPSEEK:
        hangul, last_of_e9 = deepseek_masks(at)
    # Letters without case: U+4E00 to U+9FBF (or U+9F7F), U+B000 to U+CFFF.
    two, three = d0 | d1, ideographs | (e4 & shift_right(from_b8, 1)) | (e9 & shift_right(last_of_e9, 1))
    if kind == O200K:
        upper_two = d0 & WHOLE & shift_right(below_b0, 1)
        upper = masks.upper | upper_two | shift_left(upper_two, 1)
        # The case of other letters is looked up.
        two &= WHOLE & (d0 | shift_right(below_a0, 1))
        any_case = _three_wide(three)
    if kind == DEEPSEEK:
        cuts = masks.cuts
        masks.sinographs = _three_wide(three & ~hangul)
    letters = masks.letters | two | shift_left(two, 1) | _three_wide(three)
    others = masks.high & ~(continuation | two | three)
    while others != 0:
        i = lowest_bit(others)
        byte = at[i]
        two, upper_two = two_bytes_wide(at, byte)
        three = 0
        if kind != DEEPSEEK:
            three = three_bytes_wide(at, byte, at[i + 1])
        if shift_right(two | three, i) & 1:
            letter_bytes = two | shift_left(two, 1) | _three_wide(three)
            letters |= letter_bytes
            others &= ~(two | three)
            if kind == O200K:
                upper |= upper_two | shift_left(upper_two, 1)
                if three != 0 or is_semitic(byte):
                    any_case |= letter_bytes
            continue
        others &= others - 1
        flags = of_code_point(context.flag_pages, context.character_flags, code_point(from_item(at, i), byte))
        bytes_ = shift_left(shift_left(1, width(byte)) - 1, i)
        letters |= spread(flags & LETTER, bytes_)
        cuts |= spread(flags & CUT, bytes_)
        if kind == O200K:
            upper |= spread(flags & UPPER_CASE, bytes_)
            any_case |= spread(flags & BOTH_CASES, bytes_)
            marks |= spread(flags & MARK, bytes_)
    masks.letters, masks.continuation, masks.cuts = letters, continuation, cuts
    if kind == O200K:
        masks.upper = upper
        masks.any_case = any_case
        masks.marks = marks


@inlined
def carried(starts: int, runs: int) -> int:
    """Return `starts`, which are bits of `runs`, each extended to the upper end of its run."""
    return runs & (~wrapping_add(runs, starts) | starts)


@inlined
def run_ends(starts: int, runs: int) -> int:
    """Return the first bit after the run of each of `starts`, which are bits of `runs`."""
    return wrapping_add(starts, runs) & ~runs


@inlined
def every_third(runs: int) -> int:
    """Return marks at every third byte of each run, beginning with its first."""
    inner = runs & shift_left(runs, 1) & shift_left(runs, 2) & shift_left(runs, 3)
    marks = more = runs & ~shift_left(runs, 1)
    while True:
        more = shift_left(more, 3) & inner
        if more == 0:
            return marks
        marks |= more


@inlined
def space_starts(newlines: int, blanks: int, punctuation: int) -> int:
    """Return where white space begins pieces.

    Line breaks right after punctuation belong to it; in other white space, everything up to the last line break is one
    piece, and the blanks after it begin another.
    """
    spaces = blanks | newlines
    if newlines == 0:
        return spaces & ~shift_left(spaces, 1)
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
def is_contraction(at: U8s) -> int:
    """Return the number of letters (0, 1 or 2) of an English contraction after the apostrophe at `at`, in any case."""
    first = at[1] | 32
    if first == 115 or first == 100 or first == 109 or first == 116:
        return 1
    second = at[2] | 32
    if (first == 108 and second == 108) or (first == 118 and second == 101) or (first == 114 and second == 101):
        return 2
    return 0


@inlined
def _final_starts(starts: int, spaces: int, size: int) -> int:
    """Return the marks a window of `size` bytes may use: none at 0, none near its end or in white space up to there."""
    usable = size - EDGE
    if shift_right(spaces, usable - 1) & 1:
        usable = last_start(~spaces & shift_right(-1, 65 - usable)) + 1
    return starts & shift_right(-1, 64 - usable) & ~1 if usable >= 2 else 0


@inlined
def write_starts(starts: int, window: int, ends: I32s, n: int) -> int:
    """Write `window` + the index of each of `starts`, ends of pieces, after `n` others; return how many there are now.

    To avoid a branch per piece, it writes MOST_NUMBERS numbers in all, or up to three too many.
    """
    n_new = bit_count(starts)
    end = n + n_new
    if HAS_COMPRESS and n_new <= MOST_NUMBERS:
        write_numbers(starts, window, from_item(ends, n))
        return end
    while starts != 0:
        for k in range(4):
            ends[n + k] = window + lowest_bit(starts)
            starts &= starts - 1
        n += 4
    return end


@inlined
def last_start(starts: int) -> int:
    """Return the index of the last of `starts`, which are not 0."""
    return 63 - leading_zeros(starts)


@inlined
def certain_starts(masks: Masks) -> int:
    """Return the spaces after an ASCII letter, except near the window's end: each begins a piece whatever follows."""
    return masks.spaces & shift_left(masks.letters, 1) & shift_right(-1, EDGE)


@inlined
def used_starts(starts: int, certain: int, spaces: int, size: int) -> tuple[int, int]:
    """Return those of `starts` that a window of `size` bytes may use, and the last of them.

    If there is a certain start, the next window begins there, so that it need not wait for the rest of this one: two
    comparisons find it.
    """
    if certain != 0 and size == 64:
        last = last_start(certain)
        return starts & shift_right(-1, 63 - last) & ~1, last
    starts = _final_starts(starts, spaces, size)
    return starts, last_start(starts)
