"""The memory layout of a context, the memory of one thread: records that kernels reach by field, and working space.

Every field is an int64: a number, or the address of an array; the comment then says what the array holds ("int32 by
symbol": an int32 for each symbol). Limits that tables and kernels share are here too.
"""

from __future__ import annotations

from impls.compiled.typed_memory import Record, i64

SYMBOL_BITS = 21
NONE = (1 << SYMBOL_BITS) - 1
"""Stands for no symbol and for no merge; all symbols are below it."""
HANDLE_BITS = 22
NO_ROW = 1
"""The handle of a symbol that is the left part of no pair."""
COUNT_BITS = 4
MOST_SLOTS = (1 << COUNT_BITS) - 1
FILTER_AT = SYMBOL_BITS + COUNT_BITS
MULTIPLIER_AT = FILTER_AT + 16
"""Bit fields of a bucket's word, lowest first: index of its first slot, number of slots, 16-bit filter, multiplier."""

BLOCK_BYTES = 1024
"""Text is split and looked up in blocks of this many bytes."""
TAIL_BYTES = 2 * BLOCK_BYTES
"""The last bytes of a text, this many, are copied to a padded buffer, so that wide loads may go past its end."""
PART_CHARACTERS = 1 << 16
"""Long texts are encoded in parts of about this many characters."""
PAD_BYTES = 128
"""Number of readable bytes after every table and buffer that is read by wide loads."""
MOST_TEXT_BYTES = (1 << 31) - 4096
"""Maximum size of one text in bytes: offsets into it are int32."""
MOST_SMALL = 62
"""Pieces of up to this many symbols are merged with one 64-bit mask of the symbols that are alive."""

COUNT_AT = 21
"""Bit position of the number of ids in the last word of a short cache entry."""

KEY_LENGTHS = 17 * 16
"""Offset in KEY_MASKS of the rows that set the top byte of a key to its length."""

SEEN_BITS = 16
"""Number of bits of a hash that select a bit of SEEN."""

LONGEST_DERIVED = 1024
"""Maximum size of a token whose parts `merge/derive` finds, in time that grows with the square of the size."""

N_REGIONS = 128
"""Number of memory regions that the checked build knows; the first 8 are the kernels' own."""
N_OWN_REGIONS = 8


class TableRecord(Record):
    """A hash table of pieces, in memory reserved for its maximum size, and how much of it is in use."""

    entries: i64  # the entries, by slot
    shift: i64  # the slot of a hash is the hash shifted right by this
    count: i64  # number of entries that are not empty
    limit: i64  # maximum number of entries before the table grows or is emptied
    least_shift: i64  # the shift at the table's maximum size


