"""Counts the distinct pieces of a corpus: the words from which a vocabulary is learned.

A piece of up to 7 bytes is its own key; a longer one is found by its hash and compared byte by byte. Keys and slots of
some hundred pieces are computed first, so that the slots are prefetched when the first is read.
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel, prefetch, shift_left, shift_right, wrapping_multiply
from impls.compiled.language.pointers import address_of, from_item, rows_of, set_word, word_at
from impls.compiled.language.typed_memory import I32s, Record, Rows, U8s, i64
from impls.compiled.layout import BLOCK_BYTES, MOST_BOUNDS, UNCOVERED, ContextRecord
from impls.compiled.lookup.encode import split_block
from impls.compiled.lookup.hashing import K1, hash_piece, same_bytes
from impls.compiled.training.layout import FINISHED, NO_ROOM, CountedPiece, CountingRecord

LONGEST_KEY = 7
ENOUGH = 256
"""Number of recorded pieces that are counted at once."""
LOW_HALF = (1 << 32) - 1


class RecordedPiece(Record):
    """A piece that is counted as soon as its entry, which is prefetched, has arrived."""

    key: i64
    slot: i64  # the index of its first slot
    offset: i64  # where it begins, from TEXTS on, << 32 | its number of bytes


_recorded_at = rows_of(RecordedPiece)


@inlined
def _recorded(context: ContextRecord) -> Rows[RecordedPiece]:
    """Return the recorded pieces, which take the place of the keys and slots of encoding."""
    return _recorded_at(address_of(context.keys))


@inlined
def _key_of(piece: U8s, n_bytes: int) -> int:
    """Return the key of a piece: above 0 the piece itself, below 0 the hash of a longer piece; reads 8 bytes."""
    if n_bytes <= LONGEST_KEY:
        return (word_at(piece, 0) & shift_right(-1, 64 - 8 * n_bytes)) | shift_left(n_bytes, 56)
    return hash_piece(piece, n_bytes) | shift_left(1, 63)


@inlined
def _slot_of(shift: int, key: int) -> int:
    return shift_right(wrapping_multiply(key, K1), shift)


@kernel
def _add(counting: CountingRecord, key: int, slot: int, piece: U8s, n_bytes: int, times: int) -> None:
    """Add `times` to the count of a piece, probing from `slot` on."""
    table, last = counting.piece_table, shift_right(-1, counting.piece_shift)
    while True:
        entry = table[slot]
        if entry.key == 0:
            _put(counting, key, entry, piece, n_bytes, times)
            return
        if entry.key == key:
            number = entry.number
            if key > 0 or (
                counting.lengths[number] == n_bytes
                and same_bytes(from_item(counting.arena, counting.starts[number]), piece, n_bytes)
            ):
                counting.counts[number] = counting.counts[number] + times
                return
        slot = (slot + 1) & last


@kernel
def _put(counting: CountingRecord, key: int, entry: CountedPiece, piece: U8s, n_bytes: int, times: int) -> None:
    number, used = counting.n_pieces, counting.arena_used
    entry.key = key
    entry.number = number
    counting.counts[number] = times
    counting.starts[number] = used
    counting.lengths[number] = n_bytes
    for i in range(0, n_bytes, 8):
        set_word(counting.arena, used + i, word_at(piece, i))
    counting.arena_used = (used + n_bytes + 7) & ~7
    counting.n_pieces = number + 1


@kernel
def _record_pieces(
    context: ContextRecord, counting: CountingRecord, text: U8s, start: int, ends: I32s, n_pieces: int, n_recorded: int
) -> None:
    """Record the pieces of a text after `n_recorded` others, and prefetch their entries; the first begins at `start`.

    `ends` are offsets from `text`, which lies within TEXTS.
    """
    table, shift, offset = counting.piece_table, counting.piece_shift, address_of(text) - address_of(counting.texts)
    begin, pieces = start, from_item(_recorded(context), n_recorded)
    for i in range(n_pieces):
        end = ends[i]
        key = _key_of(from_item(text, begin), end - begin)
        slot = _slot_of(shift, key)
        prefetch(address_of(table[slot]))
        pieces[i].key = key
        pieces[i].slot = slot
        pieces[i].offset = shift_left(offset + begin, 32) | (end - begin)
        begin = end


@kernel
def _count_recorded(context: ContextRecord, counting: CountingRecord, n_recorded: int) -> None:
    """Count the recorded pieces."""
    pieces = _recorded(context)
    for i in range(n_recorded):
        piece = pieces[i]
        text = from_item(counting.texts, shift_right(piece.offset, 32))
        _add(counting, piece.key, piece.slot, text, piece.offset & LOW_HALF, 1)


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
    number, at, position = counting.text, counting.text_at, counting.position
    n_recorded, n_bytes_recorded = 0, 0
    while number < counting.n_texts:
        text, n_bytes = from_item(counting.texts, at), counting.text_bytes[number]
        while position < n_bytes:
            # No block is split twice, as `stages` never go back; its last piece may be all the rest of the text.
            n_left = n_bytes - position
            if not _has_room(counting, n_recorded + min(n_left, MOST_BOUNDS), n_bytes_recorded + n_left):
                _count_recorded(context, counting, n_recorded)
                counting.text = number
                counting.text_at = at
                counting.position = position
                return NO_ROOM
            limit = min(n_bytes, position + BLOCK_BYTES)
            n_pieces = split_block(context, text, n_bytes, counting.n_readable - at, position, limit)
            if n_pieces < 0:
                return UNCOVERED
            n_bytes_recorded += context.after - position
            _record_pieces(context, counting, text, position, context.ends, n_pieces, n_recorded)
            n_recorded += n_pieces
            if n_recorded >= ENOUGH:
                _count_recorded(context, counting, n_recorded)
                n_recorded, n_bytes_recorded = 0, 0
            position = context.after
        number += 1
        at += n_bytes
        position = 0
    _count_recorded(context, counting, n_recorded)
    return FINISHED


@kernel
def spread_pieces(counting: CountingRecord, table: Rows[CountedPiece], shift: int) -> int:
    """Move all entries to an empty table, which replaces the current one; return 0."""
    before, last = counting.piece_table, shift_right(-1, shift)
    for i in range(shift_left(1, 64 - counting.piece_shift)):
        key = before[i].key
        if key != 0:
            slot = _slot_of(shift, key)
            while table[slot].key != 0:
                slot = (slot + 1) & last
            table[slot].key = key
            table[slot].number = before[i].number
    counting.piece_table = table
    counting.piece_shift = shift
    counting.most_pieces = shift_left(1, 63 - shift)
    return 0


@kernel
def add_pieces(counting: CountingRecord, other: CountingRecord) -> int:
    """Add the counts of another table's pieces from POSITION on; return FINISHED or NO_ROOM."""
    for number in range(counting.position, other.n_pieces):
        piece, n_bytes = from_item(other.arena, other.starts[number]), other.lengths[number]
        if not _has_room(counting, 1, n_bytes):
            counting.position = number
            return NO_ROOM
        key = _key_of(piece, n_bytes)
        _add(counting, key, _slot_of(counting.piece_shift, key), piece, n_bytes, other.counts[number])
    return FINISHED
