"""Byte pair encoding of a piece of up to 62 symbols: one parallel first round, then the lowest rank repeatedly.

The first round merges pairs of bytes that no other merge can take apart first. If ranks are monotone (a merge ranks
after those that make its parts), a pair of bytes may merge at once when its rank is below that of every merge that
could take one of its two bytes: those whose right part is that byte and whose left part ends with the byte before it
(`right bound`), and the mirror image (`left bound`). Of two neighbouring pairs at most one merges, as the rank of a
pair is one of its neighbours' bounds. A bit per pair says whether it merges. Models whose ranks are not monotone skip
that round.

After it, the pair of lowest rank merges, leftmost first, until none is left, which is the definition. The symbols that
are alive are bits of one word, so neighbours are found by counting zeros.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    choose,
    inlined,
    kernel,
    leading_zeros,
    lowest_bit,
    shift_left,
    shift_right,
)
from impls.compiled.language.pointers import from_item, two_bytes
from impls.compiled.language.typed_memory import I32s, I64s, U8s
from impls.compiled.layout import HANDLE_BITS, MOST_SMALL, NO_ROW, NONE, SYMBOL_BITS, ContextRecord
from impls.compiled.merge.pairs import joined
from impls.compiled.merge.spelling import initial_symbols

PLACE_BITS = 6
NOTHING_LEFT = NONE << (HANDLE_BITS + PLACE_BITS)


@kernel
def _first_round(context: ContextRecord, piece: U8s, n_bytes: int, symbols: I32s) -> int:
    """Write the symbols (int32) of a piece of at most MOST_SMALL bytes after the first round; return how many."""
    byte_symbols, pair_symbols, table = context.byte_symbols, context.pair_symbols, context.first_round
    merging, before, here, last = 0, -1, -1, n_bytes - 1
    if last > 0:
        here = table[two_bytes(piece, 0)]
    for i in range(last):
        later = -1  # a missing pair blocks no merge: all its fields are NONE
        if i + 1 < last:
            later = table[two_bytes(piece, i + 1)]
        rank = here & NONE
        pair_symbols[i] = rank
        right_bound, left_bound = shift_right(before, 2 * SYMBOL_BITS) & NONE, shift_right(later, SYMBOL_BITS) & NONE
        merging |= shift_left(choose(rank < min(right_bound, left_bound), 1, 0), i)
        before, here = here, later
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
    low = min(min(ranks[0], ranks[1]), min(ranks[2], ranks[3]))
    high = min(min(ranks[4], ranks[5]), min(ranks[6], ranks[7]))
    return min(low, high)


@kernel
def merge_small(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the symbols (int32) of a piece to `out`; return how many, or -1 if it is too long for this algorithm."""
    symbols, ranks, handles = context.symbols, context.ranks, context.symbol_handles
    if context.monotone == 0:
        n = initial_symbols(context, piece, n_bytes, symbols, MOST_SMALL)
    else:
        n = _first_round(context, piece, n_bytes, symbols) if n_bytes <= MOST_SMALL else -1
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
        # The place stands in the low bits, so that of equal ranks the leftmost is the least.
        ranks[i] = (entry << PLACE_BITS) | i
        left = right
    # Always eight: a loop over the exact number would be mispredicted.
    for k in range(8):
        ranks[n - 1 + k] = NOTHING_LEFT
    alive = shift_left(1, n) - 1
    while True:
        best = _lowest_of_8(ranks)
        for chunk in range(8, n, 8):
            best = min(best, _lowest_of_8(from_item(ranks, chunk)))
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
