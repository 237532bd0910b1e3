"""Builds contexts: the working memory of one thread, over the tables of a model, which all contexts share."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, fields

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.build import kernel_address
from impls.compiled.codegen.native import native
from impls.compiled.cpython.interpreter import InterpreterLayout
from impls.compiled.pages import aligned_zeros, growing_zeros
from impls.compiled.pretokenize.specials import SpecialTokenTable
from impls.compiled.pretokenize.splitting import SplitContext, Splitting

_LEAST_CACHE_BITS, _USUAL_CACHE_BITS, _MOST_CACHE_BITS = 14, 19, 20
_LEAST_LONG_BITS, _MOST_LONG_BITS = 15, 18
"""log2 of the number of slots of the caches of pieces: minimum initial size, and maximum. The cache of short pieces has
two to four times the vocabulary's entries at first, and at most its usual size unless these need more."""
_IN_SMALL_PAGES, _MOST_IN_SMALL_PAGES = 1 << 18, 1 << 20
"""Number of bytes in small pages: of a buffer that is filled from its start on; maximum of a new table or the arena."""
_LONG_STORE_BYTES = 1 << 24
_ARENA_IDS = 1 << 20
_TEXT_BYTES = 1 << 24
_OUT_IDS = 1 << 22
"""The ids of texts of up to this many bytes fit in the buffer; memory that no text has needed yet is only reserved."""

_BUFFERS = ("text", "out", "arena", "long_store")
_KEY_MASKS = np.frombuffer(
    b"".join([(b"\xff" * n).ljust(16, b"\0") for n in range(16)] + [bytes(16)])
    + b"".join([bytes([n]).rjust(16, b"\0") for n in range(16)] + [bytes(16)]),
    np.int64,
)
_REPLACE = np.frombuffer(b"replace\0", np.uint8)


NUMBERS = ("n_symbols", "monotone", "unknown_symbol", "fuses_unknown")
"""The fields of `layout.ContextRecord` whose values `ModelTables.numbers` holds."""


@dataclass(frozen=True, slots=True)
class ModelTables:
    """Merging tables of a model, the initial entries of its cache, and the tables for decoding.

    Each, except `numbers` and `whole_tokens`, has the name of the field of `layout.ContextRecord` that points at it.
    """

    pairs: np.ndarray
    """int64: the pairs with the symbols they make, grouped by bucket; see `merge/pairs`."""
    buckets: np.ndarray
    """int64: the word of each bucket; see `merge/pairs`."""
    handles: np.ndarray
    """int32 by symbol: its handle, which identifies its row of buckets."""
    first_round: np.ndarray
    """int64 of shape (65536,), by first byte | second << 8; see `merge/first_round`."""
    characters: np.ndarray
    """int64 of shape (65536,), see `merge/first_round`; all -1 if merges are not monotone."""
    byte_symbols: np.ndarray
    """int32 of shape (256,): the symbol of each byte."""
    ids: np.ndarray
    """int32 by symbol: its id; empty if symbols are ids."""
    spelling_pages: np.ndarray
    """uint16 of shape (0x4400,): the page of each 64 code points; empty if bytes are the alphabet."""
    character_symbols: np.ndarray
    """int32 of shape (n_pages * 64,): the symbol of a character, or -1; see `merge/spelling_tables`."""
    last_symbols: np.ndarray
    """As `character_symbols`, for a character that ends a piece; empty if there is no difference."""
    numbers: np.ndarray
    """int64: the values of NUMBERS."""
    token_bytes: np.ndarray
    """uint8: the decoded bytes of all tokens, one after another."""
    token_starts: np.ndarray
    """int64 of shape (n_ids + 1,): offset of a token in `token_bytes`; -1 - offset for an id that no token has."""
    whole_tokens: np.ndarray
    """int32: ids of the tokens that whole pieces become, although merging does not make them."""
    cache_tokens: np.ndarray
    """int32: tokens in the cache from the start, each the single id of its own bytes in `token_bytes`."""
    cache_rows: np.ndarray
    """int64 of shape (n, 4): the other entries in the cache from the start."""
    joins: np.ndarray
    """uint8: bitmap of the pairs of characters in tokens; empty if pieces are not cut into segments."""
    lone: np.ndarray
    """int64 of shape (65536, 2): the ids of each three-byte character alone, and bits of the ends of characters that a
    token may hold before it, see `merge/neighbours`; empty if `joins` is."""

    @property
    def n_symbols(self) -> int:
        """Return the number of symbols."""
        return int(self.numbers[0])

    @property
    def monotone(self) -> bool:
        """Return whether every merge ranks after those that make its parts."""
        return bool(self.numbers[1])


