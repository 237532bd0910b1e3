"""Where everything lies in a context: byte offsets of the int64 slots that kernels read by address.

A context is one int64 array per thread: addresses of tables, sizes, and counters. Kernels get its address alone.
Limits that tables and kernels share stand here too. Must import nothing.
"""

from __future__ import annotations

SYMBOL_BITS = 21
NONE = (1 << SYMBOL_BITS) - 1
"""No symbol, no merge; symbols are below it."""
HANDLE_BITS = 22
NO_ROW = 1
"""The handle of a symbol that begins no pair."""
COUNT_BITS = 4
MOST_SLOTS = (1 << COUNT_BITS) - 1
FILTER_AT = SYMBOL_BITS + COUNT_BITS
MULTIPLIER_AT = FILTER_AT + 16
"""A bucket's word: where its slots begin, how many, 16 bits of what it may hold, a multiplier."""

BLOCK_BYTES = 1024
"""Text is split and looked up in blocks of this many bytes."""
SHORT_BYTES = 1000
"""Texts up to this long are copied into a padded buffer first, so wide loads may pass their end."""
PART_CHARACTERS = 1 << 16
"""A text that is encoded part by part is cut near every so many characters."""
PAD_BYTES = 128
"""Readable bytes behind every table and buffer a wide load may touch."""
MOST_TEXT_BYTES = (1 << 31) - 4096
"""Of one text: places in it are int32."""
MOST_SMALL = 62
"""Pieces up to this many bytes are merged in one 64-bit alive mask."""

COUNT_AT = 21
"""Where the number of ids stands in the last word of a short cache entry."""

KEY_LENGTHS = 17 * 16
"""Where KEY_MASKS goes on with the length of a key in its top byte."""

MET_BITS = 16
"""How many bits of a hash choose a bit of MET."""

LONGEST_DERIVED = 1024
"""Bytes of the longest token whose parts `merge/derive` finds, in time that grows with their square."""
DROPOUT_PARAMETERS = 9
"""How many int64 a call with dropout takes beside a context; see `merge/dropout`."""

N_REGIONS = 128
"""How many regions the checked build knows; the first 8 are the kernels' own."""
N_OWN_REGIONS = 8

N_NAMED = 102
N_SLOTS = 102
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
    APART_PAIRS,  # uint8 by first | second << 8 of two ASCII characters: 1 where APART cuts between them
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
    READABLE_END,  # behind the last byte that may be read of the text the pieces are of, or 0 where nobody knows
    HEADS,  # int32 by symbol: first place in the queue of a rank, or -1
    LATEST,  # int32 by symbol: the place that was queued last, of whatever piece
    HEAD_BITS,  # one bit by symbol: the queue may hold something
    # the cache of pieces
    CACHE,  # 32-byte entries for pieces of up to 15 bytes
    CACHE_SHIFT,
    CACHE_COUNT,
    CACHE_LIMIT,
    N_REFUSED,  # pieces that found the cache full
    CACHE_TOKENS,  # int32: tokens that stand in the cache from the start, each as its own id
    N_CACHE_TOKENS,
    CACHE_ROWS,  # entries of the vocabulary that are more than that
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
    MET,  # one bit by hash: a longer piece of ideographs was met before
    N_MET,  # how many of them are set
    KEY_MASKS,  # two int64 a row: masks of a key of 0 to 15 bytes, zeros; from KEY_LENGTHS on what is set besides
    # working space
    WORK,
    OUT,  # int32 ids of one call
    OUT_LIMIT,
    BUSY,  # not 0 while a call uses the context: its thread, 1 where no other thread runs meanwhile
    SEGMENTS,  # working space of `merge/segments`
    # decoding
    TOKEN_BYTES,
    TOKEN_STARTS,  # int64 by id, n_ids + 1 of them; a start of -1 - x marks an id no token has
    N_IDS,
    LONGEST_TOKEN,
    # the border
    INTEGERS,  # addresses of int objects by id, 0 for one that was not needed yet
    SOUGHT,  # the table of special texts, see below,
    N_SOUGHT,  # and its rows: how many beginnings these have, -1 where they are not looked for
    NOTHING,  # address of None
    REPLACE,  # address of the C string "replace"
    SIZE,  # what PyUnicode_AsUTF8AndSize writes
    NEW_ARRAY,  # address of PyArray_Empty, or 0: no arrays are made here
    ARRAY_DATA,  # address of PyArray_GetPtr
    ARRAY_KIND,  # address of the dtype uint32
    ORIGIN,  # 0, the index of an array's first element
    RESIZE,  # address of PyArray_Resize
    SHAPE,  # what it reads the new shape from: the address of SIZE,
    N_DIMENSIONS,  # and 1
    STR_TYPE,  # address of str
    STR_STATE,  # where a str says how it holds its characters, or 0: see `str_layout`
    STR_SHIFT,
    STR_UTF8,
    STR_DATA,
    TEXT,  # UTF-8 of one text
    TEXT_LIMIT,
    LARGE_TEXT,  # UTF-8 of a text too large for TEXT, while a call uses it, or 0
    LIST_ITEMS,  # where a list object holds the address of its items, or 0: set them by calls
    BATCH_USED,  # ids of OUT that hold what a job has made so far
    INT_TYPE,  # address of int
    CUTS,  # int64 by class: those before which the pattern always cuts behind it, or 0: see `cpython/texts`
    CLOCK,  # what clock_gettime writes: seconds,
    CLOCK_NANOSECONDS,  # and nanoseconds
    # the cache of pieces
    CACHE_LEAST_SHIFT,  # what the shift is when the table is as large as it may get
    MEDIUM_LEAST_SHIFT,
    LONG_LEAST_SHIFT,
) = range(0, 8 * N_NAMED, 8)

