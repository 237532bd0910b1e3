"""Starts merging from whole three-byte characters, if their bytes can merge to nothing else.

A character's own bytes merge to one symbol in two steps, and no merge across its boundary comes first if the merges
that could take one of its parts rank later. What the byte before can do is the `right bound` of the first round, what
the byte after can do the `left bound` (see `first_round`); merges that take the intermediate part are ruled out when
the table is built. So the check costs two loads per character. For models with monotone ranks only.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel, shift_right
from impls.compiled.codegen.pointers import from_item, two_bytes
from impls.compiled.layout import (
    MOST_SMALL,
    NONE,
    SYMBOL_BITS,
    ContextRecord,
)
from impls.compiled.merge.pairs import merged
from impls.compiled.typed_memory import I32s, I64s, U8s


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
