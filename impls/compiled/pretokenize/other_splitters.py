"""Splitters that few models need, in a separate object file: chained stages, deepseek's, alphabets of characters.

Several stages, or one with gaps: each stage cuts the pieces of the stage before, as if whole texts. A stage is a record
that has an automaton, as a context has, and the end of the stage's current piece; the last stage's ends are those of
the pieces.

Deepseek's three stages, the bit-parallel twin of NAMED["deepseek"]: digits by threes, runs of ideographs, all the rest.
A stage sees only its own part of the text: white space before digits or ideographs is at the end of its stage's part. A
character that is not a letter, mark, sign, digit or white space cuts a window short, and so do kana.

Alphabets of characters: a piece is cut between two neighbours that no token holds side by side. That depends on the two
characters alone (`pattern/borders`), so no window waits for the one before it. Pairs of ASCII are looked up by their
two bytes; other characters, mostly SentencePiece's mark for a space, one by one by their class.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, lowest_bit, shift_left, shift_right
from impls.compiled.codegen.pointers import four_bytes, from_item, two_bytes
from impls.compiled.layout import UNCOVERED, ContextRecord
from impls.compiled.pretokenize.bitparallel import (
    LEAST,
    certain_starts,
    every_third,
    last_start,
    mark_ascii,
    mark_for_deepseek,
    newline_starts,
    run_ends,
    used_starts,
    windowed,
)
from impls.compiled.pretokenize.byte_masks import control_mask, lead_mask
from impls.compiled.pretokenize.layout import DEEPSEEK, NEIGHBOURS, Masks, StageRecord
from impls.compiled.pretokenize.scan import class_at, piece_end, width
from impls.compiled.typed_memory import I32s, U8s
from impls.core.pattern.steps import CUT


@kernel
def _stage_end(stage: StageRecord, text: U8s, n_bytes: int, start: int) -> int:
    """Return the end of the stage's piece that begins at `start`; a gap ends where the pattern matches again."""
    end = piece_end(stage.automaton, text, n_bytes, start)
    if end >= 0 or stage.has_gaps == 0:
        return end
    position = start + width(text[start])
    while position < n_bytes and piece_end(stage.automaton, text, n_bytes, position) < 0:
        position += width(text[position])
    return position


@kernel
def begin_stages(context: ContextRecord) -> None:
    """Reset the stages for a new text."""
    for i in range(context.n_stages):
        context.stages[i].end = 0


@kernel
def piece_end_by_stages(context: ContextRecord, text: U8s, n_bytes: int, begin: int) -> int:
    """Return the end of the piece that begins at `begin` < n_bytes, or UNCOVERED.

    `begin` must never decrease within a text.
    """
    end = n_bytes
    for i in range(context.n_stages):
        stage = context.stages[i]
        if stage.end <= begin:
            end = _stage_end(stage, text, end, begin)
            if end < 0:
                return UNCOVERED
            stage.end = end
        end = stage.end
    return end


@kernel
def stages_block(context: ContextRecord, text: U8s, n_bytes: int, start: int, limit: int) -> int:
    """Split a block as `scan.scan_block` does.

    A text must be split from its start, block by block; call `begin_stages` before the first.
    """
    ends, n, begin = context.ends, 0, start
    while begin < limit:
        begin = piece_end_by_stages(context, text, n_bytes, begin)
        if begin < 0:
            return UNCOVERED
        ends[n] = begin
        n += 1
    context.after = begin
    return n


@inlined
def _mark_kinds(context: ContextRecord, at: U8s, masks: Masks) -> None:
    """Complete `letters` (with marks here), fill `continuation`, `sinographs` and `cuts` for any window."""
    masks.cuts = control_mask(at)
    masks.sinographs = 0
    if masks.high != 0:
        mark_for_deepseek(context, at, masks)


