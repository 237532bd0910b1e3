"""The memory layout of a context, the memory of one thread: records that kernels reach by field, and working space.

What splits text has records of its own, in `pretokenize/layout`.

Every field is an int64: a number, or the address of an array; the comment then says what the array holds ("int32 by
symbol": an int32 for each symbol). Limits that tables and kernels share are here too.
"""

from __future__ import annotations

from impls.compiled.language.typed_memory import I32s, I64s, Record, Rows, U8s, U16s, i64
from impls.compiled.pretokenize.layout import Automaton, Masks, SpecialRow, SpecialToken

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

PIECE_BEGINS, NOT_KNOWN = -1, -2
"""In place of the last token: the piece begins there; the encoding passes over the first position."""
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

KEY_LENGTHS = 17
"""The first row in KEY_MASKS of those that set the top byte of a key to its length."""

LONGEST_DERIVED = 1024
"""Maximum size of a token whose parts `merge/piece` finds, in time that grows with the square of the size."""

INT_BYTES = 32
"""Bytes from one int object to the next in `cpython/interpreter`: reference count, type and size, eight bytes each, one
digit of 30 bits, and padding."""

ARRAY_DATA_AT = 16
"""Offset, in an array object of NumPy, of the address of its data, which PyArray_DATA of the public headers reads."""

N_REGIONS = 1024
"""Number of memory regions that the checked build knows; the first 8 are the kernels' own."""
N_OWN_REGIONS = 8
N_COUNTERS = 8
"""Words before the regions in the checked build's table: three about faults, then a spare word."""


class Key(Record):
    """The key of a piece of up to 15 bytes, or a mask of one."""

    low: i64  # bytes 0 to 7
    high: i64  # bytes 8 to 14, and the number of bytes in the top byte


class Entry(Record):
    """A piece and its ids, see `lookup/cache`."""

    low: i64  # as in a key
    high: i64  # as in a key; 0 in an empty slot
    third: i64
    fourth: i64


class Character(Record):
    """A character of a piece that is cut into segments."""

    offset: i64  # where it begins in the piece
    ids: i64  # as in `LoneCharacter`


class LoneCharacter(Record):
    """A three-byte character alone."""

    ids: i64  # its ids, 21 bits each
    befores: i64  # a bit for each end of a character that a token may hold before it, see `tables.joins_of`


