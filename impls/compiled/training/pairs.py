"""The pairs of neighbours in the corpus: a hash table of their counts and lists, a heap of them, and listing them.

A key combines the left and the right symbol, plus 1, so that no key is 0 and keys are in the order of pairs.

Of all pairs only those that reach the threshold are stored. This is exact: a pair gains occurrences only while its
newer symbol is made, so one that is too rare now stays so until the threshold falls.

A node of the heap has four children. Counts and ties may be stale, so the first entry is checked before use. A stale
count is never too low, and a stale tie never sorts a pair too late.

Pairs are compared by the bytes of their symbols, which are stored one after another.
"""

from __future__ import annotations

from impls.compiled.language.memory import (
    copy_memory,
    inlined,
    kernel,
    outlined,
    shift_left,
    shift_right,
    wrapping_multiply,
)
from impls.compiled.language.pointers import address_of, from_item
from impls.compiled.language.typed_memory import Rows
from impls.compiled.lookup.hashing import K1, same_bytes
from impls.compiled.training.layout import (
    FINISHED,
    FIRST,
    LARGEST,
    NO_ROOM,
    SHORTEST,
    HeapEntry,
    LearningRecord,
    Pair,
)

NO_SYMBOL = -1
"""Stands in place of the right one of two symbols."""


@inlined
def n_token_bytes(learning: LearningRecord, symbol: int) -> int:
    """Return the number of bytes of a symbol."""
    return learning.token_starts[symbol + 1] - learning.token_starts[symbol]


@inlined
def is_short_enough(learning: LearningRecord, left: int, right: int) -> bool:
    """Return whether two joined symbols are within a token's limit of bytes."""
    return n_token_bytes(learning, left) + n_token_bytes(learning, right) <= learning.most_token_bytes


@kernel
def _byte_of(learning: LearningRecord, left: int, right: int, i: int) -> int:
    """Return byte `i` of two joined symbols, or of `left` alone if `right` is NO_SYMBOL; -1 past their end."""
    text, n_left = learning.token_text, n_token_bytes(learning, left)
    if i < n_left:
        return text[learning.token_starts[left] + i]
    if right != NO_SYMBOL and i < n_left + n_token_bytes(learning, right):
        return text[learning.token_starts[right] + i - n_left]
    return -1


@outlined
def compare_joined(learning: LearningRecord, left: int, right: int, other_left: int, other_right: int) -> int:
    """Compare the bytes `_byte_of` gives for two symbols with those for two others; return their order: below 0, 0 or
    above 0."""
    i = 0
    while True:
        byte, other = _byte_of(learning, left, right, i), _byte_of(learning, other_left, other_right, i)
        if byte != other or byte < 0:
            return byte - other
        i += 1


@kernel
def is_reserved(learning: LearningRecord, symbol: int) -> bool:
    """Return whether the bytes of a symbol are a text that no merge may make."""
    n_bytes = n_token_bytes(learning, symbol)
    text = from_item(learning.token_text, learning.token_starts[symbol])
    for k in range(learning.n_reserved):
        reserved = learning.reserved[k]
        if reserved.n_bytes == n_bytes and same_bytes(reserved.text, text, n_bytes):
            return True
    return False


@kernel
def append_token(learning: LearningRecord, left: int, right: int, new: int) -> None:
    """Write the bytes of `new`, the next symbol; there must be room."""
    text, starts = address_of(learning.token_text), learning.token_starts
    n_left, n_right = n_token_bytes(learning, left), n_token_bytes(learning, right)
    copy_memory(text + starts[new], text + starts[left], n_left)
    copy_memory(text + starts[new] + n_left, text + starts[right], n_right)
    starts[new + 1] = starts[new] + n_left + n_right


@inlined
def key_of(left: int, right: int) -> int:
    """Return the key of a pair."""
    return (shift_left(left, 32) | right) + 1


@inlined
def left_of(key: int) -> int:
    """Return the left symbol of a key."""
    return shift_right(key - 1, 32)


@inlined
def right_of(key: int) -> int:
    """Return the right symbol of a key."""
    return (key - 1) & 0xFFFFFFFF


# --- the table -----------------------------------------------------------------------------------------------------


@kernel
def entry_of(learning: LearningRecord, key: int) -> Pair:
    """Return the entry of a pair, or the empty entry at which to insert it."""
    table, shift = learning.pair_table, learning.pair_table_shift
    slot, last = shift_right(wrapping_multiply(key, K1), shift), shift_right(-1, shift)
    while table[slot].key != key and table[slot].key != 0:
        slot = (slot + 1) & last
    return table[slot]


@inlined
def add_pair(learning: LearningRecord, entry: Pair, key: int) -> None:
    """Turn an empty entry into that of a pair."""
    entry.key = key
    learning.n_pairs = learning.n_pairs + 1


@kernel
def spread_pairs(learning: LearningRecord, table: Rows[Pair], shift: int, least: int) -> int:
    """Move the entries with a count of `least` or more to an empty table, which replaces the current one; return 0."""
    before, n_slots = learning.pair_table, shift_left(1, 64 - learning.pair_table_shift)
    learning.pair_table = table
    learning.pair_table_shift = shift
    learning.most_pairs = shift_left(1, 63 - shift)
    learning.n_pairs = 0
    for slot in range(n_slots):
        pair = before[slot]
        if pair.key != 0 and pair.count >= least:
            entry = entry_of(learning, pair.key)
            add_pair(learning, entry, pair.key)
            entry.count = pair.count
            entry.list_end = pair.list_end
            entry.list_length = pair.list_length
    return 0


