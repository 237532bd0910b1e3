"""Counts the distinct pieces of a corpus: the words from which a vocabulary is learned.

A piece of up to 7 bytes is its own key; a longer one is found by its hash and compared byte by byte. Keys and slots of
some hundred pieces are computed first, so that the slots are prefetched when the first is read.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    inlined,
    kernel,
    load_i32,
    load_i64,
    prefetch,
    shift_left,
    shift_right,
    store_32,
    store_64,
    wrapping_multiply,
)
from impls.compiled.layout import (
    BLOCK_BYTES,
    BOUNDS_AT,
    MASKS_AT,
    RECORDS_AT,
    UNCOVERED,
    ContextRecord,
)
from impls.compiled.lookup.encode import split_block
from impls.compiled.lookup.hashing import K1, hash_piece, same_bytes
from impls.compiled.training.layout import (
    FINISHED,
    NO_ROOM,
    CountingRecord,
)

ENTRY = 16
LONGEST_KEY = 7
RECORD = 24
"""Size of a recorded piece: int64 key, address of its entry, `offset from TEXTS << 32 | number of bytes`."""
ENOUGH = 256
"""Number of recorded pieces that are counted at once."""
LOW_HALF = (1 << 32) - 1


@inlined
def _key_of(piece: int, n_bytes: int) -> int:
    """Return the key of a piece: above 0 the piece itself, below 0 the hash of a longer piece; reads 8 bytes."""
    if n_bytes <= LONGEST_KEY:
        return (load_i64(piece) & shift_right(-1, 64 - 8 * n_bytes)) | shift_left(n_bytes, 56)
    return hash_piece(piece, n_bytes) | shift_left(1, 63)


@inlined
def _slot_of(table: int, shift: int, key: int) -> int:
    return table + ENTRY * shift_right(wrapping_multiply(key, K1), shift)


@kernel
def _add(counting: CountingRecord, key: int, entry: int, piece: int, n_bytes: int, times: int) -> int:
    """Add `times` to the count of a piece, probing from `entry` on; return its index."""
    table = counting.piece_table
    end = table + shift_left(ENTRY, 64 - counting.piece_shift)
    while True:
        stored = load_i64(entry)
        if stored == 0:
            return _put(counting, key, entry, piece, n_bytes, times)
        if stored == key:
            word = load_i64(entry + 8)
            number = shift_right(word, 32)
            if key > 0 or (
                load_i32(counting.lengths + 4 * number) == n_bytes
                and same_bytes(counting.arena + load_i64(counting.starts + 8 * number), piece, n_bytes)
            ):
                store_64(entry + 8, word + times)
                return number
        entry += ENTRY
        if entry == end:
            entry = table


@kernel
def _put(counting: CountingRecord, key: int, entry: int, piece: int, n_bytes: int, times: int) -> int:
    number, used = counting.n_pieces, counting.arena_used
    store_64(entry, key)
    store_64(entry + 8, shift_left(number, 32) | times)
    store_64(counting.starts + 8 * number, used)
    store_32(counting.lengths + 4 * number, n_bytes)
    arena = counting.arena + used
    for i in range(0, n_bytes, 8):
        store_64(arena + i, load_i64(piece + i))
    counting.arena_used = (used + n_bytes + 7) & ~7
    counting.n_pieces = number + 1
    return number


@kernel
def _record_pieces(
    context: ContextRecord, counting: CountingRecord, text: int, start: int, ends: int, n_pieces: int, n_recorded: int
) -> None:
    """Record the pieces of a text after `n_recorded` others, and prefetch their entries; the first begins at `start`.

    `ends` are int32 offsets from `text`, which lies within TEXTS.
    """
    table, shift, offset = counting.piece_table, counting.piece_shift, text - counting.texts
    begin, record = start, context.work + RECORDS_AT + RECORD * n_recorded
    for i in range(n_pieces):
        end = load_i32(ends + 4 * i)
        key = _key_of(text + begin, end - begin)
        entry = _slot_of(table, shift, key)
        prefetch(entry)
        store_64(record, key)
        store_64(record + 8, entry)
        store_64(record + 16, shift_left(offset + begin, 32) | (end - begin))
        record += RECORD
        begin = end


@kernel
def _count_recorded(context: ContextRecord, counting: CountingRecord, n_recorded: int) -> None:
    """Count the recorded pieces."""
    texts, record = counting.texts, context.work + RECORDS_AT
    for _ in range(n_recorded):
        place = load_i64(record + 16)
        _add(counting, load_i64(record), load_i64(record + 8), texts + shift_right(place, 32), place & LOW_HALF, 1)
        record += RECORD


@inlined
def _has_room(counting: CountingRecord, n_pieces: int, n_bytes: int) -> bool:
    """Return whether n_pieces new pieces of n_bytes in total would fit."""
    used = counting.arena_used + n_bytes + 8 * n_pieces
    return counting.n_pieces + n_pieces <= counting.most_pieces and used <= counting.arena_bytes


@kernel
def count_texts(context: ContextRecord, counting: CountingRecord) -> int:
    """Count the pieces of the texts, resuming where the last call stopped; return FINISHED, NO_ROOM, or UNCOVERED.

    Pieces of short texts are counted together, so that the first entries arrive while the last pieces are recorded.
    """
    work = context.work
    number, at, position, n_pieces = counting.text, counting.text_at, counting.position, counting.n_split
    counting.n_split = 0
    n_recorded, n_bytes_recorded = 0, 0
    while number < counting.n_texts:
        text, n_bytes = counting.texts + at, load_i64(counting.text_bytes + 8 * number)
        while position < n_bytes:
            if n_pieces == 0:
                limit = min(n_bytes, position + BLOCK_BYTES)
                n_pieces = split_block(context, text, n_bytes, counting.n_readable - at, position, limit, 0)
                if n_pieces < 0:
                    return UNCOVERED
            after = load_i64(work + MASKS_AT)
            n_bytes_recorded += after - position
            if not _has_room(counting, n_recorded + n_pieces, n_bytes_recorded):
                _count_recorded(context, counting, n_recorded)
                counting.text = number
                counting.text_at = at
                counting.position = position
                counting.n_split = n_pieces
                return NO_ROOM
            _record_pieces(context, counting, text, position, work + BOUNDS_AT, n_pieces, n_recorded)
            n_recorded += n_pieces
            if n_recorded >= ENOUGH:
                _count_recorded(context, counting, n_recorded)
                n_recorded, n_bytes_recorded = 0, 0
            position, n_pieces = after, 0
        number += 1
        at += n_bytes
        position = 0
    _count_recorded(context, counting, n_recorded)
    return FINISHED


@kernel
def count_split(context: ContextRecord, counting: CountingRecord, text: int, ends: int, n_pieces: int) -> int:
    """Count the pieces of one text that is split already, at `ends` (int32); return FINISHED or NO_ROOM.

    Resumes at the piece with index POSITION.
    """
    counting.texts = text
    done = counting.position
    while done < n_pieces:
        block = min(n_pieces - done, BLOCK_BYTES)
        begin = load_i32(ends + 4 * done - 4) if done > 0 else 0
        if not _has_room(counting, block, load_i32(ends + 4 * (done + block) - 4) - begin):
            counting.position = done
            return NO_ROOM
        _record_pieces(context, counting, text, begin, ends + 4 * done, block, 0)
        _count_recorded(context, counting, block)
        done += block
    return FINISHED


@kernel
def spread_pieces(counting: CountingRecord, table: int, shift: int) -> int:
    """Move all entries to an empty table, which replaces the current one; return 0."""
    before = counting.piece_table
    end = table + shift_left(ENTRY, 64 - shift)
    for at in range(before, before + shift_left(ENTRY, 64 - counting.piece_shift), ENTRY):
        key = load_i64(at)
        if key != 0:
            entry = _slot_of(table, shift, key)
            while load_i64(entry) != 0:
                entry += ENTRY
                if entry == end:
                    entry = table
            store_64(entry, key)
            store_64(entry + 8, load_i64(at + 8))
    counting.piece_table = table
    counting.piece_shift = shift
    counting.most_pieces = shift_left(1, 63 - shift)
    return 0


@kernel
def number_pieces(counting: CountingRecord, other: CountingRecord, numbers: int) -> int:
    """Insert the pieces of another table from POSITION on, and write their indices here (int32, by index there).

    Returns FINISHED or NO_ROOM. Counts do not change.
    """
    table, shift = counting.piece_table, counting.piece_shift
    arena, starts, lengths = other.arena, other.starts, other.lengths
    for number in range(counting.position, other.n_pieces):
        piece, n_bytes = arena + load_i64(starts + 8 * number), load_i32(lengths + 4 * number)
        if not _has_room(counting, 1, n_bytes):
            counting.position = number
            return NO_ROOM
        key = _key_of(piece, n_bytes)
        store_32(numbers + 4 * number, _add(counting, key, _slot_of(table, shift, key), piece, n_bytes, 0))
    return FINISHED


@kernel
def collect_counts(counting: CountingRecord, counts: int) -> int:
    """Add the count of each piece to `counts` (int64 by piece) and reset it to 0; return 0."""
    table = counting.piece_table
    for entry in range(table, table + shift_left(ENTRY, 64 - counting.piece_shift), ENTRY):
        if load_i64(entry) != 0:
            word = load_i64(entry + 8)
            place = counts + 8 * shift_right(word, 32)
            store_64(place, load_i64(place) + (word & LOW_HALF))
            store_64(entry + 8, word & ~LOW_HALF)
    return 0