class ContextRecord(Record):
    """The memory of one thread: addresses of tables, sizes and counters."""

    # splitting
    splitter: i64  # which splitter, see `pretokenize/layout`
    character_flags: U8s  # uint8 by page * 64 + code point % 64: the flags of a character, for the windows
    flag_pages: U16s  # uint16 by code point // 64: its page of CHARACTER_FLAGS
    stages: Rows[Automaton]  # the automaton of the pattern, or of what windows leave; several if it has stages
    n_stages: i64  # number of stages
    given_ends: I32s  # int32: the ends of the pieces to come of a text that is split already
    # merging
    pairs: I64s  # int64 by slot: symbol << 43 | its handle << 21 | right, grouped by bucket; slot 0 is empty
    buckets: I64s  # int64 by bucket: its first slot | number of slots << 21 | filter << 25 | multiplier << 41
    handles: I32s  # int32 by symbol: its handle, which identifies its row of buckets
    first_round: I64s  # int64 by first byte | second << 8: symbol | left bound << 21 | right bound << 42
    byte_symbols: I32s  # int32 by byte: its symbol
    spelling_pages: U16s  # uint16 by code point // 64: its page of CHARACTER_SYMBOLS; 0 if bytes are the alphabet
    character_symbols: I32s  # int32 by page * 64 + code point % 64: the symbol of a character, -1 or BY_BYTES
    last_symbols: I32s  # like CHARACTER_SYMBOLS, for a character that ends a piece; 0 if there is no difference
    unknown_symbol: i64  # the symbol of a character that has none; -1 if such a character is spelled in bytes
    fuses_unknown: i64  # 1 if consecutive unknown characters are one symbol
    monotone: i64  # 1 if every merge ranks after those that make its parts
    joins: U8s  # the bitmap of `merge/segments`; 0 if pieces are not cut into segments
    lone: Rows[LoneCharacter]  # by code point below 65536: its ids if it is alone, and the bits for `_may_join`
    ids: I32s  # int32 by symbol: its id; 0 if symbols are ids
    n_symbols: i64  # number of symbols
    whole: I32s  # hash table of the tokens that are whole pieces although merging does not make them, or 0
    whole_shift: i64  # the slot of a hash in WHOLE is the hash shifted right by this
    small_scratch: i64  # working space of `merge/merge_small`; the next four are parts of it
    symbols: I32s  # the symbols of a piece; the one before the first and the one after the last are NONE
    ranks: I64s  # words `joined(...) << 6 | position`, in chunks of 8; the word before them takes stray writes
    symbol_handles: I32s  # the symbols' handles; the one before the first is NO_ROW
    pair_symbols: I32s  # by position: the symbol that the pair of bytes there makes, or NONE
    readable_end: i64  # end of the readable bytes of the text that the pieces are in
    heads: I32s  # int32 by rank: the first position in its queue, or -1; see `merge/merge_long`
    latest: I32s  # int32 by rank: the position queued last, perhaps of an earlier piece
    head_bits: I64s  # one bit by rank: whether its queue may hold a position
    # the cache of pieces
    entries: Rows[Entry]  # hash table of pieces of up to 255 bytes, in memory reserved for its maximum size
    entries_shift: i64  # the slot of a hash is the hash shifted right by this
    least_shift: i64  # ENTRIES_SHIFT at the table's maximum size
    n_entries: i64  # number of entries that are not empty
    most_entries: i64  # maximum number of entries before the table grows or is emptied
    n_refused: i64  # number of pieces not stored because the table was full
    cache_tokens: I32s  # int32: ids of the tokens that are in the cache from the start, each piece having this one id
    n_cache_tokens: i64  # number of ids in CACHE_TOKENS
    cache_rows: Rows[Entry]  # 32-byte entries: the vocabulary's other entries in the cache from the start
    n_cache_rows: i64  # number of entries in CACHE_ROWS
    arena: I32s  # int32: ids that do not fit in their entry; after those of a piece of 16 bytes or more, its bytes
    arena_used: i64  # number of int32 in use in the arena
    arena_limit: i64  # size of the arena in int32
    key_masks: Rows[Key]  # by length: mask of a key of 0 to 15 bytes, then zeros; at KEY_LENGTHS the length's bits
    # working space
    work: i64  # working space of a block; the next six fields are parts of it
    masks: Rows[Masks]  # the masks of one window
    ends: I32s  # by piece of the block: its end
    keys: Rows[Key]  # by piece of the block: its key
    slots: I64s  # by piece of the block: the address of its first slot
    longer: U8s  # one bit by piece of the block: whether it has 16 bytes or more
    tail: i64  # address of a copy of the last bytes of a text
    after: i64  # the end of the last piece of the block
    out: i64  # int32: the ids of one call
    out_limit: i64  # maximum number of ids in OUT
    busy: i64  # not 0 while a call uses the context: its thread, or 1 if no other thread can run meanwhile
    segments: Rows[Character]  # working space of `merge/segments`: the characters that it reads at a time
    # decoding
    token_bytes: U8s  # the bytes of all tokens, one after another
    token_starts: I64s  # int64 by id, n_ids + 1 of them: offset of its bytes; -1 - offset for an id that no token has
    n_ids: i64  # number of ids that kernels decode
    # the CPython boundary
    integers: i64  # address of the ints of all ids, side by side; see `cpython/interpreter`
    specials: Rows[SpecialRow]  # the special tokens, a row per prefix
    special_tokens: Rows[SpecialToken]  # those of all rows, sorted
    special_bytes: U8s  # the bytes of all of them
    n_specials: i64  # number of rows of SPECIALS, one per prefix; -1 if kernels do not search for special tokens
    none_object: i64  # address of None
    replace: i64  # address of the C string "replace"
    size: i64  # number of bytes of the last UTF-8 (PyUnicode_AsUTF8AndSize writes it), or the shape of an array to make
    new_array: i64  # address of PyArray_Empty
    array_kind: i64  # address of the dtype uint32
    resize: i64  # address of PyArray_Resize
    shape: i64  # the address of SIZE; SHAPE and N_DIMENSIONS are the struct from which PyArray_Resize reads a shape
    n_dimensions: i64  # 1
    str_type: i64  # address of the type str
    str_state: i64  # offset, in a str object, of its 32-bit state word: kind (three bits), flags compact and ASCII
    str_shift: i64  # bit position of the kind in the state word
    str_utf8: i64  # offset of the address of the cached UTF-8, which is 0 if none is cached
    str_data: i64  # offset of the characters of a str that is not ASCII
    text: i64  # buffer for the UTF-8 of one text
    text_limit: i64  # size of TEXT in bytes
    large_text: i64  # address of the UTF-8 of a text too large for TEXT while a call uses it, or 0
    list_items: i64  # offset, in a list object, of the address of its items
    batch_used: i64  # number of ids in OUT that the current job has written
    int_type: i64  # address of the type int
    cuts: I64s  # int64 by class: bits of the classes before which a text may be cut after it, see `cpython/texts`; or 0


# Working space of a block: sizes of its parts, in items
MOST_BOUNDS = 2 * BLOCK_BYTES + 512

MOST_CHARACTERS = 62
"""Maximum number of characters that `merge/segments` reads at a time: a word has two more bits."""

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


class Suffixes(Record):
    """The tokens of a model by their ends."""

    parts: I32s  # two by symbol: its parts, -1 if no merge makes it
    lengths: I32s  # by symbol: its number of bytes, 0 if no encoding contains it
    filter: U8s  # by hash: ENDS, IS_TOKEN
    filter_shift: i64  # the place of a hash in the filter is the hash shifted right by this
    tokens: I64s  # hash table: the upper half of a hash, and the symbol; -1 in an empty slot
    tokens_shift: i64  # the slot of a hash is the hash shifted right by this
    longest: i64  # the most bytes of a symbol


class Beginnings(Record):
    """The beginnings of a piece, after a place at which tokens of all begin."""

    text: U8s  # the bytes from that place on
    last: I32s  # by number of bytes: the last symbol, PIECE_BEGINS or NOT_KNOWN; the first is the symbol before