@inlined
def _all_deepseek_starts(masks: Masks, letters: int, blanks: int) -> int:
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
def _deepseek_starts(
    context: ContextRecord, at: U8s, masks: Masks, left: int, kind: int, splitter: int
) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them; see `bitparallel.windowed`."""
    mark_ascii(at, masks)
    certain = certain_starts(masks)
    masks.continuation = 0
    _mark_kinds(context, at, masks)
    size = min(min(64, lowest_bit(masks.cuts)), left)
    if size < LEAST:
        return 0, 0
    blanks = masks.spaces | masks.other_spaces
    starts = _all_deepseek_starts(masks, masks.letters, blanks)
    return used_starts(starts, certain, blanks | masks.newlines, size)


deepseek_block = windowed(_deepseek_starts, piece_end_by_stages)


SPACE, SPACE_BYTES = 0x2581, 0x8196E2
"""SentencePiece's mark for a space, and its UTF-8 as a number."""


@inlined
def _is_cut(transitions: I32s, stride: int, left: int, right: int) -> int:
    """Return 1 if a piece ends between characters of these two classes, else 0; class k leads to state 1 + k."""
    return 1 if transitions[(left + 1) * stride + right] & CUT else 0


@inlined
def _pair(pairs: U8s, at: U8s, bit: int) -> int:
    return shift_left(pairs[two_bytes(at, bit)], bit)


@inlined
def _eight(pairs: U8s, at: U8s) -> int:
    """Return a bit for each of eight ASCII bytes: whether a piece ends between it and the next byte, also ASCII."""
    low = _pair(pairs, at, 0) | _pair(pairs, at, 1) | _pair(pairs, at, 2) | _pair(pairs, at, 3)
    return low | _pair(pairs, at, 4) | _pair(pairs, at, 5) | _pair(pairs, at, 6) | _pair(pairs, at, 7)


@inlined
def _starts_by_neighbours(
    context: ContextRecord, at: U8s, masks: Masks, left: int, kind: int, splitter: int
) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them; see `bitparallel.windowed`."""
    pairs, starts = context.ascii_cuts, 0
    for i in range(0, 64, 8):
        starts |= shift_left(_eight(pairs, from_item(at, i)), i + 1)
    within = shift_right(-1, 64 - min(64, left))
    leads = lead_mask(at) & within
    if leads != 0:
        transitions, stride = context.automaton.transitions, context.automaton.end_class + 1
        ascii_classes = context.automaton.ascii_classes
        pages, page_classes = context.automaton.pages, context.automaton.page_classes
        next_at, class_before = -1, 0
        space = page_classes[(pages[SPACE >> 6] << 6) + (SPACE & 63)]
        while leads != 0:
            i = lowest_bit(leads)
            leads &= leads - 1
            byte = at[i]
            here = space
            if four_bytes(at, i) & 0xFFFFFF != SPACE_BYTES:
                here = class_at(ascii_classes, pages, page_classes, from_item(at, i), byte)
            if i > 0:
                before = class_before if i == next_at else ascii_classes[at[i - 1]]
                starts |= shift_left(_is_cut(transitions, stride, before, here), i)
            next_at, class_before = i + width(byte), here
            following = at[next_at]
            if next_at < 64 and following < 128:
                cut = _is_cut(transitions, stride, here, ascii_classes[following])
                starts |= shift_left(cut, next_at)
    starts &= within & ~1
    return starts, last_start(starts)


@inlined
def _end_by_automaton(context: ContextRecord, text: U8s, n_bytes: int, begin: int) -> int:
    return piece_end(context.automaton, text, n_bytes, begin)


neighbours_block = windowed(_starts_by_neighbours, _end_by_automaton)


@kernel
def split_otherwise(context: ContextRecord, text: U8s, n_bytes: int, readable: int, start: int, limit: int) -> int:
    """Split a block by a splitter that is one of OTHERS; arguments and result are those of `bitparallel.windowed`."""
    splitter = context.splitter
    if splitter == NEIGHBOURS:
        return neighbours_block(context, text, n_bytes, readable, start, limit, 0, 0)
    if start == 0:
        begin_stages(context)
    if splitter == DEEPSEEK:
        return deepseek_block(context, text, n_bytes, readable, start, limit, 0, 0)
    return stages_block(context, text, n_bytes, start, limit)
