"""A context: the working memory of one thread over the shared tables of a model, laid out for the kernels."""

from __future__ import annotations

import mmap
import weakref

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import address, declare, forget
from impls.compiled.cpython.numpy_api import NumpyApi
from impls.compiled.cpython.str_layout import StrLayout
from impls.compiled.pages import aligned_zeros, growing_zeros
from impls.compiled.pretokenize.specials import SpecialTokenTable
from impls.compiled.pretokenize.split_context import SplitContext, Splitting
from impls.compiled.tables import ModelTables

_LEAST_CACHE_BITS, _USUAL_CACHE_BITS, _MOST_CACHE_BITS = 14, 19, 20
_LEAST_MEDIUM_BITS, _MOST_MEDIUM_BITS = 15, 17
_LEAST_LONG_BITS, _MOST_LONG_BITS = 12, 17
"""log2 of the slots of the caches of pieces: initial size, at least, and maximum. That of short pieces starts with two
to four times the vocabulary's entries, and at its usual size unless these need more."""
_IN_SMALL_PAGES, _MOST_IN_SMALL_PAGES = 1 << 18, 1 << 20
"""Bytes in small pages: of a buffer that is filled from its start on; of a new table, or the arena, at most."""
_LONG_STORE_BYTES = 1 << 24
_ARENA_IDS = 1 << 20
_TEXT_BYTES = 1 << 24
_OUT_IDS = 1 << 22
"""Ids of texts of up to so many bytes fit; memory that no text has needed yet is only reserved."""

_TABLES = {
    layout.CACHE: (layout.CACHE_SHIFT, layout.CACHE_LIMIT, layout.CACHE_LEAST_SHIFT),
    layout.MEDIUM: (layout.MEDIUM_SHIFT, layout.MEDIUM_LIMIT, layout.MEDIUM_LEAST_SHIFT),
    layout.LONG: (layout.LONG_SHIFT, layout.LONG_LIMIT, layout.LONG_LEAST_SHIFT),
}
_BUFFERS = (layout.TEXT, layout.OUT, layout.ARENA, layout.LONG_STORE)
_KEY_MASKS = np.frombuffer(
    b"".join([(b"\xff" * n).ljust(16, b"\0") for n in range(16)] + [bytes(16)])
    + b"".join([bytes([n]).rjust(16, b"\0") for n in range(16)] + [bytes(16)]),
    np.int64,
)
_REPLACE = np.frombuffer(b"replace\0", np.uint8)
_LEAST_WHOLE_BITS = 2


