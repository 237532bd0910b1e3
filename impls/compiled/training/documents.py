"""Finds the documents of a block of a text file: checks its UTF-8, and finds where each document ends.

The rule is that of `impls.core.text.blocks`; the tests compare the two. Lines between which the pattern certainly cuts
are one text: splitting them together gives the pieces of each.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, lowest_bit, shift_right, wrapping_add
from impls.compiled.codegen.pointers import from_item, word_at
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.scan import class_at, width
from impls.compiled.typed_memory import I64s, U8s

LINE_END = 0x0A
ONES = 0x0101010101010101
HIGH_BITS = -0x7F7F7F7F7F7F7F80
"""A mask of the highest bit of each of 8 bytes."""


@inlined
def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80


@inlined
def _is_character(at: U8s, byte: int) -> bool:
    """Return whether a valid character is at `at`, whose lead byte is `byte`, 0x80 or above; its bytes can be read."""
    if byte < 0xC2 or byte > 0xF4:
        return False
    second = at[1]
    if byte < 0xE0:
        return _is_continuation(second)
    if not _is_continuation(second) or not _is_continuation(at[2]):
        return False
    if byte < 0xF0:
        # Neither overlong, nor a surrogate.
        return not ((byte == 0xE0 and second < 0xA0) or (byte == 0xED and second > 0x9F))
    if not _is_continuation(at[3]):
        return False
    return not ((byte == 0xF0 and second < 0x90) or (byte == 0xF4 and second > 0x8F))


@kernel
def valid_bytes(text: U8s, n_bytes: int) -> int:
    """Return how many bytes from `text` on are valid UTF-8: `n_bytes`, or the offset of the first invalid character."""
    at = 0
    while at < n_bytes:
        if at + 8 <= n_bytes:
            high = word_at(text, at) & HIGH_BITS
            if high == 0:
                at += 8
                continue
            at += lowest_bit(high) >> 3
        byte = text[at]
        if byte < 0x80:
            at += 1
            continue
        if at + width(byte) > n_bytes or not _is_character(from_item(text, at), byte):
            return at
        at += width(byte)
    return n_bytes


@inlined
def _line_end(text: U8s, start: int, n_bytes: int) -> int:
    """Return the end of the line that begins at `start`, after its line break if it has one."""
    at = start
    while at + 8 <= n_bytes:
        differs = word_at(text, at) ^ (LINE_END * ONES)
        breaks = wrapping_add(differs, -ONES) & ~differs & HIGH_BITS
        if breaks != 0:
            return at + (lowest_bit(breaks) >> 3) + 1
        at += 8
    while at < n_bytes:
        at += 1
        if text[at - 1] == LINE_END:
            return at
    return n_bytes


@inlined
def _space_bytes(at: U8s) -> int:
    """Return the number of bytes of the white space character at `at` (`str.isspace`), or 0 for any other character."""
    byte = at[0]
    if byte <= 32:
        return 1 if byte == 32 or 9 <= byte <= 13 or byte >= 28 else 0
    if byte < 0xC2 or byte > 0xE3:
        return 0
    second = at[1]
    if byte == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if byte < 0xE1:
        return 0
    third = at[2]
    if byte == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if byte == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0


@inlined
def _is_blank(text: U8s, start: int, end: int) -> bool:
    """Return whether a line is only white space and ends in a line break."""
    at = start
    while at < end:
        if text[at] == LINE_END:
            return True
        size = _space_bytes(from_item(text, at))
        if size == 0:
            return False
        at += size
    return False


@kernel
def _paragraph_end(text: U8s, start: int, n_bytes: int) -> int:
    at, has_text, ended = start, False, False
    while at < n_bytes:
        end = _line_end(text, at, n_bytes)
        if _is_blank(text, at, end):
            ended = has_text
        elif ended:
            return at
        else:
            has_text = True
        at = end
    return n_bytes


@inlined
def _is_cut(context: ContextRecord, line_cuts: int, at: U8s) -> bool:
    """Return whether a text may be cut before the character at `at`, which follows a line break."""
    automaton = context.automaton
    after = class_at(automaton.ascii_classes, automaton.pages, automaton.page_classes, at, at[0])
    return shift_right(line_cuts, after) & 1 != 0


@kernel
def _lines_end(context: ContextRecord, line_cuts: int, text: U8s, start: int, n_bytes: int) -> int:
    """Return the end of the lines from `start` on that may be split together, as one text."""
    end = _line_end(text, start, n_bytes)
    while line_cuts != 0 and end < n_bytes and _is_cut(context, line_cuts, from_item(text, end)):
        end = _line_end(text, end, n_bytes)
    return end


@kernel
def text_sizes(
    context: ContextRecord, text: U8s, n_bytes: int, by_lines: int, line_cuts: int, sizes: I64s, most_texts: int
) -> int:
    """Write the sizes of the texts of a block, at most `most_texts`; return how many.

    With `by_lines` 1 each line is a document, else each paragraph. `line_cuts` has a bit by class: whether a text may
    be cut between a line break and such a character.
    """
    begin, number = 0, 0
    while begin < n_bytes and number < most_texts:
        if by_lines != 0:
            end = _lines_end(context, line_cuts, text, begin, n_bytes)
        else:
            end = _paragraph_end(text, begin, n_bytes)
        sizes[number] = end - begin
        number += 1
        begin = end
    return number
