"""The memory layout of a context: byte offsets of the int64 slots that kernels read by address.

A context is one int64 array per thread: addresses of tables, sizes, and counters. Kernels get only its address.
Limits that tables and kernels share are here too. Must import nothing.
"""

from __future__ import annotations

SYMBOL_BITS = 21
NONE = (1 << SYMBOL_BITS) - 1
"""No symbol, no merge; symbols are below it."""
HANDLE_BITS = 22
NO_ROW = 1
"""The handle of a symbol that is the left of no pair."""
COUNT_BITS = 4
MOST_SLOTS = (1 << COUNT_BITS) - 1
FILTER_AT = SYMBOL_BITS + COUNT_BITS
MULTIPLIER_AT = FILTER_AT + 16
"""Layout of a bucket's word: index of its first slot, number of slots, a filter of 16 bits, a multiplier."""

BLOCK_BYTES = 1024
"""Text is split and looked up in blocks of this many bytes."""
SHORT_BYTES = 1000
"""Texts of up to so many bytes are first copied into a padded buffer, so that wide loads may pass their end."""
PART_CHARACTERS = 1 << 16
"""Long texts are encoded in parts of about so many characters."""
PAD_BYTES = 128
"""Readable bytes after every table and buffer that wide loads read."""
MOST_TEXT_BYTES = (1 << 31) - 4096
"""Maximum size of one text: offsets into it are int32."""
MOST_SMALL = 62
"""Pieces up to this many bytes are merged in one 64-bit alive mask."""

COUNT_AT = 21
"""Bit position of the number of ids in the last word of a short cache entry."""

KEY_LENGTHS = 17 * 16
"""Offset in KEY_MASKS of the rows that set the top byte of a key to its length."""

SEEN_BITS = 16
"""Number of hash bits that choose a bit of SEEN."""

LONGEST_DERIVED = 1024
"""Bytes of the longest token whose parts `merge/derive` finds, in time that grows with their square."""
DROPOUT_PARAMETERS = 9
"""Number of int64 parameters of a call with dropout, besides the context; see `merge/dropout`."""

N_REGIONS = 128
"""Number of regions the checked build knows; the first 8 are the kernels' own."""
N_OWN_REGIONS = 8

