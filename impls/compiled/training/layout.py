"""The memory layout of training: byte offsets of the int64 slots that kernels read by address.

Must import nothing.
"""

from __future__ import annotations

SEPARATOR, ABSORBED = -1, -2
"""Symbols of cells: between two words; where a symbol began that was merged into the one before it."""
CELL_BYTES = 8
"""int32 symbol, int32 count of its word in the corpus."""
MOST_WEIGHT = (1 << 31) - 1

# Counting distinct pieces
N_COUNTING = 16
(
    PIECE_TABLE,  # 16-byte entries by hash: key, index of the piece << 32 | its count
    PIECE_SHIFT,
    N_PIECES,
    MOST_PIECES,  # half of the entries
    ARENA,  # the bytes of distinct pieces, each 8-byte aligned
    ARENA_USED,
    ARENA_BYTES,
    STARTS,  # int64 by piece
    LENGTHS,  # int32 by piece
    TEXTS,  # UTF-8 of texts, PAD_BYTES of zeros after each
    TEXT_BYTES,  # int64 by text
    N_TEXTS,
    TEXT,  # the text to resume with, its offset, and how much of it has been counted
    TEXT_AT,
    POSITION,
) = range(0, 8 * 15, 8)

# Learning merges
N_LEARNING = 40
(
    CELLS,
    N_CELLS,
    SPANS,  # int32 by symbol: its number of cells
    N_BASE,  # number of base symbols
    TOKEN_STARTS,  # int64 by symbol: offset of its bytes in TOKEN_TEXT; they end where those of the next begin
    TOKEN_TEXT,
    TOKEN_ROOM,
    MEASURES,  # int32 by symbol: its length, as the rule `shortest` counts it
    PAIR_TABLE,  # 32-byte entries by hash: key, count, end of its list in POOL, length of that list
    PAIR_TABLE_SHIFT,
    N_PAIRS,
    MOST_PAIRS,  # half of the entries
    HEAP,  # 24-byte entries: count, tie, key; the pair that is merged next first
    N_HEAP,
    HEAP_ROOM,
    RULE,  # of equally frequent pairs the first one has the smallest tie, then BY_KEY and so on, below
    POOL,  # int32: cells where the pairs of the lists begin
    POOL_USED,
    POOL_ROOM,
    LEFTS,  # 16-byte rows by symbol: the gain of a merge by left neighbour, and its occurrences or where to list them
    RIGHTS,
    TOUCHED_LEFTS,  # int32: symbols with such a row
    TOUCHED_RIGHTS,
    LEFT_EVENTS,  # pairs of int32: symbol, cell
    RIGHT_EVENTS,
    MERGES,  # rows of three int64: left, right, count
    N_MERGES,
    MOST_MERGES,
    THRESHOLD,  # pairs that are less frequent are not stored
    MOST_TOKEN_BYTES,
    TOKEN_CHARACTERS,  # int32 by symbol: its length in characters of the corpus
    MOST_TOKEN_CHARACTERS,  # 0: no limit
    SUMS,  # int64 by hash: upper bounds of the counts of pairs
    CELL,  # where to resume
    RESERVED,  # rows of address and length: texts that no merge may make
    N_RESERVED,
) = range(0, 8 * 36, 8)
SUM_BITS = 20

# Values of the slot RULE, one for each rule for ties
SMALLEST, FIRST, SHORTEST, LARGEST = range(4)

# What a kernel returns
FINISHED = 0
NO_ROOM = 1
"""Tables must be enlarged; then the kernel resumes where it was."""
TOO_RARE = 2
"""No stored pair reaches the threshold."""
