"""Makes the first round of merging in parallel: merges pairs of bytes that no other merge can take apart first.

This is exact by the following argument. If ranks are monotone (a merge ranks after those that make its parts), a pair
of bytes may merge at once when its rank is below that of every merge that could take one of its two bytes: those whose
right part is that byte and whose left part ends with the byte before it (`right bound`), and the mirror image (`left
bound`). Of two neighbouring pairs at most one merges, as the rank of a pair is one of its neighbours' bounds.

The entries of eight pairs and of their neighbours are compared at once, in portable vector code; a bit per pair says
whether it merges.

A piece of ideographs, kana or Hangul starts from whole three-byte characters instead, if their bytes can merge to
nothing else. A character's own bytes merge to one symbol in two steps, and no merge across its boundary comes first if
the merges that could take one of its parts rank later. What the byte before can do is the `right bound`, what the byte
after can do the `left bound`; merges that take the intermediate part are ruled out when the table is built. So the
check costs two loads per character.
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
from impls.compiled.codegen.pointers import address_of, from_item, two_bytes
from impls.compiled.codegen.vectors import constant, lanes, splat, undefined
from impls.compiled.layout import (
    MOST_SMALL,
    NONE,
    SYMBOL_BITS,
    ContextRecord,
)
from impls.compiled.merge.pairs import merged
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


@kernel
def _stands_alone(context: ContextRecord, at: U8s, entry: int, first: bool, last: bool) -> bool:
    """Return whether no neighbour of the character at `at` can merge with one of its bytes before they have merged."""
    bounds = context.first_round
    if not first:
        before = bounds[two_bytes(at, -1)]
        if shift_right(before, 2 * SYMBOL_BITS) <= (shift_right(entry, SYMBOL_BITS) & NONE):
            return False
    if not last:
        after = bounds[two_bytes(at, 2)]
        if (shift_right(after, SYMBOL_BITS) & NONE) <= shift_right(entry, 2 * SYMBOL_BITS):
            return False
    return True


@kernel
def characters_first(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols (int32) of a piece, whole characters if that is safe, else bytes; return how many.

    Returns -1 for more than 62 symbols.
    """
    byte_symbols, characters = context.byte_symbols, context.characters
    count, i = 0, 0
    while i < n_bytes:
        if count + 3 > MOST_SMALL:
            return -1
        byte = piece[i]
        size = 1
        if byte >= 0xE0 and byte < 0xF0:
            code = ((byte & 15) << 12) | ((piece[i + 1] & 63) << 6) | (piece[i + 2] & 63)
            entry = characters[code]
            if entry >= 0 and _stands_alone(context, from_item(piece, i), entry, i == 0, i + 3 == n_bytes):
                symbols[count] = entry & NONE
                count += 1
                i += 3
                continue
            size = 3
        for _ in range(size):
            symbols[count] = byte_symbols[piece[i]]
            count += 1
            i += 1
    return count


@kernel
def _joined(context: ContextRecord, left: int, right: int) -> int:
    if left == NONE or right == NONE:
        return NONE
    return merged(context, left, right)


@kernel
def build_characters(context: ContextRecord, lowest_as_right: I32s, lowest_as_left: I32s, table: I64s) -> int:
    """Fill the 65536 entries of the table CHARACTERS, -1 for a character without; return how many have one.

    `lowest_as_right`, `lowest_as_left`: int32 by symbol, the lowest rank of a merge with that symbol as its right or
    left part, or NONE.
    """
    bytes_ = context.byte_symbols
    found = 0
    for code in range(65536):
        entry = -1
        if code >= 0x800:
            a = bytes_[0xE0 | (code >> 12)]
            b = bytes_[0x80 | ((code >> 6) & 63)]
            c = bytes_[0x80 | (code & 63)]
            ab, bc = _joined(context, a, b), _joined(context, b, c)
            whole, left_need, right_need, taken = NONE, 0, 0, 0
            if ab < bc:
                whole = _joined(context, ab, c)
                left_need, right_need, taken = ab, whole, lowest_as_right[ab]
            elif bc < NONE:
                whole = _joined(context, a, bc)
                left_need, right_need, taken = whole, bc, lowest_as_left[bc]
            if whole != NONE and taken > whole:
                entry = whole | (left_need << SYMBOL_BITS) | (right_need << (2 * SYMBOL_BITS))
                found += 1
        table[code] = entry
    return found
