"""Learns merges: merges the most frequent pair, again and again, and keeps the counts of neighbouring pairs exact.

Every new pair holds the new symbol, so the changes of a merge are summed by left and by right neighbour, two rows by
symbol: the gain and its places. The pair table is accessed once per neighbour. Occurrences are replaced from left to
right: a list is in the order of places. Counts include overlapping pairs (`aaa` has two); replacements do not overlap.
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel, prefetch
from impls.compiled.language.pointers import address_of, from_item
from impls.compiled.language.typed_memory import I32s
from impls.compiled.training.layout import (
    ABSORBED,
    FINISHED,
    FIRST,
    FULL,
    NO_ROOM,
    TOO_RARE,
    LearningRecord,
    Pair,
)
from impls.compiled.training.pairs import (
    add_pair,
    append_token,
    drop_first,
    entry_of,
    is_reserved,
    is_short_enough,
    key_of,
    left_of,
    n_token_bytes,
    push,
    replace_first,
    right_of,
    tie_of,
)

AHEAD = 12
"""Prefetch distance, in places."""
NOT_STORED = -1
"""Stands in place of a list's index for a pair that is too rare or too long."""


@inlined
def _note(learning: LearningRecord, row: int, n_touched: int, n_events: int, weight: int, place: int) -> int:
    """Add an occurrence of `weight` to the row of a neighbour; return the number of rows in use."""
    neighbour, event = learning.neighbours[row], learning.events[n_events]
    if neighbour.times == 0:
        learning.touched[n_touched] = row
        n_touched += 1
    neighbour.gain = neighbour.gain + weight
    neighbour.times = neighbour.times + 1
    event.row = row
    event.place = place
    return n_touched


@inlined
def _new_key(row: int, new: int) -> int:
    """Return the key of the new pair with the neighbour of a row."""
    return key_of(new, row >> 1) if row & 1 else key_of(row >> 1, new)


@inlined
def _lose(learning: LearningRecord, key: int, weight: int) -> None:
    entry = entry_of(learning, key)
    if entry.key != 0:
        entry.count = entry.count - weight


@inlined
def _gain(learning: LearningRecord, row: int, new: int) -> None:
    """Store a new pair, with room for its list, if it is frequent and short enough."""
    neighbour = learning.neighbours[row]
    count, times = neighbour.gain, neighbour.times
    neighbour.gain = 0
    neighbour.times = NOT_STORED
    if count < learning.threshold or not is_short_enough(learning, row >> 1, new):
        return
    key = _new_key(row, new)
    entry = entry_of(learning, key)
    add_pair(learning, entry, key)
    used = learning.pool_used
    entry.count = count
    entry.list_end = used + times
    entry.list_length = times
    neighbour.times = used
    learning.pool_used = used + times


@inlined
def _offer(learning: LearningRecord, row: int, new: int) -> None:
    """Push a new pair to the heap if it was stored, and clear its row."""
    neighbour = learning.neighbours[row]
    if neighbour.times != NOT_STORED:
        key = _new_key(row, new)
        entry = entry_of(learning, key)
        push(learning, entry.count, tie_of(learning, entry), key)
    neighbour.times = 0


@kernel
def _replace(learning: LearningRecord, left: int, right: int, new: int, places: I32s, n_places: int) -> tuple[int, int]:
    """Replace a pair at those of the given places where it still exists, and note the neighbours of each occurrence.

    Return the number of rows in use and that of the neighbours.
    """
    cells, spans = learning.cells, learning.spans
    left_span, right_span = spans[left], spans[right]
    n_touched, n_events = 0, 0
    for i in range(n_places):
        if i + AHEAD < n_places:
            prefetch(address_of(cells[places[i + AHEAD]]))
        place = places[i]
        second, past = place + left_span, place + left_span + right_span
        # Cells are read and written by place: an occurrence that overlapped the one before it is gone.
        if cells[place].symbol != left or cells[second].symbol != right:
            continue
        weight, before, after = cells[place].weight, cells[place - 1].symbol, cells[past].symbol
        if before >= 0:
            n_touched = _note(learning, 2 * before, n_touched, n_events, weight, place - spans[before])
            n_events += 1
        if after >= 0:
            n_touched = _note(learning, 2 * after + 1, n_touched, n_events, weight, place)
            n_events += 1
        cells[place].symbol = new
        cells[second].symbol = ABSORBED
        cells[past - 1].symbol = new
    return n_touched, n_events