N_SLOTS = 101
(
    # splitting
    SPLITTER,  # WHOLE_TEXT and so on, below
    TRANSITIONS,
    ASCII_CLASSES,
    PAGES,
    PAGE_CLASSES,
    END_CLASS,
    CHARACTER_FLAGS,  # uint8 by page, for the windows
    FLAG_PAGES,
    ASCII_CUTS,  # uint8 by first | second << 8 of two ASCII characters: 1 where a piece ends between them
    STAGES,  # rows of STAGE_BYTES, one per stage
    N_STAGES,
    # merging
    PAIRS,  # int64: symbol << 43 | its handle << 21 | right, bucket by bucket; the first is empty
    BUCKETS,  # int64: first of PAIRS | slots << 21 | bits of its symbols << 25 | multiplier << 41; see `merge/pairs`
    HANDLES,  # int32 by symbol: its row of buckets
    FIRST_ROUND,  # int64 by first byte | second << 8: symbol | left bound << 21 | right bound << 42
    BYTE_SYMBOLS,  # int32 by byte
    CHARACTERS,  # int64 by code point below 65536: symbol | left need << 21 | right need << 42, or -1; 0: no table
    SPELLING_PAGES,  # uint16: page of each 64 code points, where characters are the alphabet; 0: bytes are
    CHARACTER_SYMBOLS,  # int32 by page: the symbol of a character, or -1
    LAST_SYMBOLS,  # int32 by page: its symbol where it ends a piece; 0 where that is the same
    UNKNOWN_SYMBOL,  # of a character without a symbol; -1: it is spelled in bytes
    FIRST_IS_OTHER,  # 1 where LAST_SYMBOLS is for the character that begins a piece instead
    FUSES_UNKNOWN,  # 1 where unknown characters in a row are one symbol
    MONOTONE,  # 1 where every merge ranks after those that make its parts
    JOINS,  # bitmap of `merge/segments`, or 0: pieces are not cut into segments
    LONE,  # rows of two int64 by code point below 65536: its ids if it is alone, 21 bits each; bits of `_may_join`
    CHARACTER_PAIRS,  # two int64 by hash: two characters << 21 | the token they are; no further ones
    CHARACTER_PAIRS_SHIFT,
    IDS,  # int32 by symbol, or 0 where a symbol is its id
    N_SYMBOLS,
    WHOLE,  # hash table of whole pieces that merging does not make one token, or 0
    WHOLE_SHIFT,
    SMALL_SCRATCH,  # 2 KB: symbols and ranks of a small merge, what its first round makes
    READABLE_END,  # end of the readable bytes of the text the pieces are in, or 0: unknown
    HEADS,  # int32 by symbol: first place in the queue of a rank, or -1
    LATEST,  # int32 by symbol: the place that was queued last, of whatever piece
    HEAD_BITS,  # one bit by symbol: the queue may hold something
    # the cache of pieces
    CACHE,  # 32-byte entries for pieces of up to 15 bytes
    CACHE_SHIFT,
    CACHE_COUNT,
    CACHE_LIMIT,
    N_REFUSED,  # pieces not stored because the cache was full
    CACHE_TOKENS,  # int32: tokens that are in the cache from the start, each as its own id
    N_CACHE_TOKENS,
    CACHE_ROWS,  # the vocabulary's other entries
    N_CACHE_ROWS,
    MEDIUM,  # 64-byte entries for pieces of 16 to 31 bytes
    MEDIUM_SHIFT,
    MEDIUM_COUNT,
    MEDIUM_LIMIT,
    ARENA,  # int32 ids of pieces of more than 4 tokens
    ARENA_USED,
    ARENA_LIMIT,
    LONG,  # 32-byte entries for pieces of 32 to 255 bytes
    LONG_SHIFT,
    LONG_COUNT,
    LONG_LIMIT,
    LONG_STORE,  # their bytes and ids
    LONG_USED,
    LONG_STORE_LIMIT,
    SEEN,  # one bit by hash: a longer piece of ideographs was seen before
    N_SEEN,  # how many of them are set
    KEY_MASKS,  # two int64 a row: masks of a key of 0 to 15 bytes, zeros; from KEY_LENGTHS on the bits that are set
    # working space
    WORK,
    OUT,  # int32 ids of one call
    OUT_LIMIT,
    BUSY,  # not 0 while a call uses the context: its thread, or 1 where no other thread can run meanwhile
    SEGMENTS,  # working space of `merge/segments`
    # decoding
    TOKEN_BYTES,
    TOKEN_STARTS,  # int64 by id, n_ids + 1 of them; a start of -1 - x marks an id no token has
    N_IDS,
    # the CPython boundary
    INTEGERS,  # addresses of int objects by id, 0 for one no list has needed yet
    SPECIALS,  # the table of special tokens, see below,
    N_SPECIALS,  # and its number of rows, one a prefix; -1 where kernels do not search for them
    NOTHING,  # address of None
    REPLACE,  # address of the C string "replace"
    SIZE,  # what PyUnicode_AsUTF8AndSize writes
    NEW_ARRAY,  # address of PyArray_Empty, or 0: kernels make no arrays
    ARRAY_DATA,  # address of PyArray_GetPtr
    ARRAY_KIND,  # address of the dtype uint32
    ORIGIN,  # 0, the index of an array's first element
    RESIZE,  # address of PyArray_Resize
    SHAPE,  # what it reads the new shape from: the address of SIZE,
    N_DIMENSIONS,  # and 1
    STR_TYPE,  # address of str
    STR_STATE,  # offset of the state word of a str, or 0: see `str_layout`
    STR_SHIFT,
    STR_UTF8,
    STR_DATA,
    TEXT,  # UTF-8 of one text
    TEXT_LIMIT,
    LARGE_TEXT,  # UTF-8 of a text too large for TEXT, while a call uses it, or 0
    LIST_ITEMS,  # offset, in a list object, of the address of its items, or 0: set them by calls
    BATCH_USED,  # number of ids in OUT that the current job has written
    INT_TYPE,  # address of int
    CUTS,  # int64 by class: the set of classes before which the pattern always cuts after it, or 0: see `cpython/texts`
    CLOCK,  # what clock_gettime writes: seconds,
    CLOCK_NANOSECONDS,  # and nanoseconds
    # the cache of pieces
    CACHE_LEAST_SHIFT,  # the shift of the table at its maximum size
    MEDIUM_LEAST_SHIFT,
    LONG_LEAST_SHIFT,
) = range(0, 8 * N_SLOTS, 8)

# Values of the slot SPLITTER; from CL100K on, windows over an automaton (deepseek: over stages).
# NEIGHBOURS: alphabets of characters, cut between any two characters no token holds side by side
WHOLE_TEXT, AUTOMATON, STAGES_IN_TURN, CL100K, QWEN, O200K, TEKKEN, GPT2, DEEPSEEK, NEIGHBOURS = range(10)

