"""The window splitters of gpt2, cl100k (and llama3), qwen, o200k and tekken: find starts of pieces in 64 bytes.

Each is the bit-parallel twin of its pattern in `core.text.patterns`; tests compare them with `regex`. Below, a `run` is
a maximal stretch of one class; a character that `leads in` a run belongs to the same piece, as the last one of the
white space before a word does.

Skips the inside of words longer than a window: most of their letters cannot end a piece, whatever came before.

In every pattern that has windows a lower-case ASCII letter after another one continues the piece, and what the piece
began with no longer matters. So a piece that begins with a letter or a space, and continues with lower-case letters,
ends where a piece that begins at any of these letters would end.
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel, lowest_bit, prefetch, shift_left, shift_right, wrapping_add
from impls.compiled.language.pointers import address_of, from_item, word_at
from impls.compiled.language.typed_memory import U8s
from impls.compiled.layout import UNCOVERED, ContextRecord
from impls.compiled.pretokenize.bitparallel import (
    EDGE,
    LEAST,
    certain_starts,
    every_third,
    is_contraction,
    mark_ascii,
    mark_non_ascii,
    space_starts,
    spread,
    used_starts,
    write_starts,
)
from impls.compiled.pretokenize.deepseek import deepseek_starts
from impls.compiled.pretokenize.layout import CL100K, DEEPSEEK, GPT2, O200K, QWEN, TEKKEN, Masks
from impls.compiled.pretokenize.scan import piece_end
from impls.compiled.pretokenize.stages import begin_stages, stages_piece_end

READABLE = 96
"""Bytes that must be readable from a window's start on: its 64, and those read for a piece at its last byte."""
AHEAD_BYTES = 1024
"""Prefetch distance, in bytes of text."""
_TOPS = -0x7F7F7F7F7F7F7F80
"""0x80 in every byte."""
_FROM_A, _BEHIND_Z = 0x1F1F1F1F1F1F1F1F, 0x0505050505050505
"""Adding the first sets the top bit of every byte that is at least `a`; the second, of every byte after `z`."""
LEAST_RUN = 32


@inlined
def _are_small_letters(word: int) -> bool:
    """Return whether eight bytes are all `a` to `z`."""
    if word & _TOPS != 0:
        return False
    return wrapping_add(word, _FROM_A) & ~wrapping_add(word, _BEHIND_Z) & _TOPS == _TOPS


@kernel
def inner_start(text: U8s, n_bytes: int, start: int) -> int:
    """Return a position, `start` or later, from which a piece ends where the one that begins at `start` does."""
    first = text[start]
    if first != 0x20 and not 0x61 <= (first | 0x20) <= 0x7A:
        return start
    at = start + 1
    while at + 8 <= n_bytes and _are_small_letters(word_at(text, at)):
        at += 8
    return at - 8 if at - start > LEAST_RUN else start


@inlined
def _common_starts(masks: Masks, letters: int, blanks: int, punctuation: int, splitter: int) -> int:
    """Return the starts that all patterns but gpt2 have: of runs, of digits one by one or by threes, of white space."""
    digits, newlines = masks.digits, masks.newlines
    spaces = blanks | newlines
    # Punctuation begins a piece unless a space leads it in; a single such character leads in a run of letters.
    leading = punctuation & ~shift_left(punctuation, 1) & ~shift_left(masks.spaces, 1)
    continuation = masks.continuation
    letter_runs = letters & ~shift_left(letters, 1)
    led_in = wrapping_add(shift_left(leading, 1), continuation) & ~continuation & letter_runs
    starts = leading | (letter_runs & ~shift_left(blanks, 1) & ~led_in)
    if splitter == QWEN or splitter == TEKKEN:  # noqa: SIM109 - of a tuple Numba makes code that can raise
        starts |= digits
    else:
        starts |= every_third(digits)
    starts |= space_starts(newlines, blanks, punctuation)
    return starts | (blanks & ~shift_right(spaces, 1))


@inlined
def _split_contractions(starts: int, at: U8s, masks: Masks, letters: int, upper: int) -> int:
    """Return `starts` with the contractions of gpt2 and cl100k: one at the beginning of a piece is the whole piece.

    None has a letter in `upper`: gpt2's are lower case.
    """
    apostrophes = starts & masks.apostrophes & shift_right(letters & ~upper, 1)
    while apostrophes != 0:
        i = lowest_bit(apostrophes)
        apostrophes &= apostrophes - 1
        n = is_contraction(from_item(at, i))
        if n > 0 and i < 60 and (n == 1 or (shift_right(upper, i + 2) & 1) == 0):
            starts = (starts & ~shift_left(1, i + 1)) | (shift_left(1, i + 1 + n) & letters)
    return starts