class ContextRecord(Record):
    """The memory of one thread: addresses of tables, sizes and counters."""

    # splitting
    splitter: i64  # which splitter: WHOLE_TEXT and so on, below
    transitions: i64  # int32 by state and class: the automaton's transitions, see `pretokenize/scan`
    ascii_classes: i64  # uint8 by ASCII character: its class
    pages: i64  # uint16 by code point // 64: its page of PAGE_CLASSES
    page_classes: i64  # uint8 by page * 64 + code point % 64: the class of a character
    end_class: i64  # the class that stands for the end of the text
    character_flags: i64  # uint8 by page * 64 + code point % 64: the flags of a character, for the windows
    flag_pages: i64  # uint16 by code point // 64: its page of CHARACTER_FLAGS
    ascii_cuts: i64  # uint8 by first | second << 8 of two ASCII characters: 1 if a piece ends between them
    split_otherwise: i64  # address of the kernel that splits if SPLITTER is one of OTHERS, else 0
    stages: i64  # a `StageRecord` per stage
    n_stages: i64  # number of stages
    # merging
    pairs: i64  # int64 by slot: symbol << 43 | its handle << 21 | right, grouped by bucket; slot 0 is empty
    buckets: i64  # int64 by bucket: its first slot | number of slots << 21 | filter << 25 | multiplier << 41
    handles: i64  # int32 by symbol: its handle, which identifies its row of buckets
    first_round: i64  # int64 by first byte | second << 8: symbol | left bound << 21 | right bound << 42
    byte_symbols: i64  # int32 by byte: its symbol
    characters: i64  # int64 by code point below 65536: symbol | left need << 21 | right need << 42, or -1; 0: no table
    spell: i64  # address of the kernel that gives a piece its symbols if characters are the alphabet
    spelling_pages: i64  # uint16 by code point // 64: its page of CHARACTER_SYMBOLS; 0 if bytes are the alphabet
    character_symbols: i64  # int32 by page * 64 + code point % 64: the symbol of a character, -1 or BY_BYTES
    last_symbols: i64  # like CHARACTER_SYMBOLS, for a character that ends a piece; 0 if there is no difference
    unknown_symbol: i64  # the symbol of a character that has none; -1 if such a character is spelled in bytes
    fuses_unknown: i64  # 1 if consecutive unknown characters are one symbol
    monotone: i64  # 1 if every merge ranks after those that make its parts
    joins: i64  # the bitmap of `merge/segments`; 0 if pieces are not cut into segments
    lone: i64  # two int64 by code point below 65536: its ids if it is alone, 21 bits each; the bits for `_may_join`
    ids: i64  # int32 by symbol: its id; 0 if symbols are ids
    n_symbols: i64  # number of symbols
    whole: i64  # hash table of the tokens that are whole pieces although merging does not make them, or 0
    whole_shift: i64  # the slot of a hash in WHOLE is the hash shifted right by this
    small_scratch: i64  # 2 KB of working space of `merge/merge_small` and `merge/first_round`
    readable_end: i64  # end of the readable bytes of the text that the pieces are in
    heads: i64  # int32 by rank: the first position in its queue, or -1; see `merge/merge_long`
    latest: i64  # int32 by rank: the position queued last, perhaps of an earlier piece
    head_bits: i64  # one bit by rank: whether its queue may hold a position
    # the caches of pieces
    pieces: TableRecord  # 32-byte entries for pieces of up to 15 bytes
    n_refused: i64  # number of pieces not stored because the table PIECES was full
    cache_tokens: i64  # int32: ids of the tokens that are in the cache from the start, each piece having this one id
    n_cache_tokens: i64  # number of ids in CACHE_TOKENS
    cache_rows: i64  # 32-byte entries: the vocabulary's other entries in the cache from the start
    n_cache_rows: i64  # number of entries in CACHE_ROWS
    medium: TableRecord  # 64-byte entries for pieces of 16 to 31 bytes
    arena: i64  # int32: ids of pieces in PIECES whose ids do not fit in the entry
    arena_used: i64  # number of ids in the arena
    arena_limit: i64  # maximum number of ids in the arena
    long: TableRecord  # 32-byte entries for pieces of 32 to 255 bytes
    long_store: i64  # the bytes and ids of the pieces in LONG
    long_used: i64  # number of bytes of LONG_STORE in use
    long_store_limit: i64  # size of LONG_STORE in bytes
    seen: i64  # one bit by hash: whether a longer piece of ideographs with this hash was seen before
    n_seen: i64  # number of bits set in SEEN
    key_masks: i64  # two int64 by length: mask of a key of 0 to 15 bytes, then zeros; at KEY_LENGTHS the length's bits
    # working space
    work: i64  # working space of a block, laid out below
    out: i64  # int32: the ids of one call
    out_limit: i64  # maximum number of ids in OUT
    busy: i64  # not 0 while a call uses the context: its thread, or 1 if no other thread can run meanwhile
    segments: i64  # working space of `merge/segments`, laid out below
    # decoding
    token_bytes: i64  # the bytes of all tokens, one after another
    token_starts: i64  # int64 by id, n_ids + 1 of them: offset of its bytes; -1 - offset for an id that no token has
    n_ids: i64  # number of ids that kernels decode
    # the CPython boundary
    integers: i64  # int64 by id: address of its int object; 0 if no list has needed it yet
    specials: i64  # the table of special tokens, laid out below
    n_specials: i64  # number of rows of SPECIALS, one per prefix; -1 if kernels do not search for special tokens
    none_object: i64  # address of None
    replace: i64  # address of the C string "replace"
    size: i64  # number of bytes of the last UTF-8 (PyUnicode_AsUTF8AndSize writes it), or the shape of an array to make
    new_array: i64  # address of PyArray_Empty
    array_data: i64  # address of PyArray_GetPtr
    array_kind: i64  # address of the dtype uint32
    origin: i64  # 0, the index of an array's first element
    resize: i64  # address of PyArray_Resize
    shape: i64  # the address of SIZE; SHAPE and N_DIMENSIONS are the struct from which PyArray_Resize reads a shape
    n_dimensions: i64  # 1
    str_type: i64  # address of the type str
    str_state: i64  # offset, in a str object, of its state word; see `str_layout` for this and the next three
    str_shift: i64  # bit position of the kind in the state word
    str_utf8: i64  # offset of the address of the cached UTF-8
    str_data: i64  # offset of the characters of a str that is not ASCII
    text: i64  # buffer for the UTF-8 of one text
    text_limit: i64  # size of TEXT in bytes
    large_text: i64  # address of the UTF-8 of a text too large for TEXT while a call uses it, or 0
    list_items: i64  # offset, in a list object, of the address of its items
    batch_used: i64  # number of ids in OUT that the current job has written
    int_type: i64  # address of the type int
    cuts: i64  # int64 by class: bits of the classes before which the pattern always cuts after it; see `cpython/texts`
    all_cuts: i64  # like CUTS, but CUTS leaves out cuts inside special tokens; both are 0 if there are no cuts
    clock: i64  # seconds that clock_gettime writes
    clock_nanoseconds: i64  # nanoseconds that clock_gettime writes


