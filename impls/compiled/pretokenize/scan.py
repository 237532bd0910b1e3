"""Splits by the automaton: decodes UTF-8 on the fly, one table step per character, with restarts part of the table.

Input is valid UTF-8, so a character is never cut off by the end of the text.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_u8,
    load_u16,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    UNCOVERED,
    ContextRecord,
    StageRecord,
)
from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME


@inlined
def width(byte: int) -> int:
    """Return the number of bytes of the character whose lead byte is `byte`."""
    return 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)


@inlined
def code_point(at: int, byte: int) -> int:
    """Return the code point of the multi-byte character at `at`, whose lead byte is `byte`."""
    if byte < 0xE0:
        return ((byte & 31) << 6) | (load_u8(at + 1) & 63)
    if byte < 0xF0:
        return ((byte & 15) << 12) | ((load_u8(at + 1) & 63) << 6) | (load_u8(at + 2) & 63)
    high = ((byte & 7) << 18) | ((load_u8(at + 1) & 63) << 12)
    return high | ((load_u8(at + 2) & 63) << 6) | (load_u8(at + 3) & 63)


@inlined
def class_at(ascii_classes: int, pages: int, page_classes: int, at: int, byte: int) -> int:
    """Return the class of the character at `at`, whose lead byte is `byte`."""
    if byte < 128:
        return load_u8(ascii_classes + byte)
    code = code_point(at, byte)
    return load_u8(page_classes + (load_u16(pages + 2 * (code >> 6)) << 6) + (code & 63))


@kernel
def piece_end(context: ContextRecord | StageRecord, text: int, n_bytes: int, start: int) -> int:
    """Return the end of the piece that begins at `start` < n_bytes, or UNCOVERED if none begins there."""
    transitions, ascii_classes = context.transitions, context.ascii_classes
    pages, page_classes = context.pages, context.page_classes
    row, last, position = 0, -1, start
    while position < n_bytes:
        byte = load_u8(text + position)
        entry = load_i32(transitions + 4 * (row + class_at(ascii_classes, pages, page_classes, text + position, byte)))
        if entry & (MATCH_BEFORE | CUT | RESUME):
            if entry & CUT:
                return position
            if entry & RESUME:
                return last if last > start else UNCOVERED
            last = position
        row = entry >> FLAG_BITS
        position += width(byte)
    entry = load_i32(transitions + 4 * (row + context.end_class))
    if entry & CUT:
        return n_bytes
    return last if last > start else UNCOVERED


@kernel
def scan_block(
    context: ContextRecord | StageRecord, text: int, n_bytes: int, start: int, limit: int, ends: int, state: int
) -> int:
    """Write the ends (int32) of pieces from `start` until one is at `limit` or later; return how many, or UNCOVERED.

    The end of the last piece is stored as the int64 at `state`.
    """
    transitions, ascii_classes = context.transitions, context.ascii_classes
    pages, page_classes = context.pages, context.page_classes
    at = ends
    row, last, position, begin = 0, start, start, start
    while position < n_bytes:
        byte = load_u8(text + position)
        entry = load_i32(transitions + 4 * (row + class_at(ascii_classes, pages, page_classes, text + position, byte)))
        store_32(at, position)
        if entry & CUT:
            at += 4
            begin = position
            if position >= limit:
                store_64(state, position)
                return (at - ends) >> 2
        if entry & MATCH_BEFORE:
            last = position
        row = entry >> FLAG_BITS
        position += width(byte)
        if entry & RESUME:
            if last <= begin:
                return UNCOVERED
            store_32(at, last)
            at += 4
            row, position, begin = 0, last, last
            if last >= limit:
                store_64(state, last)
                return (at - ends) >> 2
    while begin < n_bytes and begin < limit:
        begin = piece_end(context, text, n_bytes, begin)
        if begin < 0:
            return UNCOVERED
        store_32(at, begin)
        at += 4
    store_64(state, begin)
    return (at - ends) >> 2
