"""The memory layout of training: records of int64 fields that kernels read by address.

A field that holds the address of a table says what is in the table. Must import nothing but `typed_memory`.
"""

from __future__ import annotations

from impls.compiled.language.typed_memory import I32s, I64s, Record, Rows, U8s, i32, i64

SEPARATOR, ABSORBED = -1, -2
"""Values of a cell that are not symbols: between two words; where a symbol merged into the one before began."""
MOST_WEIGHT = (1 << 31) - 1
SYMBOL_BYTES = 4
"""Size of a symbol, where words are spelled in symbols."""


class Cell(Record):
    """A place of the corpus, see `training/cells`."""

    symbol: i32  # the symbol that begins or ends here, SEPARATOR or ABSORBED
    weight: i32  # the count of its word in the corpus


# Counting distinct pieces
class CountedPiece(Record):
    """An entry of the table of pieces."""

    key: i64  # see `training/count_pieces`; 0 in an empty entry
    number: i64  # index of the piece


class CountingRecord(Record):
    """The tables in which distinct pieces are counted, and the texts to count."""

    piece_table: Rows[CountedPiece]  # 16-byte entries by hash
    piece_shift: i64  # the slot of a hash is the hash shifted right by this
    n_pieces: i64  # number of distinct pieces so far
    most_pieces: i64  # maximum number of pieces: half of the entries
    arena: U8s  # the bytes of distinct pieces, each 8-byte aligned
    arena_used: i64  # number of bytes of the arena in use
    arena_bytes: i64  # size of the arena
    starts: I64s  # int64 by piece: offset of its bytes in the arena
    lengths: I32s  # int32 by piece: its number of bytes
    counts: I64s  # int64 by piece: its number of occurrences
    texts: U8s  # UTF-8 of the texts to count, one right after the other
    n_readable: i64  # bytes that may be read from TEXTS on: the size of all texts, and PAD_BYTES more
    text_bytes: I64s  # int64 by text: its number of bytes
    n_texts: i64  # number of texts
    text: i64  # index of the text to resume with
    text_at: i64  # offset of that text in TEXTS
    position: i64  # offset in that text at which counting resumes; for other kernels the index of a piece


# Learning merges
class Pair(Record):
    """An entry of the table of pairs."""

    key: i64  # see `pairs.key_of`; 0 in an empty entry
    count: i64
    list_end: i64  # index in POOL after the pair's places
    list_length: i64  # number of its places


class HeapEntry(Record):
    """An entry of the heap of pairs."""

    count: i64  # may be more than the pair has by now
    tie: i64  # of equally frequent pairs that with the smallest tie comes first
    key: i64


class Neighbour(Record):
    """What a merge changes at one neighbour."""

    gain: i64  # the count of the new pair with it
    times: i64  # number of occurrences, later the next free index of their list, or NOT_STORED


class Event(Record):
    """An occurrence of a new pair."""

    row: i32  # the row of NEIGHBOURS
    place: i32  # where the pair begins


class Merge(Record):
    """A merge that was learned."""

    left: i64
    right: i64
    count: i64


class ReservedText(Record):
    """A text that no merge may make."""

    text: U8s
    n_bytes: i64


class LearningRecord(Record):
    """The tables with which merges are learned."""

    cells: Rows[Cell]  # the corpus as cells, see `training/cells`
    n_cells: i64  # number of cells
    spans: I32s  # int32 by symbol: the number of cells it takes
    n_base: i64  # number of base symbols
    token_starts: I64s  # int64 by symbol: offset of its bytes in TOKEN_TEXT; they end where those of the next begin
    token_text: U8s  # the bytes of all symbols
    token_text_room: i64  # size of TOKEN_TEXT
    measures: I32s  # int32 by symbol: its length, as the rule `shortest` counts it
    pair_table: Rows[Pair]  # 32-byte entries by hash: key, count, end of the pair's list in POOL, length of that list
    pair_table_shift: i64  # the slot of a hash is the hash shifted right by this
    n_pairs: i64  # number of pairs in the table
    most_pairs: i64  # maximum number of pairs: half of the entries
    heap: Rows[HeapEntry]  # 24-byte entries: count, tie, key; the first is the pair to merge next
    n_heap: i64  # number of entries of the heap
    heap_room: i64  # maximum number of entries of the heap
    rule: i64  # the rule for ties, see below: of equally frequent pairs, the one with the smallest tie comes first
    pool: I32s  # int32: the lists of pairs, which hold the places of the cells where a pair begins
    pool_used: i64  # number of places in the pool in use
    pool_room: i64  # maximum number of places in the pool
    neighbours: Rows[Neighbour]  # two by symbol, as left and as right one: what a merge changes there
    touched: I32s  # int32: the rows of NEIGHBOURS in use
    events: Rows[Event]  # the occurrences of new pairs
    merges: Rows[Merge]  # rows of three int64 by merge: left symbol, right symbol, count
    n_merges: i64  # number of merges learned
    most_merges: i64  # number of merges to learn
    threshold: i64  # pairs that are less frequent than this are not stored
    most_token_bytes: i64  # maximum number of bytes of a token
    cell: i64  # place of the cell at which counting pairs resumes
    reserved: Rows[ReservedText]  # rows of int64 address and length: texts that no merge may make
    n_reserved: i64  # number of rows in RESERVED


# Values of the field RULE, one for each rule for ties
SMALLEST, FIRST, SHORTEST, LARGEST = range(4)

# What a kernel returns
FINISHED = 0
NO_ROOM = 1
"""Tables must be enlarged; called again, the kernel resumes where it stopped."""
TOO_RARE = 2
"""No stored pair reaches the threshold."""
FULL = 3
"""The pool has no room for the next merge's pairs; most of it may belong to pairs that no longer exist."""
