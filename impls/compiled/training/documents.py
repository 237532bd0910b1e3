"""The documents of a block of a text file: checked UTF-8, each copied with the zeros after it that kernels need.

The rule is that of `impls.core.text.blocks`; the tests hold the two against each other.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i64,
    load_u8,
    lowest_bit,
    store_8,
    store_64,
    wrapping_add,
)
from impls.compiled.layout import PAD_BYTES
from impls.compiled.pretokenize.scan import width
from impls.compiled.training.layout import BlockRecord

LINE_END = 0x0A
ONES = 0x0101010101010101
HIGH_BITS = -0x7F7F7F7F7F7F7F80
"""The highest bit of each of 8 bytes."""


@inlined
def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80


@inlined
def _is_character(at: int, byte: int) -> bool:
    """Return whether there is a character at `at`, whose lead byte is `byte`, 0x80 or above; its bytes can be read."""
    if byte < 0xC2 or byte > 0xF4:
        return False
    second = load_u8(at + 1)
    if byte < 0xE0:
        return _is_continuation(second)
    if not _is_continuation(second) or not _is_continuation(load_u8(at + 2)):
        return False
    if byte < 0xF0:
        # Neither overlong, nor a surrogate.
        return not ((byte == 0xE0 and second < 0xA0) or (byte == 0xED and second > 0x9F))
    if not _is_continuation(load_u8(at + 3)):
        return False
    return not ((byte == 0xF0 and second < 0x90) or (byte == 0xF4 and second > 0x8F))


@kernel
def valid_bytes(text: int, n_bytes: int) -> int:
    """Return how many bytes from `text` on are UTF-8: all `n_bytes`, or the offset of the first that is not."""
    at = 0
    while at < n_bytes:
        if at + 8 <= n_bytes:
            high = load_i64(text + at) & HIGH_BITS
            if high == 0:
                at += 8
                continue
            at += lowest_bit(high) >> 3
        byte = load_u8(text + at)
        if byte < 0x80:
            at += 1
            continue
        if at + width(byte) > n_bytes or not _is_character(text + at, byte):
            return at
        at += width(byte)
    return n_bytes


@inlined
def _line_end(text: int, start: int, n_bytes: int) -> int:
    """Return the end of the line that begins at `start`, after its line break if it has one."""
    at = start
    while at + 8 <= n_bytes:
        differs = load_i64(text + at) ^ (LINE_END * ONES)
        found = wrapping_add(differs, -ONES) & ~differs & HIGH_BITS
        if found != 0:
            return at + (lowest_bit(found) >> 3) + 1
        at += 8
    while at < n_bytes:
        at += 1
        if load_u8(text + at - 1) == LINE_END:
            return at
    return n_bytes


@inlined
def _space_bytes(at: int) -> int:
    """Return the bytes of the white space at `at` (`str.isspace`), or 0 for another character."""
    byte = load_u8(at)
    if byte <= 32:
        return 1 if byte == 32 or 9 <= byte <= 13 or byte >= 28 else 0
    if byte < 0xC2 or byte > 0xE3:
        return 0
    second = load_u8(at + 1)
    if byte == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if byte < 0xE1:
        return 0
    third = load_u8(at + 2)
    if byte == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if byte == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0


@inlined
def _is_blank(text: int, start: int, end: int) -> bool:
    """Return whether a line is white space with a line break after it."""
    at = start
    while at < end:
        if load_u8(text + at) == LINE_END:
            return True
        size = _space_bytes(text + at)
        if size == 0:
            return False
        at += size
    return False


@kernel
def _document_end(text: int, start: int, n_bytes: int, by_lines: int) -> int:
    at, has_text, ended = start, False, False
    while at < n_bytes:
        end = _line_end(text, at, n_bytes)
        if by_lines != 0:
            return end
        if _is_blank(text, at, end):
            ended = has_text
        elif ended:
            return at
        else:
            has_text = True
        at = end
    return n_bytes


@kernel
def lay_documents(block: BlockRecord) -> int:
    """Copy documents from POSITION on, as many as fit in SIZES, to OUT; return the bytes written."""
    text, n_bytes, sizes = block.text, block.n_bytes, block.sizes
    out, begin, number = block.out, block.position, 0
    while begin < n_bytes and number < block.most_texts:
        end = _document_end(text, begin, n_bytes, block.by_lines)
        size = end - begin
        whole = size & ~7
        for i in range(0, whole, 8):
            store_64(out + i, load_i64(text + begin + i))
        for i in range(whole, size):
            store_8(out + i, load_u8(text + begin + i))
        for i in range(0, PAD_BYTES, 8):
            store_64(out + size + i, 0)
        store_64(sizes + 8 * number, size)
        out += size + PAD_BYTES
        number += 1
        begin = end
    block.position = begin
    block.n_texts = number
    return out - block.out