# Values of the slot SPLITTER; from CL100K on, windows over an automaton (deepseek: over stages)
WHOLE_TEXT, AUTOMATON, STAGES_IN_TURN, CL100K, QWEN, O200K, TEKKEN, GPT2, DEEPSEEK, APART = range(10)

# A stage: a row of slots that begins as a context does, up to END_CLASS
STAGE_BYTES = 64
STAGE_HAS_GAPS = CHARACTER_FLAGS  # 1 where what the pattern leaves out is a piece of its own
STAGE_END = FLAG_PAGES  # where the present piece of the stage ends

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

# The table SOUGHT: a row of four int64 for each beginning, where it stands from the table on, its size, where the rests
# stand that go on from it, and how many; two for each rest, where it stands from these on and its size
SOUGHT_ROW_BYTES = 32
REST_BYTES = 16

# Working space of `merge/segments`, by offset from SEGMENTS: of as many characters at a time as a word has bits, less
# two, where each begins, and their end; what each is, or 0 (int32); the ids of each alone, or of two that are a token
# (int64); a row for every other segment
MOST_CHARACTERS = 62
PLACES_AT = 0
CODES_AT = 4 * (MOST_CHARACTERS + 2)
ALONE_AT = 2 * CODES_AT
ROWS_AT = ALONE_AT + 8 * MOST_CHARACTERS
ROW_BYTES = 40  # address, bytes, key (two words), slot
SEGMENTS_BYTES = ROWS_AT + ROW_BYTES * (MOST_CHARACTERS // 2)

# A job: counters each on a cache line of its own, then items, then the int32 number of the first item of each task
JOB_NEXT = 0  # the next task to take
JOB_HELPERS = 64  # address of the mailbox of the first helper, or 0
JOB_N_TASKS = 72
JOB_N_ITEMS = 80
JOB_MOST_ITEMS = 88
JOB_LOOK = 96  # 1: texts that may hold a special token need care
JOB_COPIED = 104  # how many texts' ids are where they belong,
JOB_COPIED_IDS = 112  # and how many ids that is
JOB_CLOSED = 120  # 1: it is over
JOB_ITEMS_AT = 128
ITEM_BYTES = 48
ITEM_TEXT = 0  # address of the UTF-8, or 0: it is to be made
ITEM_SIZE = 8  # its bytes, or how many they are at most
ITEM_STR = 16
ITEM_IDS = 24  # where its ids are,
ITEM_MEMORY = 32  # memory only it uses, or 0,
ITEM_COUNT = 40  # and their number, or PENDING, COLLECTED, or what a kernel returns in place of a count

# The mailbox of a helper: its state on a cache line of its own
HELPER_STATE = 0
HELPER_LOCK = 64  # address of the lock it sleeps on
HELPER_JOB = 72
HELPER_CONTEXT = 80
HELPER_NEXT = 88  # address of the mailbox of the job's next helper, or 0
HELPER_CALLS = 96  # how often it was called
HELPER_BYTES = 128
RESTING, ASKED, AT_WORK, CALLED, PREPARING = range(5)
"""States of a helper. CALLED: it is to make a context first; PREPARING: it has, and says so to who called it."""
STATE_BITS = 3
"""Above them CALLED has the number of the call, so that a helper that took its time can tell it from a later one."""

# The bitmap JOINS: its bit is the hash of a pair of characters shifted right so far
JOINS_SHIFT = 44

BY_BYTES = -2
"""In place of a character's symbol: it is spelled in bytes, though others are unknown."""

# What a kernel returns in place of a count
UNCOVERED = -1
NO_MEMORY = -2
MAY_BE_SPECIAL = -3
NOT_UTF8 = -4
PENDING = -5
"""The text has not been encoded."""
COLLECTED = -6
"""The ids have been made objects of."""
RAISED = -7
"""The interpreter says why."""
NO_ROOM = -8
"""There may be more ids than there is room for."""
