"""Finds starts of pieces in 64 bytes for deepseek's three stages: digits by threes, runs of ideographs, all the rest.

This is the bit-parallel twin of NAMED["deepseek"] in `patterns`; for patterns of one stage see `bitparallel_patterns`.
A stage sees only its own part of the text: white space before digits or ideographs is at the end of its stage's part. A
character that is not a letter, mark, sign, digit or white space cuts a window short, and so do kana.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, load_i64, lowest_bit, shift_left, shift_right, store_64
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.bitparallel import (
    CUTS,
    LEAST,
    SINOGRAPHS,
    every_third,
    mark_for_deepseek,
    newline_starts,
    run_ends,
)
from impls.compiled.pretokenize.byte_masks import (
    CONTINUATION,
    CONTROLS,
    DIGITS,
    HIGH,
    LETTERS,
    NEWLINES,
    OTHER_SPACES,
    SPACES,
    ascii_masks,
    deepseek_masks,
)
from impls.compiled.pretokenize.stages import piece_end_by_stages
from impls.compiled.pretokenize.windows import certain_starts, used_starts, windowed


@inlined
def _mark_kinds(context: ContextRecord, at: int, masks: int) -> None:
    """Complete LETTERS (which include marks here) and fill CONTINUATION, SINOGRAPHS and CUTS for any window."""
    deepseek_masks(at, masks)
    store_64(masks + CUTS, load_i64(masks + CONTROLS))
    store_64(masks + SINOGRAPHS, 0)
    if load_i64(masks + HIGH) != 0:
        mark_for_deepseek(context, at, masks)


@inlined
def _all_starts(masks: int, letters: int, blanks: int) -> int:
    """Return where pieces begin, by the masks that `_mark_kinds` filled."""
    digits, newlines = load_i64(masks + DIGITS), load_i64(masks + NEWLINES)
    high, sinographs = load_i64(masks + HIGH), load_i64(masks + SINOGRAPHS)
    spaces = blanks | newlines
    punctuation = ~(letters | digits | spaces)
    words = letters & ~sinographs
    leading = punctuation & ~shift_left(punctuation, 1) & ~shift_left(load_i64(masks + SPACES), 1)
    # One ASCII sign begins a piece together with ASCII letters; other letters after these begin a new piece.
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
    # The last blank belongs to what follows, unless that belongs to another stage.
    return starts | (blanks & ~shift_right(spaces | digits | sinographs, 1))


@inlined
def _starts(context: ContextRecord, at: int, masks: int, left: int, kind: int, splitter: int) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them; see `windows.windowed`."""
    ascii_masks(at, masks)
    certain = certain_starts(masks)
    store_64(masks + CONTINUATION, 0)
    _mark_kinds(context, at, masks)
    size = min(min(64, lowest_bit(load_i64(masks + CUTS))), left)
    if size < LEAST:
        return 0, 0
    blanks = load_i64(masks + SPACES) | load_i64(masks + OTHER_SPACES)
    starts = _all_starts(masks, load_i64(masks + LETTERS), blanks)
    return used_starts(starts, certain, blanks | load_i64(masks + NEWLINES), size)


deepseek_block = windowed(_starts, piece_end_by_stages)
