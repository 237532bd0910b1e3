"""Finds the documents of a block of a text file: checks its UTF-8, and finds where each document ends.

The rule is that of `impls.core.text.blocks`; the tests compare the two. Lines between which the pattern certainly cuts
are one text: splitting them together gives the pieces of each.
"""

from __future__ import annotations

from impls.compiled.language.memory import external, inlined, kernel, lowest_bit, reachable, shift_right
from impls.compiled.language.pointers import address_of, from_item, word_at
from impls.compiled.language.typed_memory import I64s, U8s
from impls.compiled.layout import ContextRecord
from impls.compiled.pretokenize.scan import class_at, code_point, width

LINE_END = 0x0A
HIGH_BITS = -0x7F7F7F7F7F7F7F80
"""A mask of the highest bit of each of 8 bytes."""

_first_byte = external("memchr", 3)


@inlined
def _is_character(at: U8s, byte: int) -> bool:
    """Return whether a valid character is at `at`, whose lead byte is `byte`, 0x80 or above; its bytes can be read."""
    if byte < 0xC2 or byte > 0xF4:
        return False
    # Neither overlong, nor a surrogate, nor above the last code point.
    lowest = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
    highest = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
    valid = lowest <= at[1] <= highest
    for i in range(2, width(byte)):
        valid = valid and at[i] & 0xC0 == 0x80
    return valid


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
    place = 0
    if reachable(address_of(text) + start, n_bytes - start):
        place = _first_byte(address_of(text) + start, LINE_END, n_bytes - start)
    return place + 1 - address_of(text) if place != 0 else n_bytes


@inlined
def _is_space(code: int) -> bool:
    """Return whether a character is white space, as `str.isspace` says."""
    if code < 0x1680:
        return code == 0x20 or 9 <= code <= 13 or 28 <= code <= 31 or code == 0x85 or code == 0xA0
    if code < 0x202F:
        return code == 0x1680 or 0x2000 <= code <= 0x200A or code == 0x2028 or code == 0x2029
    return code == 0x202F or code == 0x205F or code == 0x3000


@inlined
def _is_blank(text: U8s, start: int, end: int) -> bool:
    """Return whether a line is only white space and ends in a line break."""
    at = start
    while at < end:
        byte = text[at]
        if byte == LINE_END:
            return True
        if not _is_space(byte if byte < 0x80 else code_point(from_item(text, at), byte)):
            return False
        at += width(byte)
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


@kernel
def _lines_end(context: ContextRecord, line_cuts: int, text: U8s, start: int, n_bytes: int) -> int:
    """Return the end of the lines from `start` on that may be split together, as one text."""
    end, automaton = _line_end(text, start, n_bytes), context.stages[0]
    while line_cuts != 0 and end < n_bytes:
        at = from_item(text, end)
        after = class_at(automaton.ascii_classes, automaton.pages, automaton.page_classes, at, at[0])
        if shift_right(line_cuts, after) & 1 == 0:
            break
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