@kernel
def tie_of(learning: LearningRecord, pair: Pair) -> int:
    """Return a pair's first tie-breaker among equally frequent pairs; the smallest comes first in the heap."""
    if learning.rule == SHORTEST:
        return learning.measures[left_of(pair.key)] + learning.measures[right_of(pair.key)]
    if learning.rule == FIRST:
        return learning.pool[pair.list_end - pair.list_length]
    return 0


# --- the heap ------------------------------------------------------------------------------------------------------


@outlined
def _is_preferred(learning: LearningRecord, key: int, other: int) -> bool:
    """Return whether the first of two pairs with the same count and tie is merged before the second."""
    rule = learning.rule
    order = 0
    if rule == SHORTEST:
        order = compare_joined(learning, left_of(key), right_of(key), left_of(other), right_of(other))
    elif rule == LARGEST:
        order = compare_joined(learning, left_of(other), NO_SYMBOL, left_of(key), NO_SYMBOL)
        if order == 0:
            order = compare_joined(learning, right_of(other), NO_SYMBOL, right_of(key), NO_SYMBOL)
    return order < 0 or (order == 0 and key < other)


@inlined
def _comes_before(learning: LearningRecord, count: int, tie: int, key: int, other: HeapEntry) -> bool:
    if count != other.count:
        return count > other.count
    if tie != other.tie:
        return tie < other.tie
    return _is_preferred(learning, key, other.key)


@inlined
def _set(entry: HeapEntry, count: int, tie: int, key: int) -> None:
    entry.count = count
    entry.tie = tie
    entry.key = key


@kernel
def replace_first(learning: LearningRecord, count: int, tie: int, key: int) -> None:
    """Replace the first entry of the heap: put another there or further down, where the heap order holds."""
    heap, n, i = learning.heap, learning.n_heap, 0
    while 4 * i + 1 < n:
        best = 4 * i + 1
        for k in range(best + 1, min(4 * i + 5, n)):
            other = heap[k]
            if _comes_before(learning, other.count, other.tie, other.key, heap[best]):
                best = k
        child = heap[best]
        if _comes_before(learning, count, tie, key, child):
            break
        _set(heap[i], child.count, child.tie, child.key)
        i = best
    _set(heap[i], count, tie, key)


@kernel
def push(learning: LearningRecord, count: int, tie: int, key: int) -> None:
    """Add an entry; there must be room."""
    heap, i = learning.heap, learning.n_heap
    learning.n_heap = i + 1
    while i > 0:
        parent = heap[(i - 1) >> 2]
        if not _comes_before(learning, count, tie, key, parent):
            break
        _set(heap[i], parent.count, parent.tie, parent.key)
        i = (i - 1) >> 2
    _set(heap[i], count, tie, key)


@kernel
def drop_first(learning: LearningRecord) -> None:
    """Remove the first entry of the heap."""
    learning.n_heap = learning.n_heap - 1
    last = learning.heap[learning.n_heap]
    replace_first(learning, last.count, last.tie, last.key)


# --- listing -------------------------------------------------------------------------------------------------------


@kernel
def count_pairs(learning: LearningRecord) -> int:
    """Count pairs, from the place CELL on; return FINISHED or NO_ROOM."""
    cells = learning.cells
    left = cells[learning.cell - 1].symbol
    for place in range(learning.cell, learning.n_cells):
        right = cells[place].symbol
        if left >= 0 and right >= 0:
            key = key_of(left, right)
            entry = entry_of(learning, key)
            if entry.key == 0 and is_short_enough(learning, left, right):
                if learning.n_pairs == learning.most_pairs:
                    learning.cell = place
                    return NO_ROOM
                add_pair(learning, entry, key)
            if entry.key != 0:
                entry.count = entry.count + cells[place].weight
                entry.list_length = entry.list_length + 1
        left = right
    return FINISHED


@kernel
def list_pairs(learning: LearningRecord) -> int:
    """Fill the heap and the lists of all pairs in the table, which must have room; return 0."""
    table, n_slots = learning.pair_table, shift_left(1, 64 - learning.pair_table_shift)
    used = 0
    for slot in range(n_slots):
        if table[slot].key != 0:
            table[slot].list_end = used
            used += table[slot].list_length
    learning.pool_used = used
    _fill_lists(learning)
    for slot in range(n_slots):
        pair = table[slot]
        if pair.key != 0:
            push(learning, pair.count, tie_of(learning, pair), pair.key)
    return 0


@kernel
def _fill_lists(learning: LearningRecord) -> None:
    """Append each cell in which a pair of the table begins to the pair's list."""
    cells, pool = learning.cells, learning.pool
    left = cells[0].symbol
    for place in range(1, learning.n_cells):
        right = cells[place].symbol
        if left >= 0 and right >= 0:
            entry = entry_of(learning, key_of(left, right))
            if entry.key != 0:
                pool[entry.list_end] = place - 1
                entry.list_end = entry.list_end + 1
        left = right
