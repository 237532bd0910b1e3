"""Enlarges the hash tables of pieces, which start small and grow in place, in memory reserved for their maximum size.

They grow only between blocks, because the records of a block hold addresses of slots: a table grows as soon as the
pieces of another block might not fit. A slot is the top bits of a hash, so the entries of slot i move to slots 2i and
2i + 1 of a table twice as large. When entries are moved from the last to
the first, these slots are empty, or taken by entries moved before. The first entries, whose new slots would still hold
old ones, are kept in the working space until all others have moved. If runs of full slots are so long that this does
not hold, an entry may get lost; its piece is then merged again.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, outlined, shift_left, shift_right
from impls.compiled.codegen.pointers import address_of, i64s
from impls.compiled.layout import (
    BLOCK_BYTES,
    RECORDS_BYTES,
    ContextRecord,
    TableRecord,
)
from impls.compiled.lookup.cache import LONG_ENTRY, SHORT_ENTRY, next_line
from impls.compiled.lookup.hashing import mix

SHORT_MARK, LONG_MARK = 8, 16
"""Offset of the word of an entry that is 0 in an empty slot; the offset also identifies the table."""
LEAST_WAITING = 512
"""More than the longest run of full slots: with three quarters of all slots full, there are runs of a few hundred."""
PAGE_BYTES = 4096


@inlined
def _hash_of_entry(entry: int, mark: int) -> int:
    return mix(i64s(entry)[0], i64s(entry)[1]) if mark == SHORT_MARK else i64s(entry)[0]


@inlined
def _move(entry: int, to: int, size: int) -> None:
    words, moved = i64s(entry), i64s(to)
    for k in range(size >> 3):
        moved[k] = words[k]
        words[k] = 0


@inlined
def _is_taken(entry: int, mark: int) -> bool:
    return i64s(entry + mark)[0] != 0


@inlined
def _empty_slot(start: int, shift: int, h: int, size: int, mark: int) -> int:
    end = start + shift_left(size, 64 - shift)
    entry = start + size * shift_right(h, shift)
    if mark == SHORT_MARK and _is_taken(entry, mark):
        entry ^= size
        if _is_taken(entry, mark):
            entry = next_line(entry)
            if entry == end:
                entry = start
    while _is_taken(entry, mark):
        entry += size
        if entry == end:
            entry = start
    return entry


@inlined
def _spread(context: ContextRecord, start: int, before: int, shift: int, size: int, mark: int) -> None:
    """Move the entries of a table, whose hash shift was `before`, to their slots in the enlarged table."""
    end = start + shift_left(size, 64 - before)
    for page in range(end, start + shift_left(size, 64 - shift), PAGE_BYTES):
        # Make the first access to a page a write: a read would cost a second page fault at the first write.
        i64s(page)[0] = 0
    waiting, most = 0, min(RECORDS_BYTES, end - start)
    while waiting + size <= most and (waiting < LEAST_WAITING * size or _is_taken(start + waiting, mark)):
        waiting += size
    kept = address_of(context.keys)
    for at in range(0, waiting, size):
        _move(start + at, kept + at, size)
    entry = end
    while entry > start + waiting:
        entry -= size
        if _is_taken(entry, mark):
            _move(entry, _empty_slot(start, shift, _hash_of_entry(entry, mark), size, mark), size)
    for at in range(0, waiting, size):
        entry = kept + at
        if _is_taken(entry, mark):
            _move(entry, _empty_slot(start, shift, _hash_of_entry(entry, mark), size, mark), size)


@outlined
def _grow(context: ContextRecord, table: TableRecord, size: int, mark: int) -> None:
    """Double a table of the context unless it has its maximum size."""
    before = table.shift
    if before > table.least_shift:
        _spread(context, table.entries, before, before - 1, size, mark)
        table.shift = before - 1
        table.limit = 2 * table.limit


@inlined
def make_room(context: ContextRecord) -> None:
    """Enlarge every table that may lack room for the pieces of a block. Must not run while records are in use."""
    if context.pieces.count + BLOCK_BYTES > context.pieces.limit:
        _grow(context, context.pieces, SHORT_ENTRY, SHORT_MARK)
    if context.long.count + BLOCK_BYTES > context.long.limit:
        _grow(context, context.long, LONG_ENTRY, LONG_MARK)
