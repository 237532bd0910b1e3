"""A context: the working memory of one thread over the shared tables of a model, laid out for the kernels."""

from __future__ import annotations

import mmap
import weakref

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import address, declare, forget, native
from impls.compiled.cpython.numpy_api import NumpyApi
from impls.compiled.cpython.str_layout import StrLayout
from impls.compiled.model_tables import ModelTables
from impls.compiled.pages import aligned_zeros, growing_zeros
from impls.compiled.pretokenize.specials import SpecialTokenTable
from impls.compiled.pretokenize.split_context import SplitContext, Splitting

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

_BUFFERS = ("text", "out", "arena", "long_store")
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
        native.load_vocabulary(self.address)

    def _prepare(self) -> None:
        self._merging()
        self._cache()
        self.hold("out", aligned_zeros(4 * _OUT_IDS + layout.PAD_BYTES))
        self["out_limit"] = _OUT_IDS
        self["int_type"] = id(int)
        self._decoding()

    def _merging(self) -> None:
        tables = self.tables
        self.hold("pairs", tables.pairs)
        self.hold("buckets", tables.buckets)
        self.hold("handles", tables.handles)
        self.hold("first_round", tables.first_round)
        self.hold("byte_symbols", tables.byte_symbols)
        self["monotone"] = int(tables.monotone)
        self.hold("characters", tables.characters)
        if len(tables.spelling_pages):
            self.hold("spelling_pages", tables.spelling_pages)
            self.hold("character_symbols", tables.character_symbols)
            if len(tables.last_symbols):
                self.hold("last_symbols", tables.last_symbols)
            self["unknown_symbol"] = int(tables.numbers[2])
            self["fuses_unknown"] = int(tables.numbers[3])
            self["first_is_other"] = int(tables.numbers[4])
        if len(tables.joins):
            self.hold("joins", tables.joins)
            self.hold("lone", tables.lone_characters)
            self.hold("character_pairs", tables.character_pairs)
            self["character_pairs_shift"] = 66 - len(tables.character_pairs).bit_length()
            self.hold("segments", aligned_zeros(layout.SEGMENTS_BYTES))
        if len(tables.ids):
            self.hold("ids", tables.ids)
        self["n_symbols"] = tables.n_symbols
        self.hold("heads", np.full(tables.n_symbols, -1, np.int32))
        self.hold("latest", np.zeros(tables.n_symbols, np.int32))
        self.hold("head_bits", np.zeros((tables.n_symbols + 63) // 64, np.int64))
        self.hold("small_scratch", aligned_zeros(2048))

    def _cache(self) -> None:
        tokens, rows = self.tables.row_tokens, self.tables.rows
        n_entries = len(tokens) + len(rows)
        bits = min(_USUAL_CACHE_BITS, max(_LEAST_CACHE_BITS, (4 * n_entries).bit_length()))
        bits = max(bits, (2 * n_entries).bit_length())
        self._table("pieces", 32, bits, max(bits, _MOST_CACHE_BITS))
        self._table("medium", 64, _LEAST_MEDIUM_BITS, _MOST_MEDIUM_BITS)
        self._table("long", 32, _LEAST_LONG_BITS, _MOST_LONG_BITS)
        self.hold("cache_tokens", tokens)
        self["n_cache_tokens"] = len(tokens)
        self.hold("cache_rows", rows)
        self["n_cache_rows"] = len(rows)
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
        # A page is faulted in at its first access, and again at its first write: write now, as lookups only read.
        array[: in_use : mmap.PAGESIZE] = 0
        self.hold(f"{table}.entries", array)
        self[f"{table}.shift"] = 64 - bits
        self[f"{table}.limit"] = (3 << bits) // 4
        self[f"{table}.least_shift"] = 64 - most_bits

    def _decoding(self) -> None:
        self.hold("token_bytes", self.tables.blob)
        self.hold("token_starts", self.tables.starts)
        self["n_ids"] = len(self.tables.starts) - 1
        self.hold("replace", _REPLACE)
        # None is never deallocated, so its address (`id` in CPython) stays valid.
        self["nothing"] = id(None)

    def _whole(self) -> None:
        whole, starts = self.tables.whole.tolist(), self.tables.starts
        if not whole:
            return
        bits = max(_LEAST_WHOLE_BITS, (2 * len(whole)).bit_length())
        table = aligned_zeros(32 << bits)
        self.hold("whole", table)
        self["whole_shift"] = 64 - bits
        if is_checked():
            number = declare(table)
            weakref.finalize(self, forget, number)
        blob = address(self.tables.blob)
        for token in whole:
            start, end = int(starts[token]), int(starts[token + 1])
            end = -1 - end if end < 0 else end
            native.put_whole(address(table), 64 - bits, blob + start, end - start, token)

    def search_for(self, specials: SpecialTokenTable) -> None:
        """Give the kernels the special tokens to search for."""
        table, n_rows = specials
        if is_checked():
            weakref.finalize(self, forget, declare(table))
        self.hold("specials", table)
        self["n_specials"] = n_rows

    def make_arrays(self, api: NumpyApi) -> None:
        """Let the boundary make NumPy arrays."""
        self["new_array"] = api.empty
        self["array_data"] = api.get_pointer
        self["array_kind"] = api.dtype
        self["resize"] = api.resize
        self["shape"] = self.address_of("size")
        self["n_dimensions"] = 1

    def read_strings(self, strings: StrLayout) -> None:
        """Let the boundary read the characters of strings in place."""
        self["str_type"] = id(str)
        self["str_state"] = strings.state
        self["str_shift"] = strings.shift
        self["str_utf8"] = strings.utf8
        self["str_data"] = strings.data
        text = growing_zeros(_TEXT_BYTES + layout.PAD_BYTES, _IN_SMALL_PAGES)
        if is_checked():
            weakref.finalize(self, forget, declare(text))
        self.hold("text", text)
        self["text_limit"] = _TEXT_BYTES

    def encode_in_parts(self, cuts: np.ndarray) -> None:
        """Let the boundary encode long texts part by part; `cuts` is int64 by class, see `layout.CUTS`."""
        self.hold("cuts", cuts)
        if is_checked():
            weakref.finalize(self, forget, declare(cuts))

    def share_integers(self, integers: np.ndarray, list_items: int) -> None:
        """Give the boundary the table of int objects, see `builtins`, and the offset of a list's items."""
        self.hold("integers", integers)
        self["list_items"] = list_items
        if is_checked():
            weakref.finalize(self, forget, declare(integers))

    def touch_buffers(self) -> None:
        """Touch the memory that a first text needs now, so that no call waits for its pages."""
        for slot in _BUFFERS:
            if self[slot] != 0:
                self.held(slot)[: _IN_SMALL_PAGES : mmap.PAGESIZE] = 0

    def forget_pieces(self) -> None:
        """Empty the caches of pieces except for the vocabulary's own, as in a new context."""
        native.reset_cache(self.address)
        n_entries = 1 << (64 - self["long.shift"])
        self.held("long.entries")[: 32 * n_entries].fill(0)
        self["long.count"] = 0
        self["long_used"] = 0
        self.held("seen").fill(0)
        self["n_seen"] = 0

    def tokens_merging_does_not_make(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the ids (int32) of the tokens whose bytes merge into something else."""
        n_tokens = len(starts) - 1
        found = np.empty(n_tokens, np.int32)
        with native.reachable(data, starts, found):
            n_found = native.find_whole(self.address, address(data), address(starts), n_tokens, address(found))
        return found[:n_found].copy()

    def characters(self, lowest_as_right: np.ndarray, lowest_as_left: np.ndarray) -> np.ndarray:
        """Build the table CHARACTERS, int64 of shape (65536,)."""
        table = np.empty(1 << 16, np.int64)
        with native.reachable(lowest_as_right, lowest_as_left, table):
            native.build_characters(self.address, address(lowest_as_right), address(lowest_as_left), address(table))
        return table

    def lone_characters(self) -> np.ndarray | None:
        """Return the ids of each character alone, and zeros, int64 of shape (65536, 2); None where they do not fit."""
        table, scratch = np.zeros((1 << 16, 2), np.int64), np.zeros(16, np.int32)
        with native.reachable(table, scratch):
            fit = native.build_character_ids(self.address, address(table), address(scratch))
        return table if fit else None

    def vocabulary_rows(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the cache entries of the vocabulary, int64 of shape (n, 4)."""
        n_tokens = len(starts) - 1
        rows = np.empty((n_tokens + 1, 4), np.int64)
        with native.reachable(data, starts, rows):
            n_rows = native.fill_rows(self.address, address(data), address(starts), n_tokens, address(rows))
        return rows[:n_rows].copy()
