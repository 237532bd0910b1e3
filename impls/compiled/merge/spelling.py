"""Gives the initial symbols of a piece of characters: one symbol each, or those of its bytes, or the unknown symbol."""

from __future__ import annotations

from impls.compiled.language.memory import kernel, outlined
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import I32s, U8s
from impls.compiled.layout import (
    BY_BYTES,
    ContextRecord,
)
from impls.compiled.pretokenize.scan import code_point, of_code_point, width


@kernel
def initial_symbols(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s, most: int) -> int:
    """Write the symbols of a piece's bytes or characters; return how many, or -1 if there may be more than `most`."""
    if context.spelling_pages != 0:
        return _spell(context, piece, n_bytes, symbols, most)
    if n_bytes > most:
        return -1
    byte_symbols = context.byte_symbols
    for i in range(n_bytes):
        symbols[i] = byte_symbols[piece[i]]
    return n_bytes


@outlined
def _spell(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s, most: int) -> int:
    """Write the symbols (int32) of a piece; return how many, or -1 if there may be more than `most`.

    An unknown symbol is written only after what follows it is read; see `Model.symbols`.
    """
    pages, by_page = context.spelling_pages, context.character_symbols
    unknown, fuses = context.unknown_symbol, context.fuses_unknown
    byte_symbols, last = context.byte_symbols, context.last_symbols
    count, i, waiting = 0, 0, 0
    while i < n_bytes:
        if count + 4 + waiting > most:
            return -1
        byte = piece[i]
        size, code = 1, byte
        if byte >= 128:
            size, code = width(byte), code_point(from_item(piece, i), byte)
        table = by_page
        if last != 0 and i + size >= n_bytes:
            table = last
        symbol = of_code_point(pages, table, code)
        in_bytes = symbol < 0 and (unknown < 0 or symbol == BY_BYTES)
        if waiting != 0 and not in_bytes and (symbol >= 0 or fuses == 0):
            symbols[count] = unknown
            count, waiting = count + 1, 0
        if symbol >= 0:
            symbols[count] = symbol
            count += 1
        elif in_bytes:
            for k in range(size):
                symbols[count] = byte_symbols[piece[i + k]]
                count += 1
        else:
            waiting = 1
        i += size
    if waiting != 0:
        symbols[count] = unknown
        count += 1
    return count
