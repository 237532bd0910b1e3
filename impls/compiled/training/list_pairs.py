"""Lists the pairs of the corpus that are frequent enough, each with the cells in which it begins.

Pairs are counted in two passes: sums over hashes give an upper bound of each pair's count, then the pairs that may
reach the threshold are counted. This is exact: a pair gains occurrences only while its newer symbol is made, so one
that is too rare now stays so until the threshold falls.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import kernel, load_i32, load_i64, shift_left, store_32, store_64
from impls.compiled.training.cells import cell_at
from impls.compiled.training.layout import (
    FINISHED,
    FIRST,
    NO_ROOM,
    SHORTEST,
    LearningRecord,
)
from impls.compiled.training.pair_heap import append, heapify
from impls.compiled.training.pair_table import (
    COUNT,
    ENTRY,
    LIST_END,
    LIST_LENGTH,
    add_pair,
    entry_of,
    key_of,
    left_of,
    right_of,
    sum_place,
)
from impls.compiled.training.tokens import is_short_enough


@kernel
def tie_of(learning: LearningRecord, entry: int) -> int:
    """Return a pair's first tie-breaker among equally frequent pairs; the smallest comes first in the heap."""
    rule, key = learning.rule, load_i64(entry)
    if rule == SHORTEST:
        measures = learning.measures
        return load_i32(measures + 4 * left_of(key)) + load_i32(measures + 4 * right_of(key))
    if rule == FIRST:
        return load_i32(learning.pool + 4 * (load_i64(entry + LIST_END) - load_i64(entry + LIST_LENGTH)))
    return 0


@kernel
def sum_pairs(learning: LearningRecord) -> int:
    """Sum the weights of pairs by hash in SUMS; return 0."""
    cells, sums = learning.cells, learning.sums
    left = load_i32(cells)
    for place in range(1, learning.n_cells):
        right = load_i32(cell_at(cells, place))
        if left >= 0 and right >= 0:
            at = sum_place(sums, key_of(left, right))
            store_64(at, load_i64(at) + load_i32(cell_at(cells, place) + 4))
        left = right
    return 0


@kernel
def count_pairs(learning: LearningRecord) -> int:
    """Count the pairs that may reach the threshold, from the place CELL on; return FINISHED or NO_ROOM."""
    cells, sums = learning.cells, learning.sums
    threshold, most = learning.threshold, learning.most_pairs
    begin = learning.cell
    left = load_i32(cell_at(cells, begin - 1))
    for place in range(begin, learning.n_cells):
        right = load_i32(cell_at(cells, place))
        if left >= 0 and right >= 0:
            key = key_of(left, right)
            if load_i64(sum_place(sums, key)) >= threshold:
                entry = entry_of(learning, key)
                if load_i64(entry) == 0 and is_short_enough(learning, left, right):
                    if learning.n_pairs == most:
                        learning.cell = place
                        return NO_ROOM
                    add_pair(learning, entry, key)
                if load_i64(entry) != 0:
                    store_64(entry + COUNT, load_i64(entry + COUNT) + load_i32(cell_at(cells, place) + 4))
                    store_64(entry + LIST_LENGTH, load_i64(entry + LIST_LENGTH) + 1)
        left = right
    return FINISHED


@kernel
def list_pairs(learning: LearningRecord) -> int:
    """Fill the heap and the lists of all pairs in the table, which must have room; return the longest list's length."""
    table = learning.pair_table
    end_of_table = table + shift_left(ENTRY, 64 - learning.pair_table_shift)
    used, longest = 0, 0
    for entry in range(table, end_of_table, ENTRY):
        if load_i64(entry) != 0:
            store_64(entry + LIST_END, used)
            used += load_i64(entry + LIST_LENGTH)
            longest = max(longest, load_i64(entry + LIST_LENGTH))
    learning.pool_used = used
    cells, pool, sums = learning.cells, learning.pool, learning.sums
    threshold = learning.threshold
    left = load_i32(cells)
    for place in range(1, learning.n_cells):
        right = load_i32(cell_at(cells, place))
        if left >= 0 and right >= 0:
            key = key_of(left, right)
            if load_i64(sum_place(sums, key)) >= threshold:
                entry = entry_of(learning, key)
                if load_i64(entry) != 0:
                    end = load_i64(entry + LIST_END)
                    store_32(pool + 4 * end, place - 1)
                    store_64(entry + LIST_END, end + 1)
        left = right
    for entry in range(table, end_of_table, ENTRY):
        if load_i64(entry) != 0:
            append(learning, load_i64(entry + COUNT), tie_of(learning, entry), load_i64(entry))
    heapify(learning)
    return longest