@inlined
def _suffix_contractions(starts: int, at: U8s, masks: Masks, letters: int, size: int) -> int:
    """Return `starts` with o200k's contractions: one contraction after a word belongs to the word."""
    apostrophes = masks.apostrophes & shift_left(letters, 1) & shift_right(letters, 1)
    taken = -1
    while apostrophes != 0:
        i = lowest_bit(apostrophes)
        apostrophes &= apostrophes - 1
        if i < size - EDGE and i != taken:
            n = is_contraction(from_item(at, i))
            if n > 0:
                taken = i + 1 + n
                starts &= ~shift_left(1, i)
                if n == 2:
                    starts &= ~shift_left(1, i + 2)
                starts |= shift_left(1, taken) & letters
    return starts


@inlined
def _gpt2_starts(masks: Masks, letters: int, spaces: int, punctuation: int) -> int:
    digits = masks.digits
    starts = (letters & ~shift_left(letters, 1)) | (digits & ~shift_left(digits, 1))
    starts |= punctuation & ~shift_left(punctuation, 1)
    starts &= ~shift_left(masks.spaces, 1)  # a space leads in what follows
    return starts | (spaces & ~shift_left(spaces, 1)) | (spaces & ~shift_right(spaces, 1))


@inlined
def _starts(context: ContextRecord, at: U8s, masks: Masks, left: int, kind: int, splitter: int) -> tuple[int, int]:
    """Return the starts of pieces in the window at `at`, `left` bytes before the text's end, and the last of them.

    If it finds none, it returns 0. `kind` is a compile-time constant: GPT2, O200K (also for tekken, which has no
    contractions), CL100K (also for qwen).
    """
    mark_ascii(at, masks)
    cuts, certain = 0, certain_starts(masks)
    masks.continuation = 0
    if masks.high != 0:
        mark_non_ascii(context, at, masks, kind)
        cuts = masks.cuts
    letters, upper = masks.letters, masks.upper
    if kind == O200K:
        if masks.high != 0:
            # Upper case after a letter without case needs the automaton; so does a mark that follows no letter.
            cuts |= upper & shift_left(masks.any_case, 1)
            cuts |= masks.marks & ~masks.continuation & ~shift_left(letters, 1)
        # After punctuation a slash may follow line breaks.
        cuts |= shift_left(masks.newlines, 1) & masks.slashes
    size = min(min(64, lowest_bit(cuts)), left)
    if size < LEAST:
        return 0, 0
    blanks = masks.spaces | masks.other_spaces
    spaces = blanks | masks.newlines
    punctuation = ~(letters | masks.digits | spaces)
    if kind == GPT2:
        starts = _gpt2_starts(masks, letters, spaces, punctuation)
    else:
        starts = _common_starts(masks, letters, blanks, punctuation, splitter)
    if kind == O200K:
        starts |= upper & shift_left(letters & ~upper, 1)
        if splitter == O200K:
            starts = _suffix_contractions(starts, at, masks, letters, size)
    else:
        starts = _split_contractions(starts, at, masks, letters, spread(kind == GPT2, upper))
    return used_starts(starts, certain, spaces, size)


@inlined
def _block(
    context: ContextRecord, text: U8s, n_bytes: int, readable: int, start: int, limit: int, kind: int, splitter: int
) -> int:
    masks, ends = context.masks[0], context.ends
    n, window = 0, start
    while window < limit:
        starts, last = 0, 0
        if window + READABLE <= readable:
            prefetch(address_of(text) + window + AHEAD_BYTES)
            if kind == DEEPSEEK:
                starts, last = deepseek_starts(context, from_item(text, window), masks, n_bytes - window)
            else:
                starts, last = _starts(context, from_item(text, window), masks, n_bytes - window, kind, splitter)
        if starts != 0:
            n = write_starts(starts, window, ends, n)
            window += last
        else:
            if kind == DEEPSEEK:
                window = stages_piece_end(context, text, n_bytes, window)
            else:
                window = piece_end(context.stages[0], text, n_bytes, inner_start(text, n_bytes, window))
            if window < 0:
                return UNCOVERED
            ends[n] = window
            n += 1
    context.after = window
    return n


@kernel
def windows_block(
    context: ContextRecord, text: U8s, n_bytes: int, readable: int, start: int, limit: int, splitter: int
) -> int:
    """Split a block by the windows of the pattern `splitter`, as `scan.scan_block` does."""
    if splitter == DEEPSEEK:
        begin_stages(context, start)
        return _block(context, text, n_bytes, readable, start, limit, DEEPSEEK, splitter)
    if splitter == GPT2:
        return _block(context, text, n_bytes, readable, start, limit, GPT2, splitter)
    if splitter == O200K or splitter == TEKKEN:  # noqa: SIM109 - as above
        return _block(context, text, n_bytes, readable, start, limit, O200K, splitter)
    return _block(context, text, n_bytes, readable, start, limit, CL100K, splitter)
