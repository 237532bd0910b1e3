"""Byte pair encoding of a piece of up to 62 symbols: one parallel first round, then the lowest rank repeatedly.

The first round merges pairs of bytes that no other merge can take apart first. If ranks are monotone (a merge ranks
after those that make its parts), a pair of bytes may merge at once when its rank is below that of every merge that
could take one of its two bytes: those whose right part is that byte and whose left part ends with the byte before it
(`right bound`), and the mirror image (`left bound`). Of two neighbouring pairs at most one merges, as the rank of a
pair is one of its neighbours' bounds. The entries of eight pairs and of their neighbours are compared at once, in
portable vector code; a bit per pair says whether it merges. Models whose ranks are not monotone skip that round.

After it, the pair of lowest rank merges, leftmost first, until none is left, which is the definition. The symbols that
are alive are bits of one word, so neighbours are found by counting zeros.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    leading_zeros,
    lowest_bit,
    operation,
    reachable,
    shift_left,
    shift_right,
)
from impls.compiled.codegen.pointers import address_of, from_item, two_bytes
from impls.compiled.codegen.vectors import constant, lanes, splat, undefined
from impls.compiled.layout import HANDLE_BITS, MOST_SMALL, NO_ROW, NONE, SYMBOL_BITS, ContextRecord
from impls.compiled.lookup.hashing import smaller
from impls.compiled.merge.pairs import joined
from impls.compiled.merge.spelling import initial_symbols
from impls.compiled.typed_memory import I32s, I64s, U8s

PLACE_BITS = 6
NOTHING_LEFT = NONE << (HANDLE_BITS + PLACE_BITS)
AT_ONCE = 8
READ = AT_ONCE + 2
"""Bytes that are read for AT_ONCE pairs and the next one; at most this many past the end of the piece."""

_i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_entries, _symbols = ir.VectorType(_i64, AT_ONCE), ir.VectorType(_i32, AT_ONCE)


def _field(builder: Any, entries: Any, number: int) -> Any:
    shifted = builder.lshr(entries, constant(_entries, number * SYMBOL_BITS)) if number else entries
    return builder.and_(shifted, constant(_entries, NONE))


def _emit_merging(builder: Any, table: Any, before: Any, at: Any, n_pairs: Any, pair_symbols: Any) -> Any:
    """Return a bit for each of up to AT_ONCE pairs of bytes from `at` on that merges; store the symbols they make.

    `table` is FIRST_ROUND, `before` the entry of the preceding pair, `n_pairs` the number of pairs left.
    """
    entries, first = builder.inttoptr(table, _i64.as_pointer()), builder.inttoptr(at, _i8.as_pointer())

    def entry(number: int) -> Any:
        pair = builder.bitcast(builder.gep(first, [_i64(number)]), _i16.as_pointer())
        return builder.load(builder.gep(entries, [builder.zext(builder.load(pair, align=1), _i64)]), align=8)

    here = undefined(_entries)
    for number in range(AT_ONCE):
        here = builder.insert_element(here, entry(number), _i32(number))
    # A missing pair blocks no merge: all its fields are NONE.
    exists = builder.icmp_signed("<", constant(_entries, range(AT_ONCE)), splat(builder, _entries, n_pairs))
    here = builder.select(exists, here, constant(_entries, -1))
    following = builder.select(builder.icmp_signed("<", _i64(AT_ONCE), n_pairs), entry(AT_ONCE), _i64(-1))
    earlier = builder.insert_element(undefined(_entries), before, _i32(AT_ONCE - 1))
    later = builder.insert_element(undefined(_entries), following, _i32(0))
    rank = _field(builder, here, 0)
    right_bound = _field(builder, lanes(builder, earlier, here, range(AT_ONCE - 1, 2 * AT_ONCE - 1)), 2)
    left_bound = _field(builder, lanes(builder, here, later, range(1, 1 + AT_ONCE)), 1)
    builder.store(builder.trunc(rank, _symbols), builder.inttoptr(pair_symbols, _symbols.as_pointer()), align=4)
    merges = builder.and_(builder.icmp_unsigned("<", rank, right_bound), builder.icmp_unsigned("<", rank, left_bound))
    return builder.zext(builder.bitcast(merges, ir.IntType(AT_ONCE)), _i64)


_raw_merging = operation(5, _emit_merging)


@inlined
def _merging(table: I64s, piece: U8s, n_bytes: int, pair_symbols: I32s) -> int:
    """Return a bit for each byte of a piece of at most 64 that merges with the next one."""
    merging, i, before = 0, 0, -1
    while True:
        if reachable(address_of(piece) + i, READ):
            merging |= shift_left(
                _raw_merging(
                    address_of(table), before, address_of(piece) + i, n_bytes - 1 - i, address_of(pair_symbols) + 4 * i
                ),
                i,
            )
        i += AT_ONCE
        if i >= n_bytes - 1:
            return merging
        before = table[two_bytes(piece, i - 1)]


@kernel
def _first_round(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols (int32) of a piece of at most MOST_SMALL bytes after the first round; return how many."""
    byte_symbols, pair_symbols = context.byte_symbols, context.pair_symbols
    merging = _merging(context.first_round, piece, n_bytes, pair_symbols)
    rest = (shift_left(1, n_bytes) - 1) & ~(merging << 1)
    count = 0
    while rest != 0:
        i = lowest_bit(rest)
        merges = (shift_right(merging, i) & 1) != 0
        symbol = choose(merges, pair_symbols[i], byte_symbols[piece[i]])
        symbols[count] = symbol
        count += 1
        rest &= rest - 1
    return count