class Context(SplitContext):
    """Caches and buffers of one thread. Not safe for two threads at once: see `impls.compiled.threads.pool`."""

    def __init__(self, tables: ModelTables, splitting: Splitting | None) -> None:
        self.tables = tables
        super().__init__(splitting)
        self._whole()
        self.native.load_rows(self.address)

    def _prepare(self) -> None:
        self._merging()
        self._cache()
        self.hold(layout.OUT, aligned_zeros(4 * _OUT_IDS + layout.PAD_BYTES))
        self[layout.OUT_LIMIT] = _OUT_IDS
        self[layout.INT_TYPE] = id(int)
        self._decoding()

    def _merging(self) -> None:
        tables = self.tables
        self.hold(layout.PAIRS, tables.pairs)
        self.hold(layout.BUCKETS, tables.buckets)
        self.hold(layout.HANDLES, tables.handles)
        self.hold(layout.FIRST_ROUND, tables.first_round)
        self.hold(layout.BYTE_SYMBOLS, tables.byte_symbols)
        self[layout.MONOTONE] = int(tables.monotone)
        self.hold(layout.CHARACTERS, tables.characters)
        if len(tables.spelling_pages):
            self.hold(layout.SPELLING_PAGES, tables.spelling_pages)
            self.hold(layout.CHARACTER_SYMBOLS, tables.character_symbols)
            if len(tables.last_symbols):
                self.hold(layout.LAST_SYMBOLS, tables.last_symbols)
            self[layout.UNKNOWN_SYMBOL] = int(tables.numbers[2])
            self[layout.FUSES_UNKNOWN] = int(tables.numbers[3])
            self[layout.FIRST_IS_OTHER] = int(tables.numbers[4])
        if len(tables.joins):
            self.hold(layout.JOINS, tables.joins)
            self.hold(layout.LONE, tables.lone_characters)
            self.hold(layout.CHARACTER_PAIRS, tables.character_pairs)
            self[layout.CHARACTER_PAIRS_SHIFT] = 66 - len(tables.character_pairs).bit_length()
            self.hold(layout.SEGMENTS, aligned_zeros(layout.SEGMENTS_BYTES))
        if len(tables.ids):
            self.hold(layout.IDS, tables.ids)
        self[layout.N_SYMBOLS] = tables.n_symbols
        self.hold(layout.HEADS, np.full(tables.n_symbols, -1, np.int32))
        self.hold(layout.LATEST, np.zeros(tables.n_symbols, np.int32))
        self.hold(layout.HEAD_BITS, np.zeros((tables.n_symbols + 63) // 64, np.int64))
        self.hold(layout.SMALL_SCRATCH, aligned_zeros(2048))

    def _cache(self) -> None:
        tokens, rows = self.tables.row_tokens, self.tables.rows
        n_entries = len(tokens) + len(rows)
        bits = min(_USUAL_CACHE_BITS, max(_LEAST_CACHE_BITS, (4 * n_entries).bit_length()))
        bits = max(bits, (2 * n_entries).bit_length())
        self._table(layout.CACHE, 32, bits, max(bits, _MOST_CACHE_BITS))
        self._table(layout.MEDIUM, 64, _LEAST_MEDIUM_BITS, _MOST_MEDIUM_BITS)
        self._table(layout.LONG, 32, _LEAST_LONG_BITS, _MOST_LONG_BITS)
        self.hold(layout.CACHE_TOKENS, tokens)
        self[layout.N_CACHE_TOKENS] = len(tokens)
        self.hold(layout.CACHE_ROWS, rows)
        self[layout.N_CACHE_ROWS] = len(rows)
        self.hold(layout.ARENA, growing_zeros(4 * _ARENA_IDS, _MOST_IN_SMALL_PAGES))
        self[layout.ARENA_LIMIT] = _ARENA_IDS
        self.hold(layout.LONG_STORE, growing_zeros(_LONG_STORE_BYTES, _IN_SMALL_PAGES))
        self[layout.LONG_STORE_LIMIT] = _LONG_STORE_BYTES
        self.hold(layout.SEEN, np.zeros(1 << (layout.SEEN_BITS - 6), np.int64))
        self.hold(layout.KEY_MASKS, _KEY_MASKS)

    def _table(self, table: int, entry_bytes: int, bits: int, most_bits: int) -> None:
        """Hold an empty hash table of 2**bits entries that `lookup/growth` may enlarge to 2**most_bits."""
        shift, limit, least_shift = _TABLES[table]
        in_use, memory = entry_bytes << bits, entry_bytes << most_bits
        array = growing_zeros(memory, in_use) if in_use <= _MOST_IN_SMALL_PAGES else aligned_zeros(memory)
        # A page is faulted in at its first access, and again at its first write: write now, as lookups only read.
        array[: in_use : mmap.PAGESIZE] = 0
        self.hold(table, array)
        self[shift] = 64 - bits
        self[limit] = (3 << bits) // 4
        self[least_shift] = 64 - most_bits

    def _decoding(self) -> None:
        self.hold(layout.TOKEN_BYTES, self.tables.blob)
        self.hold(layout.TOKEN_STARTS, self.tables.starts)
        self[layout.N_IDS] = len(self.tables.starts) - 1
        self.hold(layout.REPLACE, _REPLACE)
        # None is never deallocated, so its address (`id` in CPython) stays valid.
        self[layout.NOTHING] = id(None)

    def _whole(self) -> None:
        whole, starts = self.tables.whole.tolist(), self.tables.starts
        if not whole:
            return
        bits = max(_LEAST_WHOLE_BITS, (2 * len(whole)).bit_length())
        table = aligned_zeros(32 << bits)
        self.hold(layout.WHOLE, table)
        self[layout.WHOLE_SHIFT] = 64 - bits
        if is_checked():
            number = declare(table)
            weakref.finalize(self, forget, number)
        blob = address(self.tables.blob)
        for token in whole:
            start, end = int(starts[token]), int(starts[token + 1])
            end = -1 - end if end < 0 else end
            self.native.put_whole(address(table), 64 - bits, blob + start, end - start, token)

    def search_for(self, specials: SpecialTokenTable) -> None:
        """Give the kernels the special tokens to search for."""
        table, n_rows = specials
        if is_checked():
            weakref.finalize(self, forget, declare(table))
        self.hold(layout.SPECIALS, table)
        self[layout.N_SPECIALS] = n_rows

    def make_arrays(self, api: NumpyApi) -> None:
        """Let the boundary make NumPy arrays."""
        self[layout.NEW_ARRAY] = api.empty
        self[layout.ARRAY_DATA] = api.get_pointer
        self[layout.ARRAY_KIND] = api.dtype
        self[layout.RESIZE] = api.resize
        self[layout.SHAPE] = self.address + layout.SIZE
        self[layout.N_DIMENSIONS] = 1

    def read_strings(self, strings: StrLayout) -> None:
        """Let the boundary read the characters of strings in place."""
        self[layout.STR_TYPE] = id(str)
        self[layout.STR_STATE] = strings.state
        self[layout.STR_SHIFT] = strings.shift
        self[layout.STR_UTF8] = strings.utf8
        self[layout.STR_DATA] = strings.data
        text = growing_zeros(_TEXT_BYTES + layout.PAD_BYTES, _IN_SMALL_PAGES)
        if is_checked():
            weakref.finalize(self, forget, declare(text))
        self.hold(layout.TEXT, text)
        self[layout.TEXT_LIMIT] = _TEXT_BYTES

    def encode_in_parts(self, cuts: np.ndarray) -> None:
        """Let the boundary encode long texts part by part; `cuts` is int64 by class, see `layout.CUTS`."""
        self.hold(layout.CUTS, cuts)
        if is_checked():
            weakref.finalize(self, forget, declare(cuts))

    def share_integers(self, integers: np.ndarray, list_items: int) -> None:
        """Give the boundary the table of int objects, see `builtins`, and the offset of a list's items."""
        self.hold(layout.INTEGERS, integers)
        self[layout.LIST_ITEMS] = list_items
        if is_checked():
            weakref.finalize(self, forget, declare(integers))

    def touch_buffers(self) -> None:
        """Touch the memory that a first text needs now, so that no call waits for its pages."""
        for slot in _BUFFERS:
            if self[slot] != 0:
                self.held(slot)[: _IN_SMALL_PAGES : mmap.PAGESIZE] = 0

    def forget_pieces(self) -> None:
        """Empty the caches of pieces except for the vocabulary's own, as in a new context."""
        self.native.reset_cache(self.address)
        n_entries = 1 << (64 - self[layout.LONG_SHIFT])
        self.held(layout.LONG)[: 32 * n_entries].fill(0)
        self[layout.LONG_COUNT] = 0
        self[layout.LONG_USED] = 0
        self.held(layout.SEEN).fill(0)
        self[layout.N_SEEN] = 0

    def tokens_merging_does_not_make(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the ids (int32) of the tokens whose bytes merge into something else."""
        n_tokens = len(starts) - 1
        found = np.empty(n_tokens, np.int32)
        with self.native.reachable(data, starts, found):
            n_found = self.native.find_whole(self.address, address(data), address(starts), n_tokens, address(found))
        return found[:n_found].copy()

    def characters(self, lowest_as_right: np.ndarray, lowest_as_left: np.ndarray) -> np.ndarray:
        """Build the table CHARACTERS, int64 of shape (65536,)."""
        table = np.empty(1 << 16, np.int64)
        with self.native.reachable(lowest_as_right, lowest_as_left, table):
            self.native.build_characters(
                self.address, address(lowest_as_right), address(lowest_as_left), address(table)
            )
        return table

    def lone_characters(self) -> np.ndarray | None:
        """Return the ids of each character alone, and zeros, int64 of shape (65536, 2); None where they do not fit."""
        table, scratch = np.zeros((1 << 16, 2), np.int64), np.zeros(16, np.int32)
        with self.native.reachable(table, scratch):
            fit = self.native.build_character_ids(self.address, address(table), address(scratch))
        return table if fit else None

    def vocabulary_rows(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the cache entries of the vocabulary, int64 of shape (n, 4)."""
        n_tokens = len(starts) - 1
        rows = np.empty((n_tokens + 1, 4), np.int64)
        with self.native.reachable(data, starts, rows):
            n_rows = self.native.fill_rows(self.address, address(data), address(starts), n_tokens, address(rows))
        return rows[:n_rows].copy()
