"""Makes the first round of merging in parallel: merges pairs of bytes that no other merge can take apart first.

This is exact by the following argument. If ranks are monotone (a merge ranks after those that make its parts), a pair
of bytes may merge at once when its rank is below that of every merge that could take one of its two bytes: those whose
right part is that byte and whose left part ends with the byte before it (`right bound`), and the mirror image (`left
bound`). Of two neighbouring pairs at most one merges, as the rank of a pair is one of its neighbours' bounds.

The entries of eight pairs and of their neighbours are compared at once, in portable vector code; a bit per pair says
whether it merges.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from impls.compiled.codegen.memory import (
    choose,
    inlined,
    kernel,
    lowest_bit,
    operation,
    reachable,
    shift_left,
    shift_right,
)
from impls.compiled.codegen.pointers import address_of, two_bytes
from impls.compiled.codegen.vectors import constant, lanes, splat, undefined
from impls.compiled.layout import (
    NONE,
    SYMBOL_BITS,
    ContextRecord,
)
from impls.compiled.typed_memory import I32s, I64s, U8s

AT_ONCE = 8
READ = AT_ONCE + 2
"""Bytes that are read for AT_ONCE pairs and the next one; at most this many past the end of the piece."""

_i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_entries, _symbols = ir.VectorType(_i64, AT_ONCE), ir.VectorType(_i32, AT_ONCE)


def _field(builder: Any, entries: Any, number: int) -> Any:
    shifted = builder.lshr(entries, constant(_entries, number * SYMBOL_BITS)) if number else entries
    return builder.and_(shifted, constant(_entries, NONE))


def _emit_merging(builder: Any, table: Any, before: Any, at: Any, n_pairs: Any, made: Any) -> Any:
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
    builder.store(builder.trunc(rank, _symbols), builder.inttoptr(made, _symbols.as_pointer()), align=4)
    merges = builder.and_(builder.icmp_unsigned("<", rank, right_bound), builder.icmp_unsigned("<", rank, left_bound))
    return builder.zext(builder.bitcast(merges, ir.IntType(AT_ONCE)), _i64)


_raw_merging = operation(5, _emit_merging)


@inlined
def _merging(table: I64s, piece: U8s, n_bytes: int, made: I32s) -> int:
    """Return a bit for each byte of a piece of at most 64 that merges with the next one."""
    merging, i, before = 0, 0, -1
    while True:
        if reachable(address_of(piece) + i, READ):
            merging |= shift_left(
                _raw_merging(
                    address_of(table), before, address_of(piece) + i, n_bytes - 1 - i, address_of(made) + 4 * i
                ),
                i,
            )
        i += AT_ONCE
        if i >= n_bytes - 1:
            return merging
        before = table[two_bytes(piece, i - 1)]


@kernel
def first_round(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols (int32) of a piece of at most MOST_SMALL bytes after the first round; return how many."""
    byte_symbols, made = context.byte_symbols, context.made
    merging = _merging(context.first_round, piece, n_bytes, made)
    rest = (shift_left(1, n_bytes) - 1) & ~(merging << 1)
    count = 0
    while rest != 0:
        i = lowest_bit(rest)
        merges = (shift_right(merging, i) & 1) != 0
        symbol = choose(merges, made[i], byte_symbols[piece[i]])
        symbols[count] = symbol
        count += 1
        rest &= rest - 1
    return count