@kernel
def _merge(learning: LearningRecord, left: int, right: int, new: int, places: I32s, n_places: int) -> None:
    """Merge a pair at those of the given places where it still exists; update the pairs of its neighbours."""
    n_touched, n_events = _replace(learning, left, right, new, places, n_places)
    neighbours, touched = learning.neighbours, learning.touched
    # If the left neighbour is the new symbol itself, the occurrence before counted `left` as its right neighbour.
    twice = neighbours[2 * new].gain
    for i in range(n_touched):
        row = touched[i]
        symbol, weight = row >> 1, neighbours[row].gain
        if row & 1:
            _lose(learning, key_of(right, symbol), weight)
            if symbol == left:
                neighbours[row].gain = weight - twice
        elif symbol != new:
            _lose(learning, key_of(symbol, left), weight)
    for i in range(n_touched):
        _gain(learning, touched[i], new)
    for i in range(n_events):
        event = learning.events[i]
        neighbour = neighbours[event.row]
        if neighbour.times != NOT_STORED:
            learning.pool[neighbour.times] = event.place
            neighbour.times += 1
    for i in range(n_touched):
        _offer(learning, touched[i], new)


@inlined
def _has_room(learning: LearningRecord, n_places: int, n_symbols: int, n_bytes: int) -> bool:
    """Return whether merging at n_places places, with a new token of n_bytes, fits in all tables but the pool."""
    n_pairs = 2 * min(n_places, n_symbols + 1)
    return (
        learning.n_heap + n_pairs <= learning.heap_room
        and learning.n_pairs + n_pairs <= learning.most_pairs
        and learning.token_starts[n_symbols] + n_bytes <= learning.token_text_room
    )


@kernel
def _is_up_to_date(learning: LearningRecord, pair: Pair, tie: int) -> bool:
    """Return whether a pair's tie is current; places it no longer has are dropped from the start of its list."""
    if learning.rule != FIRST:
        return True
    cells, left, right = learning.cells, left_of(pair.key), right_of(pair.key)
    while True:
        place = tie_of(learning, pair)
        if cells[place].symbol == left and cells[place + learning.spans[left]].symbol == right:
            return place == tie
        pair.list_length = pair.list_length - 1


@kernel
def learn(learning: LearningRecord) -> int:
    """Learn merges; return FINISHED if there are enough, else TOO_RARE, NO_ROOM (in a table), or FULL (the pool is)."""
    while learning.n_merges < learning.most_merges:
        if learning.n_heap == 0:
            return TOO_RARE
        first = learning.heap[0]
        count, key = first.count, first.key
        pair, left, right = entry_of(learning, key), left_of(key), right_of(key)
        if pair.count < learning.threshold:
            drop_first(learning)
            continue
        if pair.count != count or not _is_up_to_date(learning, pair, first.tie):
            replace_first(learning, pair.count, tie_of(learning, pair), key)
            continue
        n_places, new = pair.list_length, learning.n_base + learning.n_merges
        if not _has_room(learning, n_places, new, n_token_bytes(learning, left) + n_token_bytes(learning, right)):
            return NO_ROOM
        if learning.pool_used + 2 * n_places > learning.pool_room:
            return FULL
        drop_first(learning)
        append_token(learning, left, right, new)
        if is_reserved(learning, new):
            continue
        merge = learning.merges[learning.n_merges]
        merge.left, merge.right, merge.count = left, right, count
        learning.spans[new] = learning.spans[left] + learning.spans[right]
        learning.measures[new] = learning.measures[left] + learning.measures[right]
        pair.count = 0
        _merge(learning, left, right, new, from_item(learning.pool, pair.list_end - n_places), n_places)
        learning.n_merges = learning.n_merges + 1
    return FINISHED
