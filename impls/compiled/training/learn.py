"""Learns merges: merges the most frequent pair, again and again, and keeps the counts of neighbouring pairs exact.

Every new pair holds the new symbol, so the changes of a merge are summed in two tables, by left and by right neighbour:
the gain and its positions. The pair table is accessed once per neighbour. Occurrences are replaced from left to right:
a list is in the order of positions. Counts include overlapping pairs (`aaa` has two); replacements do not overlap.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    prefetch,
    store_32,
    store_64,
)
from impls.compiled.training.cells import cell_at
from impls.compiled.training.layout import (
    ABSORBED,
    CELL_BYTES,
    FINISHED,
    FIRST,
    FULL,
    NO_ROOM,
    TOO_RARE,
    LearningRecord,
)
from impls.compiled.training.list_pairs import tie_of
from impls.compiled.training.pair_heap import drop_first, push, replace_first
from impls.compiled.training.pair_table import (
    COUNT,
    LIST_END,
    LIST_LENGTH,
    add_pair,
    entry_of,
    key_of,
    left_of,
    right_of,
)
from impls.compiled.training.tokens import append_token, is_reserved, is_short_enough, n_token_bytes

AHEAD = 12
"""Prefetch distance, in positions."""
ROW = 16
GAIN, TIMES, NOT_STORED = 0, 8, -1
"""Offsets in a row: the gain; the number of occurrences, later the next free index of their list, or NOT_STORED."""
MERGE_BYTES = 24


@inlined
def _note(rows: int, touched: int, n_touched: int, symbol: int, weight: int) -> int:
    """Add an occurrence of `weight` to the row of a neighbour; return the number of rows in use."""
    row = rows + ROW * symbol
    times = load_i64(row + TIMES)
    if times == 0:
        store_32(touched + 4 * n_touched, symbol)
        n_touched += 1
    store_64(row + GAIN, load_i64(row + GAIN) + weight)
    store_64(row + TIMES, times + 1)
    return n_touched


@inlined
def _note_event(events: int, n: int, symbol: int, place: int) -> None:
    store_32(events + 8 * n, symbol)
    store_32(events + 8 * n + 4, place)


@inlined
def _lose(learning: LearningRecord, key: int, weight: int) -> None:
    entry = entry_of(learning, key)
    if load_i64(entry) != 0:
        store_64(entry + COUNT, load_i64(entry + COUNT) - weight)


@inlined
def _gain(learning: LearningRecord, row: int, left: int, right: int, count: int) -> None:
    """Store a new pair, with room for its list, if it is frequent and short enough."""
    times = load_i64(row + TIMES)
    store_64(row + GAIN, 0)
    store_64(row + TIMES, NOT_STORED)
    if count < learning.threshold or not is_short_enough(learning, left, right):
        return
    key = key_of(left, right)
    entry = entry_of(learning, key)
    add_pair(learning, entry, key)
    used = learning.pool_used
    store_64(entry + COUNT, count)
    store_64(entry + LIST_END, used + times)
    store_64(entry + LIST_LENGTH, times)
    store_64(row + TIMES, used)
    learning.pool_used = used + times


@inlined
def _offer(learning: LearningRecord, row: int, left: int, right: int) -> None:
    """Push a new pair to the heap if it was stored, and clear its row."""
    if load_i64(row + TIMES) != NOT_STORED:
        key = key_of(left, right)
        entry = entry_of(learning, key)
        push(learning, load_i64(entry + COUNT), tie_of(learning, entry), key)
    store_64(row + TIMES, 0)


@inlined
def _write_lists(learning: LearningRecord, rows: int, events: int, n_events: int) -> None:
    pool = learning.pool
    for i in range(n_events):
        row = rows + ROW * load_i32(events + 8 * i)
        to = load_i64(row + TIMES)
        if to != NOT_STORED:
            store_32(pool + 4 * to, load_i32(events + 8 * i + 4))
            store_64(row + TIMES, to + 1)


@kernel
def _merge(learning: LearningRecord, left: int, right: int, new: int, places: int, n_places: int) -> None:
    """Merge a pair at those of the given positions where it still exists; update the pairs of its neighbours."""
    cells, spans = learning.cells, learning.spans
    lefts, rights = learning.lefts, learning.rights
    touched_lefts, touched_rights = learning.touched_lefts, learning.touched_rights
    left_events, right_events = learning.left_events, learning.right_events
    left_span, right_span = load_i32(spans + 4 * left), load_i32(spans + 4 * right)
    n_lefts, n_rights, n_touched_lefts, n_touched_rights = 0, 0, 0, 0
    for i in range(n_places):
        if i + AHEAD < n_places:
            prefetch(cell_at(cells, load_i32(places + 4 * (i + AHEAD))))
        place = load_i32(places + 4 * i)
        cell = cell_at(cells, place)
        if load_i32(cell) != left:
            continue
        second = cell + CELL_BYTES * left_span
        if load_i32(second) != right:
            continue
        weight = load_i32(cell + 4)
        past = second + CELL_BYTES * right_span
        before, after = load_i32(cell - CELL_BYTES), load_i32(past)
        if before >= 0:
            n_touched_lefts = _note(lefts, touched_lefts, n_touched_lefts, before, weight)
            _note_event(left_events, n_lefts, before, place - load_i32(spans + 4 * before))
            n_lefts += 1
        if after >= 0:
            n_touched_rights = _note(rights, touched_rights, n_touched_rights, after, weight)
            _note_event(right_events, n_rights, after, place)
            n_rights += 1
        store_32(cell, new)
        store_32(second, ABSORBED)
        store_32(past - CELL_BYTES, new)
    # If the left neighbour is the new symbol itself, the occurrence before counted `left` as its right neighbour.
    twice = load_i64(lefts + ROW * new + GAIN)
    for i in range(n_touched_lefts):
        before = load_i32(touched_lefts + 4 * i)
        if before != new:
            _lose(learning, key_of(before, left), load_i64(lefts + ROW * before + GAIN))
    for i in range(n_touched_rights):
        after = load_i32(touched_rights + 4 * i)
        gain = rights + ROW * after + GAIN
        _lose(learning, key_of(right, after), load_i64(gain))
        if after == left:
            store_64(gain, load_i64(gain) - twice)
    for i in range(n_touched_lefts):
        before = load_i32(touched_lefts + 4 * i)
        row = lefts + ROW * before
        _gain(learning, row, before, new, load_i64(row + GAIN))
    for i in range(n_touched_rights):
        after = load_i32(touched_rights + 4 * i)
        row = rights + ROW * after
        _gain(learning, row, new, after, load_i64(row + GAIN))
    _write_lists(learning, lefts, left_events, n_lefts)
    _write_lists(learning, rights, right_events, n_rights)
    for i in range(n_touched_lefts):
        before = load_i32(touched_lefts + 4 * i)
        _offer(learning, lefts + ROW * before, before, new)
    for i in range(n_touched_rights):
        after = load_i32(touched_rights + 4 * i)
        _offer(learning, rights + ROW * after, new, after)


@inlined
def _has_room(learning: LearningRecord, n_places: int, n_symbols: int, n_bytes: int) -> bool:
    """Return whether merging at n_places positions, with a new token of n_bytes, fits in all tables but the pool."""
    n_pairs = 2 * min(n_places, n_symbols + 1)
    n_text = load_i64(learning.token_starts + 8 * n_symbols) + n_bytes
    return (
        learning.n_heap + n_pairs <= learning.heap_room
        and learning.n_pairs + n_pairs <= learning.most_pairs
        and n_text <= learning.token_text_room
    )


@kernel
def _is_up_to_date(learning: LearningRecord, entry: int, tie: int) -> bool:
    """Return whether a pair's tie is current; positions it no longer has are dropped from the start of its list."""
    if learning.rule != FIRST:
        return True
    cells, spans, key = learning.cells, learning.spans, load_i64(entry)
    left, right = left_of(key), right_of(key)
    while True:
        place = tie_of(learning, entry)
        cell = cell_at(cells, place)
        if load_i32(cell) == left and load_i32(cell + CELL_BYTES * load_i32(spans + 4 * left)) == right:
            return place == tie
        store_64(entry + LIST_LENGTH, load_i64(entry + LIST_LENGTH) - 1)


