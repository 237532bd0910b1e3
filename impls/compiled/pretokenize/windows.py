"""Splits a block of text 64 bytes at a time: the loop that all bit-parallel splitters share."""

from __future__ import annotations

from collections.abc import Callable

from impls.compiled.codegen.memory import inlined, prefetch, shift_left, shift_right
from impls.compiled.codegen.pointers import address_of, from_item
from impls.compiled.layout import UNCOVERED, ContextRecord
from impls.compiled.pretokenize.bitparallel import EDGE, READABLE, final_starts, last_start, write_starts
from impls.compiled.pretokenize.layout import Masks
from impls.compiled.typed_memory import U8s

AHEAD_BYTES = 1024
"""Prefetch distance, in bytes of text."""


def windowed(starts_in: Callable[..., tuple[int, int]], end_of_piece: Callable[..., int]) -> Callable[..., int]:
    """Return a kernel that splits a block as `scan.scan_block` does.

    `starts_in(context, at, masks, left, kind, splitter)` returns the starts in the window at `at`, `left` bytes before
    the text's end, and the last of them. If it finds none, it returns 0, and `end_of_piece(context, text, n_bytes,
    begin)` gives the end of one piece.
    """

    @inlined
    def block(
        context: ContextRecord,
        text: U8s,
        n_bytes: int,
        readable: int,
        start: int,
        limit: int,
        kind: int,
        splitter: int,
    ) -> int:
        masks, ends = context.masks[0], context.ends
        n, window = 0, start
        while window < limit:
            starts, last = 0, 0
            if window + READABLE <= readable:
                prefetch(address_of(text) + window + AHEAD_BYTES)
                starts, last = starts_in(context, from_item(text, window), masks, n_bytes - window, kind, splitter)
            if starts != 0:
                n = write_starts(starts, window, ends, n)
                window += last
            else:
                window = end_of_piece(context, text, n_bytes, window)
                if window < 0:
                    return UNCOVERED
                ends[n] = window
                n += 1
        context.after = window
        return n

    return block


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
    starts = final_starts(starts, spaces, size)
    return starts, last_start(starts)
