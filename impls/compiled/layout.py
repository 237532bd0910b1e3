"""Where everything lies in the memory of a thread: records that kernels reach by field, and working space by offset.

Limits that tables and kernels share are here too.
"""

from __future__ import annotations

from impls.compiled.typed_memory import Record, i64

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
TAIL_BYTES = 2 * BLOCK_BYTES
"""The last so many bytes of a text are copied into a padded buffer, so that wide loads may pass its end."""
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


class TableRecord(Record):
    """A hash table of pieces: memory that is there, and how much of it is in use."""

    entries: i64
    shift: i64  # a slot is the top bits of a hash, shifted right so far
    count: i64  # entries that are not empty
    limit: i64  # how many there may be before it grows, or starts again
    least_shift: i64  # the shift when it is as large as it may get


class ContextRecord(Record):
    """The memory of one thread: addresses of tables, sizes and counters."""

    # splitting
    splitter: i64  # WHOLE_TEXT and so on, below
    transitions: i64
    ascii_classes: i64
    pages: i64
    page_classes: i64
    end_class: i64
    character_flags: i64  # uint8 by page, for the windows
    flag_pages: i64
    ascii_cuts: i64  # uint8 by first | second << 8 of two ASCII characters: 1 where a piece ends between them
    split_otherwise: i64  # address of the kernel that splits where SPLITTER is one of OTHERS, else 0
    stages: i64  # rows of STAGE_BYTES, one per stage
    n_stages: i64
    # merging
    pairs: i64  # int64: symbol << 43 | its handle << 21 | right, bucket by bucket; the first is empty
    buckets: i64  # int64: first of pairs | slots << 21 | bits of its symbols << 25 | multiplier << 41
    handles: i64  # int32 by symbol: its row of buckets
    first_round: i64  # int64 by first byte | second << 8: symbol | left bound << 21 | right bound << 42
    byte_symbols: i64  # int32 by byte
    characters: i64  # int64 by code point below 65536: symbol | left need << 21 | right need << 42, or -1; 0: no table
    spell: i64  # address of the kernel that gives a piece its symbols, where characters are the alphabet
    spelling_pages: i64  # uint16: page of each 64 code points, where characters are the alphabet; 0: bytes are
    character_symbols: i64  # int32 by page: the symbol of a character, or -1
    last_symbols: i64  # int32 by page: its symbol where it ends a piece; 0 where that is the same
    unknown_symbol: i64  # of a character without a symbol; -1: it is spelled in bytes
    first_is_other: i64  # 1 where LAST_SYMBOLS is for the character that begins a piece instead
    fuses_unknown: i64  # 1 where unknown characters in a row are one symbol
    monotone: i64  # 1 where every merge ranks after those that make its parts
    joins: i64  # bitmap of `merge/segments`, or 0: pieces are not cut into segments
    lone: i64  # rows of two int64 by code point below 65536: its ids if it is alone, 21 bits each; bits of `_may_join`
    ids: i64  # int32 by symbol, or 0 where a symbol is its id
    n_symbols: i64
    whole: i64  # hash table of whole pieces that merging does not make one token, or 0
    whole_shift: i64
    small_scratch: i64  # 2 KB: symbols and ranks of a small merge, what its first round makes
    readable_end: i64  # end of the readable bytes of the text the pieces are in
    heads: i64  # int32 by symbol: first place in the queue of a rank, or -1
    latest: i64  # int32 by symbol: the place that was queued last, of whatever piece
    head_bits: i64  # one bit by symbol: the queue may hold something
    # the cache of pieces
    pieces: TableRecord  # 32-byte entries for pieces of up to 15 bytes
    n_refused: i64  # pieces not stored because the cache was full
    cache_tokens: i64  # int32: tokens that are in the cache from the start, each as its own id
    n_cache_tokens: i64
    cache_rows: i64  # the vocabulary's other entries
    n_cache_rows: i64
    medium: TableRecord  # 64-byte entries for pieces of 16 to 31 bytes
    arena: i64  # int32 ids of pieces of more than 4 tokens
    arena_used: i64
    arena_limit: i64
    long: TableRecord  # 32-byte entries for pieces of 32 to 255 bytes
    long_store: i64  # their bytes and ids
    long_used: i64
    long_store_limit: i64
    seen: i64  # one bit by hash: a longer piece of ideographs was seen before
    n_seen: i64  # how many of them are set
    key_masks: i64  # two int64 a row: masks of a key of 0 to 15 bytes, zeros; from KEY_LENGTHS on the bits that are set
    # working space
    work: i64
    out: i64  # int32 ids of one call
    out_limit: i64
    busy: i64  # not 0 while a call uses the context: its thread, or 1 where no other thread can run meanwhile
    segments: i64  # working space of `merge/segments`
    # decoding
    token_bytes: i64
    token_starts: i64  # int64 by id, n_ids + 1 of them; a start of -1 - x marks an id no token has
    n_ids: i64
    # the CPython boundary
    integers: i64  # addresses of int objects by id, 0 for one no list has needed yet
    specials: i64  # the table of special tokens, see below,
    n_specials: i64  # and its number of rows, one a prefix; -1 where kernels do not search for them
    nothing: i64  # address of None
    replace: i64  # address of the C string "replace"
    size: i64  # what PyUnicode_AsUTF8AndSize writes
    new_array: i64  # address of PyArray_Empty
    array_data: i64  # address of PyArray_GetPtr
    array_kind: i64  # address of the dtype uint32
    origin: i64  # 0, the index of an array's first element
    resize: i64  # address of PyArray_Resize
    shape: i64  # what it reads the new shape from: the address of SIZE,
    n_dimensions: i64  # and 1
    str_type: i64  # address of str
    str_state: i64  # offset of the state word of a str, see `str_layout`
    str_shift: i64
    str_utf8: i64
    str_data: i64
    text: i64  # UTF-8 of one text
    text_limit: i64
    large_text: i64  # UTF-8 of a text too large for TEXT, while a call uses it, or 0
    list_items: i64  # offset, in a list object, of the address of its items
    batch_used: i64  # number of ids in OUT that the current job has written
    int_type: i64  # address of int
    cuts: i64  # int64 by class: classes before which the pattern always cuts after it, or 0: see `cpython/texts`
    all_cuts: i64  # likewise; those above leave out what is inside special tokens
    clock: i64  # what clock_gettime writes: seconds,
    clock_nanoseconds: i64  # and nanoseconds