class StageRecord(Record):
    """One stage of a splitter of several stages; the fields of its automaton are those of a context."""

    transitions: i64  # as in a context
    ascii_classes: i64  # as in a context
    pages: i64  # as in a context
    page_classes: i64  # as in a context
    end_class: i64  # as in a context
    has_gaps: i64  # 1 if text that the pattern leaves out is a piece of its own
    end: i64  # offset at which the stage's current piece ends


# Values of the field SPLITTER; from CL100K on, windows over an automaton. DEEPSEEK: windows over stages; NEIGHBOURS:
# for alphabets of characters, cuts between any two that no token holds side by side
WHOLE_TEXT, AUTOMATON, STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS, CL100K, QWEN, O200K, TEKKEN, GPT2 = range(10)
OTHERS = (STAGES_IN_TURN, DEEPSEEK, NEIGHBOURS)
"""The splitters in a separate object file."""

# Working space of a block, by offset from WORK
MASKS_AT = 0  # masks of a 64-byte window: 64 int64
BOUNDS_AT = 512  # int32 by piece of the block: its end
MOST_BOUNDS = 2 * BLOCK_BYTES + 512
RECORDS_AT = BOUNDS_AT + 4 * MOST_BOUNDS  # two int64 by piece: its key
SLOTS_AT = RECORDS_AT + 16 * MOST_BOUNDS  # int64 by piece: the address of its first slot
RECORDS_BYTES = 24 * MOST_BOUNDS
LONGER_AT = RECORDS_AT + RECORDS_BYTES  # one bit by piece: whether it has 16 bytes or more
LISTED_AT = LONGER_AT + MOST_BOUNDS // 8  # int64: the number of listed slots of long pieces, which follow
MOST_LISTED = 47
BUFFER_AT = LISTED_AT + 8 + 8 * MOST_LISTED
WORK_BYTES = BUFFER_AT + TAIL_BYTES + 2 * PAD_BYTES

# The table SPECIALS has a row of four int64 per prefix: its offset in the table, its size, the offset of its suffixes
# and their number; and a row of two int64 per suffix: its offset from the first suffix row, and its size
SPECIAL_ROW_BYTES = 32
SUFFIX_BYTES = 16

# Working space of `merge/segments`, by offset from SEGMENTS, for 62 characters at a time (a word has two more bits):
# the offset of each character, and of their end (int32); the ids of each alone (int64); a row for every longer segment
MOST_CHARACTERS = 62
PLACES_AT = 0
ALONE_AT = 4 * (MOST_CHARACTERS + 2)
ROWS_AT = ALONE_AT + 8 * MOST_CHARACTERS
ROW_BYTES = 40  # int64: address of the segment, number of bytes, key (two words), address of its first slot
SEGMENTS_BYTES = ROWS_AT + ROW_BYTES * (MOST_CHARACTERS // 2)

# The bit of a pair of characters in the bitmap JOINS is their hash shifted right by this
JOINS_SHIFT = 44

BY_BYTES = -2
"""Stands in place of a character's symbol if it is spelled in bytes, although other characters are unknown."""

# Error codes and states that a kernel returns in place of a count
UNCOVERED = -1
NO_MEMORY = -2
MAY_BE_SPECIAL = -3
NOT_UTF8 = -4
PENDING = -5
"""The text has not been encoded yet."""
COLLECTED = -6
"""Python objects have been made of the ids."""
RAISED = -7
"""A Python exception is set."""
NO_ROOM = -8
"""The ids might not fit in the buffer."""
