"""What a piece begins with where characters are the alphabet: a symbol each, else its bytes' or the unknown one."""

from __future__ import annotations

from impls.compiled.kernels.memory import kernel, load_i32, load_i64, load_u8, load_u16, store_32
from impls.compiled.kernels.scan import code_point, width
from impls.compiled.layout import (
    BYTE_SYMBOLS,
    CHARACTER_SYMBOLS,
    FUSES_UNKNOWN,
    LAST_SYMBOLS,
    SPELLING_PAGES,
    UNKNOWN_SYMBOL,
)


@kernel
def spell(context: int, piece: int, n_bytes: int, symbols: int, most: int) -> int:
    """Writes the symbols (int32) of a piece; returns how many, or -1 where they may be more than `most`."""
    pages, by_page = load_i64(context + SPELLING_PAGES), load_i64(context + CHARACTER_SYMBOLS)
    unknown, fuses = load_i64(context + UNKNOWN_SYMBOL), load_i64(context + FUSES_UNKNOWN)
    byte_symbols, last = load_i64(context + BYTE_SYMBOLS), load_i64(context + LAST_SYMBOLS)
    count, i = 0, 0
    while i < n_bytes:
        if count + 4 > most:
            return -1
        byte = load_u8(piece + i)
        size, code = 1, byte
        if byte >= 128:
            size, code = width(byte), code_point(piece + i, byte)
        if last != 0 and i + size >= n_bytes:
            by_page = last
        symbol = load_i32(by_page + 4 * ((load_u16(pages + 2 * (code >> 6)) << 6) + (code & 63)))
        if symbol >= 0:
            store_32(symbols + 4 * count, symbol)
            count += 1
        elif unknown < 0:
            for k in range(size):
                store_32(symbols + 4 * count, load_i32(byte_symbols + 4 * load_u8(piece + i + k)))
                count += 1
        elif fuses == 0 or count == 0 or load_i32(symbols + 4 * count - 4) != unknown:
            store_32(symbols + 4 * count, unknown)
            count += 1
        i += size
    return count
