"""The window splitter of alphabets of characters: cuts a piece between two neighbours that no token holds side by side.

That depends on the two characters alone (`pattern/borders`), so no window waits for the one before it. Pairs of ASCII
are looked up by their two bytes; other characters, mostly SentencePiece's mark for a space, one by one by their class.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, lowest_bit, shift_left, shift_right
from impls.compiled.codegen.pointers import four_bytes, from_item, two_bytes
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.bitparallel import last_start
from impls.compiled.pretokenize.byte_masks import lead_masks
from impls.compiled.pretokenize.layout import Masks
from impls.compiled.pretokenize.scan import class_at, piece_end, width
from impls.compiled.pretokenize.windows import windowed
from impls.compiled.typed_memory import I32s, U8s
from impls.core.pattern.steps import CUT

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
def _starts(context: ContextRecord, at: U8s, masks: Masks, left: int, kind: int, splitter: int) -> tuple[int, int]:
    """Return the starts of pieces in a window, and the last of them; see `windows.windowed`."""
    pairs, starts = context.ascii_cuts, 0
    for i in range(0, 64, 8):
        starts |= shift_left(_eight(pairs, from_item(at, i)), i + 1)
    lead_masks(at, masks)
    within = shift_right(-1, 64 - min(64, left))
    leads = masks.leads & within
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
def _end_of_piece(context: ContextRecord, text: U8s, n_bytes: int, begin: int) -> int:
    return piece_end(context.automaton, text, n_bytes, begin)


neighbours_block = windowed(_starts, _end_of_piece)
