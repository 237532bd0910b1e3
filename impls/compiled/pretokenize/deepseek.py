"""The bit-parallel twin of NAMED["deepseek"], of three stages: digits by threes, runs of ideographs, all the rest.

A stage sees only its own part of the text: white space before digits or ideographs is at the end of its stage's part. A
character that is not a letter, mark, sign, digit or white space cuts a window short, and so do kana.
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, lowest_bit, shift_left, shift_right
from impls.compiled.language.typed_memory import U8s
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.bitparallel import (
    LEAST,
    certain_starts,
    every_third,
    mark_ascii,
    mark_non_ascii,
    run_ends,
    space_starts,
    used_starts,
)
from impls.compiled.pretokenize.byte_masks import control_mask
from impls.compiled.pretokenize.layout import DEEPSEEK, Masks


@inlined
def _all_deepseek_starts(masks: Masks, letters: int, blanks: int) -> int:
    """Return where pieces begin, by the masks of the window."""
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
    starts |= every_third(digits)
    starts |= space_starts(newlines, blanks, punctuation)
    # The last blank belongs to what follows, unless that belongs to another stage.
    return starts | (blanks & ~shift_right(spaces | digits | sinographs, 1))


@inlined
def deepseek_starts(context: ContextRecord, at: U8s, masks: Masks, left: int) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them, as `bitparallel_patterns` does for others."""
    mark_ascii(at, masks)
    certain = certain_starts(masks)
    masks.continuation = masks.sinographs = 0
    masks.cuts = control_mask(at)[0]
    if masks.high != 0:
        mark_non_ascii(context, at, masks, DEEPSEEK)
    size = min(min(64, lowest_bit(masks.cuts)), left)
    if size < LEAST:
        return 0, 0
    blanks = masks.spaces | masks.other_spaces
    starts = _all_deepseek_starts(masks, masks.letters, blanks)
    return used_starts(starts, certain, blanks | masks.newlines, size)