HELD = tuple(field.name for field in fields(ModelTables) if field.name not in ("numbers", "whole_tokens"))
"""The tables that kernels reach by a field of the same name."""


def token_table(data: np.ndarray, starts: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the hash table (int32) of tokens by their bytes that `merge/piece` reads, and the shift of its hashes.

    The bytes of token i begin at `data[starts[i]]`; `tokens` are the ids to index.
    """
    bits = max(2, (2 * len(tokens)).bit_length())
    table = np.full(1 << bits, -1, np.int32)
    native.index_tokens(data, starts, tokens.astype(np.int32), len(tokens), table, 64 - bits)
    return table, 64 - bits


class Context(SplitContext):
    """Caches and buffers of one thread. Not safe for two threads at once: see `impls.compiled.threads.pool`."""

    def __init__(self, tables: ModelTables, splitting: Splitting | None) -> None:
        super().__init__(splitting)
        self.tables = tables
        for name in HELD:
            if len(array := getattr(tables, name)):
                self.hold(name, array)
        for name, number in zip(NUMBERS, tables.numbers.tolist(), strict=True):
            self[name] = number
        self["n_cache_tokens"], self["n_cache_rows"] = len(tables.cache_tokens), len(tables.cache_rows)
        self["n_ids"] = len(tables.token_starts) - 1
        if self["spelling_pages"]:
            self["spell"] = kernel_address("spell")
        if len(tables.joins):
            # One more character than there can be says where the last of them ends.
            self.hold("segments", np.zeros(layout.MOST_CHARACTERS + 1, layout.Character.dtype))
            self.hold("listed_segments", np.zeros(layout.MOST_CHARACTERS // 2, layout.Segment.dtype))
        self.hold("heads", np.full(tables.n_symbols, -1, np.int32))
        self.hold("latest", np.zeros(tables.n_symbols, np.int32))
        self.hold("head_bits", np.zeros((tables.n_symbols + 63) // 64, np.int64))
        self.hold("small_scratch", aligned_zeros(2048))
        for field, offset in (("symbols", 64), ("ranks", 512), ("symbol_handles", 1088), ("made", 1344)):
            self[field] = self["small_scratch"] + offset
        self._caches()
        self.hold("out", growing_zeros(4 * _OUT_IDS + layout.PAD_BYTES, _IN_SMALL_PAGES))
        self["out_limit"] = _OUT_IDS
        self._whole()
        native.load_vocabulary(self.address)

    def _caches(self) -> None:
        n_entries = self["n_cache_tokens"] + self["n_cache_rows"]
        bits = min(_USUAL_CACHE_BITS, max(_LEAST_CACHE_BITS, (4 * n_entries).bit_length()))
        bits = max(bits, (2 * n_entries).bit_length())
        self._table("pieces", 32, bits, max(bits, _MOST_CACHE_BITS))
        self._table("long", 32, _LEAST_LONG_BITS, _MOST_LONG_BITS)
        self.hold("arena", growing_zeros(4 * _ARENA_IDS, _MOST_IN_SMALL_PAGES))
        self["arena_limit"] = _ARENA_IDS
        self.hold("long_store", growing_zeros(_LONG_STORE_BYTES, _IN_SMALL_PAGES))
        self["long_store_limit"] = _LONG_STORE_BYTES
        self.hold("seen", np.zeros(1 << (layout.SEEN_BITS - 6), np.int64))
        self.hold("key_masks", _KEY_MASKS)

    def _table(self, table: str, entry_bytes: int, bits: int, most_bits: int) -> None:
        """Hold an empty hash table of 2**bits entries that `lookup/growth` may enlarge to 2**most_bits."""
        in_use, memory = entry_bytes << bits, entry_bytes << most_bits
        array = growing_zeros(memory, in_use) if in_use <= _MOST_IN_SMALL_PAGES else aligned_zeros(memory)
        # The first access to a page causes a page fault, and so does the first write: write now, as lookups only read.
        array[: in_use : mmap.PAGESIZE] = 0
        self.hold(f"{table}.entries", array)
        self[f"{table}.shift"] = 64 - bits
        self[f"{table}.limit"] = (3 << bits) // 4
        self[f"{table}.least_shift"] = 64 - most_bits

    def _whole(self) -> None:
        """Hold the hash table of whole pieces."""
        whole = self.tables.whole_tokens
        if len(whole):
            table, self["whole_shift"] = token_table(self.tables.token_bytes, self.tables.token_starts, whole)
            self.hold("whole", table)

    def reach_python(
        self, found: InterpreterLayout, integers: int, specials: SpecialTokenTable, cuts: np.ndarray | None
    ) -> None:
        """Let kernels read and create Python objects.

        `integers` is the address of the ints, see `cpython/interpreter`; `specials` is the table of special tokens that
        kernels search for; `cuts` says where texts may be cut, see `splitting.cuts_of`.
        """
        # None and types live as long as the interpreter, so their addresses (which `id` returns) stay valid.
        self["none_object"], self["int_type"], self["str_type"] = id(None), id(int), id(str)
        self.hold("replace", _REPLACE)
        self["integers"], self["list_items"] = integers, found.list_items
        arrays, strings = found.arrays, found.strings
        self["new_array"], self["array_data"], self["array_kind"] = arrays.empty, arrays.get_pointer, arrays.dtype
        self["resize"], self["shape"], self["n_dimensions"] = arrays.resize, self.address_of("size"), 1
        self["str_state"], self["str_shift"] = strings.state, strings.shift
        self["str_utf8"], self["str_data"] = strings.utf8, strings.data
        self.hold("text", growing_zeros(_TEXT_BYTES + layout.PAD_BYTES, _IN_SMALL_PAGES))
        self["text_limit"] = _TEXT_BYTES
        table, self["n_specials"] = specials
        self.hold("specials", table)
        if cuts is not None:
            self.hold("cuts", cuts[0])
            self.hold("all_cuts", cuts[1])

    def touch_buffers(self) -> None:
        """Touch the memory that a first text needs, so that no call waits for its pages."""
        for slot in _BUFFERS:
            if self[slot] != 0:
                self.held(slot)[: _IN_SMALL_PAGES : mmap.PAGESIZE] = 0

    def tokens_merging_does_not_make(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the ids (int32) of the tokens whose bytes do not merge into the token."""
        n_tokens = len(starts) - 1
        found = np.empty(n_tokens, np.int32)
        n_found = native.find_whole(self.address, data, starts, n_tokens, found)
        return found[:n_found].copy()

    def characters(self, lowest_as_right: np.ndarray, lowest_as_left: np.ndarray) -> np.ndarray:
        """Return the table CHARACTERS, int64 of shape (65536,); see `merge/first_round`."""
        table = np.empty(1 << 16, np.int64)
        native.build_characters(self.address, lowest_as_right, lowest_as_left, table)
        return table

    def lone_characters(self) -> np.ndarray | None:
        """Return the ids of each character alone, and zeros: int64 of shape (65536, 2); None if the ids do not fit."""
        table, scratch = np.zeros((1 << 16, 2), np.int64), np.zeros(16, np.int32)
        return table if native.build_character_ids(self.address, table, scratch) else None

    def vocabulary_rows(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the cache entries of the vocabulary: int64 of shape (n, 4)."""
        n_tokens = len(starts) - 1
        rows = np.empty((n_tokens + 1, 4), np.int64)
        n_rows = native.fill_rows(self.address, data, starts, n_tokens, rows)
        return rows[:n_rows].copy()