@inlined
def _add_lengths(lengths: int, left: int, right: int, new: int) -> None:
    store_32(lengths + 4 * new, load_i32(lengths + 4 * left) + load_i32(lengths + 4 * right))


@inlined
def _begin(learning: LearningRecord, left: int, right: int, new: int, count: int) -> None:
    """Record a merge and create its symbol."""
    merge = learning.merges + MERGE_BYTES * learning.n_merges
    store_64(merge, left)
    store_64(merge + 8, right)
    store_64(merge + 16, count)
    append_token(learning, left, right, new)
    _add_lengths(learning.spans, left, right, new)
    _add_lengths(learning.measures, left, right, new)
    _add_lengths(learning.token_characters, left, right, new)


@kernel
def learn(learning: LearningRecord) -> int:
    """Learn merges; return FINISHED if there are enough, else TOO_RARE, NO_ROOM (in a table), or FULL (the pool is)."""
    threshold, heap = learning.threshold, learning.heap
    while learning.n_merges < learning.most_merges:
        if learning.n_heap == 0:
            return TOO_RARE
        count, key = load_i64(heap), load_i64(heap + 16)
        entry = entry_of(learning, key)
        now, left, right = load_i64(entry + COUNT), left_of(key), right_of(key)
        if now < threshold or is_reserved(learning, left, right):
            drop_first(learning)
            continue
        if now != count or not _is_up_to_date(learning, entry, load_i64(heap + 8)):
            replace_first(learning, now, tie_of(learning, entry), key)
            continue
        n_places = load_i64(entry + LIST_LENGTH)
        new = learning.n_base + learning.n_merges
        places = learning.pool + 4 * (load_i64(entry + LIST_END) - n_places)
        if not _has_room(learning, n_places, new, n_token_bytes(learning, left) + n_token_bytes(learning, right)):
            return NO_ROOM
        if learning.pool_used + 2 * n_places > learning.pool_room:
            return FULL
        drop_first(learning)
        _begin(learning, left, right, new, count)
        store_64(entry + COUNT, 0)
        _merge(learning, left, right, new, places, n_places)
        learning.n_merges = learning.n_merges + 1
    return FINISHED