class EventsRecord(Record):
    """Merges and removals of tokens in the order in which they happened; see `merge/replay`."""

    pairs: i64  # what two symbols merge into, as in a context, but the number of the first such event for the symbol
    buckets: i64
    handles: i64
    removals: i64  # int32 by symbol: the first event that removes it, or NONE
    following: i64  # int32 by event: the next one of the same pair or symbol, or NONE
    starts: i64  # int32 by event, and one more: where the symbols begin that are there after it
    symbols: i64  # int32
    lengths: i64  # int32 by symbol: its bytes
    ids: i64  # int32 by symbol: its id, where it is a token in the end


class StageRecord(Record):
    """One stage of a splitter of several; the automaton's fields are those of a context."""

    transitions: i64
    ascii_classes: i64
    pages: i64
    page_classes: i64
    end_class: i64
    has_gaps: i64  # 1 where what the pattern leaves out is a piece of its own
    end: i64  # where the present piece of the stage ends


# Values of the slot SPLITTER; from CL100K on, windows over an automaton.
# DEEPSEEK: windows over stages; NEIGHBOURS: alphabets of characters, cut between any two no token holds side by side
WHOLE_TEXT, AUTOMATON, STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS, CL100K, QWEN, O200K, TEKKEN, GPT2 = range(10)
OTHERS = (STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS)
"""Splitters of an object file of their own."""

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
WORK_BYTES = BUFFER_AT + TAIL_BYTES + 2 * PAD_BYTES

# The table SPECIALS: a row of four int64 per prefix: its offset in the table, its size, the offset of its suffixes and
# their number; two int64 per suffix: its offset from the first suffix row, and its size
SPECIAL_ROW_BYTES = 32
SUFFIX_BYTES = 16

# Working space of `merge/segments`, by offset from SEGMENTS, for as many characters at a time as a word has bits, less
# two: the offset of each, and of their end (int32); the ids of each alone (int64); a row for every other segment
MOST_CHARACTERS = 62
PLACES_AT = 0
ALONE_AT = 4 * (MOST_CHARACTERS + 2)
ROWS_AT = ALONE_AT + 8 * MOST_CHARACTERS
ROW_BYTES = 40  # address, bytes, key (two words), slot
SEGMENTS_BYTES = ROWS_AT + ROW_BYTES * (MOST_CHARACTERS // 2)

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
