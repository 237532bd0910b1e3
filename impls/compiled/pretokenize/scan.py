"""Splits by the automaton: decodes UTF-8 on the fly, one table step per character, with restarts part of the table.

Input is valid UTF-8, so a character is never cut off by the end of the text.
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import Numbers, U8s, U16s
from impls.compiled.layout import UNCOVERED, ContextRecord
from impls.compiled.pretokenize.layout import Automaton
from impls.core.pattern.steps import CUT, FLAG_BITS, MATCH_BEFORE, RESUME


@inlined
def width(byte: int) -> int:
    """Return the number of bytes of the character whose lead byte is `byte`."""
    return 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)


@inlined
def code_point(at: U8s, byte: int) -> int:
    """Return the code point of the multi-byte character at `at`, whose lead byte is `byte`."""
    if byte < 0xE0:
        return ((byte & 31) << 6) | (at[1] & 63)
    if byte < 0xF0:
        return ((byte & 15) << 12) | ((at[1] & 63) << 6) | (at[2] & 63)
    high = ((byte & 7) << 18) | ((at[1] & 63) << 12)
    return high | ((at[2] & 63) << 6) | (at[3] & 63)


@inlined
def of_code_point(pages: U16s, by_page: Numbers, code: int) -> int:
    """Return what a table of two levels holds for a code point."""
    return by_page[(pages[code >> 6] << 6) + (code & 63)]


@inlined
def class_at(ascii_classes: U8s, pages: U16s, page_classes: U8s, at: U8s, byte: int) -> int:
    """Return the class of the character at `at`, whose lead byte is `byte`."""
    if byte < 128:
        return ascii_classes[byte]
    return of_code_point(pages, page_classes, code_point(at, byte))


@kernel
def piece_end(automaton: Automaton, text: U8s, n_bytes: int, start: int) -> int:
    """Return the end of the piece that begins at `start` < n_bytes, or UNCOVERED if none begins there."""
    transitions, ascii_classes = automaton.transitions, automaton.ascii_classes
    pages, page_classes = automaton.pages, automaton.page_classes
    row, last, position = 0, -1, start
    while position < n_bytes:
        byte = text[position]
        entry = transitions[row + class_at(ascii_classes, pages, page_classes, from_item(text, position), byte)]
        if entry & (MATCH_BEFORE | CUT | RESUME):
            if entry & CUT:
                return position
            if entry & RESUME:
                return last if last > start else UNCOVERED
            last = position
        row = entry >> FLAG_BITS
        position += width(byte)
    entry = transitions[row + automaton.end_class]
    if entry & CUT:
        return n_bytes
    return last if last > start else UNCOVERED


@kernel
def scan_block(context: ContextRecord, text: U8s, n_bytes: int, start: int, limit: int) -> int:
    """Write the ends of pieces from `start` until one is at `limit` or later; return how many, or UNCOVERED.

    The end of the last piece is stored in the context as AFTER.
    """
    automaton = context.stages[0]
    transitions, ascii_classes = automaton.transitions, automaton.ascii_classes
    pages, page_classes = automaton.pages, automaton.page_classes
    ends, n = context.ends, 0
    row, last, position, begin = 0, start, start, start
    while position < n_bytes:
        byte, following = text[position], position + 1
        if byte < 128:
            entry = transitions[row + ascii_classes[byte]]
        else:
            code = code_point(from_item(text, position), byte)
            entry = transitions[row + of_code_point(pages, page_classes, code)]
            following = position + width(byte)
        ends[n] = position
        if entry & CUT:
            n += 1
            begin = position
            if position >= limit:
                context.after = position
                return n
        if entry & MATCH_BEFORE:
            last = position
        row = entry >> FLAG_BITS
        position = following
        if entry & RESUME:
            if last <= begin:
                return UNCOVERED
            ends[n] = last
            n += 1
            row, position, begin = 0, last, last
            if last >= limit:
                context.after = last
                return n
    while begin < n_bytes and begin < limit:
        begin = piece_end(automaton, text, n_bytes, begin)
        if begin < 0:
            return UNCOVERED
        ends[n] = begin
        n += 1
    context.after = begin
    return n
