"""Byte pair encoding of a piece of up to 62 symbols: one parallel first round, then the lowest rank repeatedly.

Models whose ranks are not monotone skip that round (see `first_round`). After it, the pair of lowest rank merges,
leftmost first, until none is left, which is the definition. The symbols that are alive are bits of one word, so
neighbours are found by counting zeros.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    leading_zeros,
    load_i32,
    load_i64,
    load_u8,
    lowest_bit,
    shift_left,
    shift_right,
    store_32,
    store_64,
)
from impls.compiled.layout import (
    HANDLE_BITS,
    MOST_SMALL,
    NO_ROW,
    NONE,
    ContextRecord,
)
from impls.compiled.lookup.hashing import smaller
from impls.compiled.merge.characters import characters_first
from impls.compiled.merge.first_round import first_round
from impls.compiled.merge.pairs import joined
from impls.compiled.sentencepiece.spelling import call_spell

SYMBOLS_AT = 64
"""Offset of the symbols, int32; the one before the first and the one after the last are NONE."""
RANKS_AT = 512
"""Offset of int64 words `joined(...) << 6 | position`, in chunks of 8; the word before them takes stray writes."""
HANDLES_AT = 1088
"""Offset of the symbols' handles, int32; the one before the first is NO_ROW."""
PLACE_BITS = 6
NOTHING_LEFT = NONE << (HANDLE_BITS + PLACE_BITS)
LEAST_CHARACTERS = 6
"""Pieces of at least this many bytes that end in a three-byte character start from whole characters."""


@kernel
def _bytes_as_symbols(context: ContextRecord, piece: int, n_bytes: int, symbols: int) -> int:
    bytes_ = context.byte_symbols
    for i in range(n_bytes):
        store_32(symbols + 4 * i, load_i32(bytes_ + 4 * load_u8(piece + i)))
    return n_bytes


@inlined
def _lowest_of_8(ranks: int) -> int:
    low = smaller(smaller(load_i64(ranks), load_i64(ranks + 8)), smaller(load_i64(ranks + 16), load_i64(ranks + 24)))
    high = smaller(
        smaller(load_i64(ranks + 32), load_i64(ranks + 40)), smaller(load_i64(ranks + 48), load_i64(ranks + 56))
    )
    return smaller(low, high)


@kernel
def _start(context: ContextRecord, piece: int, n_bytes: int, symbols: int) -> int:
    """Write the initial symbols; return how many, or -1 if there are too many."""
    if context.spelling_pages != 0:
        return call_spell(context, piece, n_bytes, symbols, MOST_SMALL)
    if context.monotone == 0:
        return _bytes_as_symbols(context, piece, n_bytes, symbols) if n_bytes <= MOST_SMALL else -1
    if n_bytes >= LEAST_CHARACTERS and load_u8(piece + n_bytes - 3) >= 0xE0:
        return characters_first(context, piece, n_bytes, symbols)
    return first_round(context, piece, n_bytes, symbols) if n_bytes <= MOST_SMALL else -1


@kernel
def merge_small(context: ContextRecord, piece: int, n_bytes: int, out: int) -> int:
    """Write the symbols (int32) of a piece to `out`; return how many, or -1 if it is too long for this algorithm."""
    scratch = context.small_scratch
    symbols, ranks = scratch + SYMBOLS_AT, scratch + RANKS_AT
    n = _start(context, piece, n_bytes, symbols)
    if n < 0:
        return -1
    pairs, buckets, by_symbol = context.pairs, context.buckets, context.handles
    handles = scratch + HANDLES_AT
    store_32(handles - 4, NO_ROW)
    store_32(symbols - 4, NONE)
    store_32(symbols + 4 * n, NONE)
    end = ranks + 8 * ((n + 7) & ~7)
    left = load_i32(symbols)
    for i in range(n - 1):
        handle, right = load_i32(by_symbol + 4 * left), load_i32(symbols + 4 * i + 4)
        store_32(handles + 4 * i, handle)
        made = joined(buckets, pairs, handle, right)
        store_64(ranks + 8 * i, (made << PLACE_BITS) | i)
        left = right
    # Always eight: a loop over the exact number would be mispredicted.
    for k in range(8):
        store_64(ranks + 8 * (n - 1 + k), NOTHING_LEFT)
    alive = shift_left(1, n) - 1
    while True:
        best = _lowest_of_8(ranks)
        at = ranks + 64
        while at < end:
            best = smaller(best, _lowest_of_8(at))
            at += 64
        if best >= NOTHING_LEFT:
            break
        i, symbol = best & 63, shift_right(best, HANDLE_BITS + PLACE_BITS)
        handle = shift_right(best, PLACE_BITS) & ((1 << HANDLE_BITS) - 1)
        later = alive & -shift_left(2, i)
        absorbed = lowest_bit(later)
        following = lowest_bit((later & (later - 1)) | shift_left(1, n))
        previous = 63 - leading_zeros(alive & (shift_left(1, i) - 1))
        # The last symbol begins no pair: do not wait for its row, which may not be in the processor's cache.
        row = choose(following < n, handle, NO_ROW)
        made = joined(buckets, pairs, row, load_i32(symbols + 4 * following))
        made_before = joined(buckets, pairs, load_i32(handles + 4 * previous), symbol)
        alive ^= shift_left(1, absorbed)
        store_64(ranks + 8 * absorbed, NOTHING_LEFT)
        store_32(symbols + 4 * i, symbol)
        store_32(handles + 4 * i, handle)
        store_64(ranks + 8 * i, (made << PLACE_BITS) | i)
        store_64(ranks + 8 * previous, (made_before << PLACE_BITS) | (previous & 63))
    count = 0
    while alive != 0:
        store_32(out + 4 * count, load_i32(symbols + 4 * lowest_bit(alive)))
        count += 1
        alive &= alive - 1
    return count
