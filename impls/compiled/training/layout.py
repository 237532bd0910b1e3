"""The memory layout of training: byte offsets of the int64 slots that kernels read by address.

Must import nothing.
"""

from __future__ import annotations

from impls.compiled.typed_memory import Record, i64

SEPARATOR, ABSORBED = -1, -2
"""Symbols of cells: between two words; where a symbol began that was merged into the one before it."""
FIRST_WAITING = -3
"""A piece that merges may join and that is not one symbol yet: this minus its number. In place of the separator before
a word it says which piece that is; in a row of pieces it is one of the places the piece occurs at."""
CELL_BYTES = 8
"""int32 symbol, int32 count of its word in the corpus."""
MOST_WEIGHT = (1 << 31) - 1


# Counting distinct pieces
class CountingRecord(Record):
    """Counting distinct pieces."""

    piece_table: i64  # 16-byte entries by hash: key, index of the piece << 32 | its count
    piece_shift: i64
    n_pieces: i64
    most_pieces: i64  # half of the entries
    arena: i64  # the bytes of distinct pieces, each 8-byte aligned
    arena_used: i64
    arena_bytes: i64
    starts: i64  # int64 by piece
    lengths: i64  # int32 by piece
    texts: i64  # UTF-8 of texts, one right after the other
    n_readable: i64  # bytes that may be read from there on: PAD_BYTES more than all texts have
    text_bytes: i64  # int64 by text
    n_texts: i64
    text: i64  # the text to resume with, its offset, and how much of it has been counted
    text_at: i64
    position: i64
    n_split: i64  # pieces of the block there that are split already, their ends in the working space
    numbers: i64  # int32 by piece of the texts in turn: its index, and -1 after each text; 0: not written
    n_numbers: i64


class BlockRecord(Record):
    """A block of a text file, and the sizes of the texts in it that are counted one by one."""

    text: i64  # UTF-8
    n_bytes: i64
    by_lines: i64  # 1: each line is a document; 0: each paragraph
    line_cuts: i64  # int64 by class, or 0: where a text may be cut after a line break; see `pattern/tables`
    position: i64  # where the next text begins
    sizes: i64  # int64 by text: its bytes
    n_texts: i64
    most_texts: i64


# Learning merges
class LearningRecord(Record):
    """Learning merges."""

    cells: i64
    n_cells: i64
    spans: i64  # int32 by symbol: its number of cells
    n_base: i64  # number of base symbols
    token_starts: i64  # int64 by symbol: offset of its bytes in TOKEN_TEXT; they end where those of the next begin
    token_text: i64
    token_text_room: i64
    measures: i64  # int32 by symbol: its length, as the rule `shortest` counts it
    pair_table: i64  # 32-byte entries by hash: key, count, end of its list in POOL, length of that list
    pair_table_shift: i64
    n_pairs: i64
    most_pairs: i64  # half of the entries
    heap: i64  # 24-byte entries: count, tie, key; the pair that is merged next first
    n_heap: i64
    heap_room: i64
    rule: i64  # of equally frequent pairs the first one has the smallest tie, then BY_KEY and so on, below
    pool: i64  # int32: cells where the pairs of the lists begin
    pool_used: i64
    pool_room: i64
    lefts: i64  # 16-byte rows by symbol: the gain of a merge by left neighbour, and its occurrences or their list
    rights: i64
    touched_lefts: i64  # int32: symbols with such a row
    touched_rights: i64
    left_events: i64  # pairs of int32: symbol, cell
    right_events: i64
    merges: i64  # rows of three int64: left, right, count
    n_merges: i64
    most_merges: i64
    threshold: i64  # pairs that are less frequent are not stored
    most_token_bytes: i64
    token_characters: i64  # int32 by symbol: its length in characters of the corpus
    most_token_characters: i64  # 0: no limit
    sums: i64  # int64 by hash: upper bounds of the counts of pairs
    cell: i64  # where to resume
    reserved: i64  # rows of address and length: texts that no merge may make
    n_reserved: i64
    rows: i64  # the cell where rows of pieces begin; words end there
    waiting: i64  # int32: the cells in rows of each piece that is not one symbol yet; 0: merges join no pieces
    waiting_starts: i64  # int64 by piece, and one more: where its cells begin in WAITING
    whole: i64  # int32: the pieces that a merge makes one symbol
    known: i64  # hash table of the symbols by their bytes, see `merge/derive`, which no merge makes again
    known_shift: i64


SUM_BITS = 20

# Values of the slot RULE, one for each rule for ties
SMALLEST, FIRST, SHORTEST, LARGEST = range(4)

# What a kernel returns
FINISHED = 0
NO_ROOM = 1
"""Tables must be enlarged; then the kernel resumes where it was."""
TOO_RARE = 2
"""No stored pair reaches the threshold."""
FULL = 3
"""The next merge's pairs have no place in the pool, most of which may be of pairs that are no more."""
