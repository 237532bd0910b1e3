"""Finds starts of pieces in 64 bytes for deepseek's three stages: digits by threes, runs of ideographs, all the rest.

This is the bit-parallel twin of NAMED["deepseek"] in `patterns`; for patterns of one stage see `bitparallel_patterns`.
A stage sees only its own part of the text: white space before digits or ideographs is at the end of its stage's part. A
character that is not a letter, mark, sign, digit or white space cuts a window short, and so do kana.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, lowest_bit, shift_left, shift_right
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.bitparallel import (
    LEAST,
    every_third,
    mark_for_deepseek,
    newline_starts,
    run_ends,
)
from impls.compiled.pretokenize.byte_masks import (
    ascii_masks,
    deepseek_masks,
)
from impls.compiled.pretokenize.layout import Masks
from impls.compiled.pretokenize.stages import piece_end_by_stages
from impls.compiled.pretokenize.windows import certain_starts, used_starts, windowed
from impls.compiled.typed_memory import U8s


@inlined
def _mark_kinds(context: ContextRecord, at: U8s, masks: Masks) -> None:
    """Complete `letters` (with marks here), fill `continuation`, `sinographs` and `cuts` for any window."""
    deepseek_masks(at, masks)
    masks.cuts = masks.controls
    masks.sinographs = 0
    if masks.high != 0:
        mark_for_deepseek(context, at, masks)


@inlined
def _all_starts(masks: Masks, letters: int, blanks: int) -> int:
    """Return where pieces begin, by the masks that `_mark_kinds` filled."""
    digits, newlines = masks.digits, masks.newlines
    high, sinographs = masks.high, masks.sinographs
    spaces = blanks | newlines
    punctuation = ~(letters | digits | spaces)
    words = letters & ~sinographs
    leading = punctuation & ~shift_left(punctuation, 1) & ~shift_left(masks.spaces, 1)
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
def _starts(context: ContextRecord, at: U8s, masks: Masks, left: int, kind: int, splitter: int) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them; see `windows.windowed`."""
    ascii_masks(at, masks)
    certain = certain_starts(masks)
    masks.continuation = 0
    _mark_kinds(context, at, masks)
    size = min(min(64, lowest_bit(masks.cuts)), left)
    if size < LEAST:
        return 0, 0
    blanks = masks.spaces | masks.other_spaces
    starts = _all_starts(masks, masks.letters, blanks)
    return used_starts(starts, certain, blanks | masks.newlines, size)


deepseek_block = windowed(_starts, piece_end_by_stages)