@inlined
def _lowest_of_8(ranks: I64s) -> int:
    low = smaller(smaller(ranks[0], ranks[1]), smaller(ranks[2], ranks[3]))
    high = smaller(smaller(ranks[4], ranks[5]), smaller(ranks[6], ranks[7]))
    return smaller(low, high)


@kernel
def _start(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the initial symbols; return how many, or -1 if there are too many."""
    if context.monotone == 0:
        return initial_symbols(context, piece, n_bytes, symbols, MOST_SMALL)
    return _first_round(context, piece, n_bytes, symbols) if n_bytes <= MOST_SMALL else -1


@kernel
def merge_small(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the symbols (int32) of a piece to `out`; return how many, or -1 if it is too long for this algorithm."""
    symbols, ranks, handles = context.symbols, context.ranks, context.symbol_handles
    n = _start(context, piece, n_bytes, symbols)
    if n < 0:
        return -1
    pairs, buckets, by_symbol = context.pairs, context.buckets, context.handles
    handles[-1] = NO_ROW
    symbols[-1] = NONE
    symbols[n] = NONE
    left = symbols[0]
    for i in range(n - 1):
        handle, right = by_symbol[left], symbols[i + 1]
        handles[i] = handle
        entry = joined(buckets, pairs, handle, right)
        ranks[i] = (entry << PLACE_BITS) | i
        left = right
    # Always eight: a loop over the exact number would be mispredicted.
    for k in range(8):
        ranks[n - 1 + k] = NOTHING_LEFT
    alive = shift_left(1, n) - 1
    while True:
        best = _lowest_of_8(ranks)
        for chunk in range(8, n, 8):
            best = smaller(best, _lowest_of_8(from_item(ranks, chunk)))
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
        entry = joined(buckets, pairs, row, symbols[following])
        entry_before = joined(buckets, pairs, handles[previous], symbol)
        alive ^= shift_left(1, absorbed)
        ranks[absorbed] = NOTHING_LEFT
        symbols[i] = symbol
        handles[i] = handle
        ranks[i] = (entry << PLACE_BITS) | i
        ranks[previous] = (entry_before << PLACE_BITS) | (previous & 63)
    count = 0
    while alive != 0:
        out[count] = symbols[lowest_bit(alive)]
        count += 1
        alive &= alive - 1
    return count