# A stage: a row of slots that begins as a context does, up to END_CLASS
STAGE_BYTES = 64
STAGE_HAS_GAPS = CHARACTER_FLAGS  # 1 where what the pattern leaves out is a separate piece
STAGE_END = FLAG_PAGES  # where the current piece of the stage ends

# Working space, by offset from WORK
MASKS_AT = 0  # 64-byte windows: 64 int64
BOUNDS_AT = 512  # int32 ends of the pieces of a block
MOST_BOUNDS = 2 * BLOCK_BYTES + 512
RECORDS_AT = BOUNDS_AT + 4 * MOST_BOUNDS  # two int64 a piece: its key
SLOTS_AT = RECORDS_AT + 16 * MOST_BOUNDS  # an int64 a piece: the address of its first slot
RECORDS_BYTES = 24 * MOST_BOUNDS
LONGER_AT = RECORDS_AT + RECORDS_BYTES  # a bit a piece: it has 16 bytes or more
LISTED_AT = LONGER_AT + MOST_BOUNDS // 8  # int64: how many slots of long pieces follow
MOST_LISTED = 47
BUFFER_AT = LISTED_AT + 8 + 8 * MOST_LISTED
WORK_BYTES = BUFFER_AT + SHORT_BYTES + 2 * PAD_BYTES

# The table SPECIALS: a row of four int64 per prefix: its offset in the table, its size, the offset of its suffixes and
# their number; two int64 per suffix: its offset from the first suffix row, and its size
SPECIAL_ROW_BYTES = 32
SUFFIX_BYTES = 16

# Working space of `merge/segments`, by offset from SEGMENTS, for as many characters at a time as a word has bits, less
# two: the offset of each, and of their end; the code point of each, or 0 (int32); the ids of each alone, or of two that
# are one token (int64); a row for every other segment
MOST_CHARACTERS = 62
PLACES_AT = 0
CODES_AT = 4 * (MOST_CHARACTERS + 2)
ALONE_AT = 2 * CODES_AT
ROWS_AT = ALONE_AT + 8 * MOST_CHARACTERS
ROW_BYTES = 40  # address, bytes, key (two words), slot
SEGMENTS_BYTES = ROWS_AT + ROW_BYTES * (MOST_CHARACTERS // 2)

# A job: the contended counter on a cache line of its own, other counters, items, then the int32 index of each task's
# first item
JOB_NEXT = 0  # the next task to take
JOB_WORKERS = 64  # address of the mailbox of the first worker, or 0
JOB_N_TASKS = 72
JOB_N_ITEMS = 80
JOB_MOST_ITEMS = 88
JOB_LOOK = 96  # 1: texts that may hold a special token take the careful path
JOB_COPIED = 104  # number of texts whose ids are copied to the result,
JOB_COPIED_IDS = 112  # and number of those ids
JOB_CLOSED = 120  # 1: it is over
JOB_ITEMS_AT = 128
ITEM_BYTES = 48
ITEM_TEXT = 0  # address of the UTF-8, or 0: it is written when the text is encoded
ITEM_SIZE = 8  # its size in bytes, or an upper bound
ITEM_STR = 16
ITEM_IDS = 24  # address of its ids,
ITEM_MEMORY = 32  # memory allocated for it alone, or 0,
ITEM_COUNT = 40  # and their number, or PENDING, COLLECTED, or what a kernel returns in place of a count

# The mailbox of a worker thread: its state on a cache line of its own
WORKER_STATE = 0
WORKER_LOCK = 64  # address of the lock it sleeps on
WORKER_JOB = 72
WORKER_CONTEXT = 80
WORKER_NEXT = 88  # address of the mailbox of the job's next worker, or 0
WORKER_CALLS = 96  # number of times it was called
WORKER_BYTES = 128
RESTING, ASKED, AT_WORK, CALLED, PREPARING = range(5)
"""States of a worker thread. CALLED: it is to build a context first; PREPARING: it has, and accepts the job."""
STATE_BITS = 3
"""The bits above hold, for CALLED, the number of the call, so that a late worker can tell it from a newer call."""

# The bitmap JOINS: the bit of a pair of characters is their hash shifted right by this
JOINS_SHIFT = 44

BY_BYTES = -2
"""In place of a character's symbol: it is spelled in bytes, though other characters are unknown."""

# What a kernel returns in place of a count
UNCOVERED = -1
NO_MEMORY = -2
MAY_BE_SPECIAL = -3
NOT_UTF8 = -4
PENDING = -5
"""The text has not been encoded."""
COLLECTED = -6
"""Objects have been made of the ids."""
RAISED = -7
"""An exception is set."""
NO_ROOM = -8
"""The ids might not fit in the buffer."""
