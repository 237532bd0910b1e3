"""Builds and lends contexts: the working memory of one thread, over the tables of a model, which all contexts share."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.native import native
from impls.compiled.cpython.interpreter import MOST_INTS, Builtins, interpreter_layout, shared_integers
from impls.compiled.pages import aligned_zeros
from impls.compiled.pretokenize.specials import SpecialTokenTable
from impls.compiled.pretokenize.splitting import SplitContext, Splitting

_LEAST_CACHE_BITS, _USUAL_CACHE_BITS, _MOST_CACHE_BITS = 14, 19, 20
"""log2 of the number of slots of the cache of pieces: at least and usually at most so many at first, two to four times
the vocabulary's entries; then maximum."""
_IN_SMALL_PAGES, _MOST_IN_SMALL_PAGES = 1 << 18, 1 << 20
"""Number of bytes in small pages: of a buffer that is filled from its start on; maximum of a new table or the arena."""
_ARENA_IDS = 1 << 22
_TEXT_BYTES = 1 << 24
_OUT_IDS = 1 << 22
"""The ids of texts of up to this many bytes fit in the buffer; memory that no text has needed yet is only reserved."""

_KEY_MASKS = np.frombuffer(
    b"".join([(b"\xff" * n).ljust(16, b"\0") for n in range(16)] + [bytes(16)])
    + b"".join([bytes([n]).rjust(16, b"\0") for n in range(16)] + [bytes(16)]),
    np.int64,
)
_REPLACE = np.frombuffer(b"replace\0", np.uint8)


ModelTables = Mapping[str, np.ndarray]
"""The merging tables of a model, the initial entries of its cache, and the tables for decoding, by the field of
`layout.ContextRecord` that points at each; some models lack some. "numbers" holds the values of NUMBERS (int64), and
"whole_tokens" the ids of the tokens that whole pieces become although merging does not make them (int32)."""
NUMBERS = ("n_symbols", "monotone", "unknown_symbol", "fuses_unknown")
"""The fields whose values `numbers` holds."""


def token_table(data: np.ndarray, starts: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the hash table (int32) of tokens by their bytes that `merge/piece` reads, and the shift of its hashes.

    The bytes of token i begin at `data[starts[i]]`; `tokens` are the ids to index.
    """
    bits = max(2, (2 * len(tokens)).bit_length())
    table = np.full(1 << bits, -1, np.int32)
    native.index_tokens(data, starts, tokens.astype(np.int32), len(tokens), table, 64 - bits)
    return table, 64 - bits


class Context(SplitContext):
    """Caches and buffers of one thread. Not safe for two threads at once: see `Pool`."""

    def __init__(self, tables: ModelTables, splitting: Splitting | None) -> None:
        super().__init__(splitting)
        self.tables = tables
        self.builtins: Builtins | None = None
        """The built-in functions of this context; None if the interpreter does not support them."""
        for field, array in tables.items():
            if len(array) and field not in ("numbers", "whole_tokens"):
                self.hold(field, array)
        for field, number in zip(NUMBERS, tables["numbers"].tolist(), strict=True):
            self[field] = number
        for kind in ("tokens", "rows"):
            self[f"n_cache_{kind}"] = len(tables.get(f"cache_{kind}", ()))
        self["n_ids"] = len(tables["token_starts"]) - 1
        if self["joins"]:
            # One more character than there can be says where the last of them ends.
            self.hold("segments", np.zeros(layout.MOST_CHARACTERS + 1, layout.Character.dtype))
        self.hold("heads", np.full(self["n_symbols"], -1, np.int32))
        self.hold("latest", np.zeros(self["n_symbols"], np.int32))
        self.hold("head_bits", np.zeros((self["n_symbols"] + 63) // 64, np.int64))
        self.hold("small_scratch", aligned_zeros(2048))
        for field, offset in (("symbols", 64), ("ranks", 512), ("symbol_handles", 1088), ("pair_symbols", 1344)):
            self[field] = self["small_scratch"] + offset
        self._cache()
        self.hold("out", aligned_zeros(4 * _OUT_IDS + layout.PAD_BYTES, _IN_SMALL_PAGES))
        self["out_limit"] = _OUT_IDS
        if (tokens := tables.get("whole_tokens")) is not None:
            table, self["whole_shift"] = token_table(self.held("token_bytes"), self.held("token_starts"), tokens)
            self.hold("whole", table)
        native.load_vocabulary(self.address)

    def _cache(self) -> None:
        n_entries = self["n_cache_tokens"] + self["n_cache_rows"]
        bits = min(_USUAL_CACHE_BITS, max(_LEAST_CACHE_BITS, (4 * n_entries).bit_length()))
        bits = max(bits, (2 * n_entries).bit_length())
        most_bits, in_use = max(bits, _MOST_CACHE_BITS), 32 << bits
        array = aligned_zeros(32 << most_bits, in_use if in_use <= _MOST_IN_SMALL_PAGES else 0)
        # The first access to a page causes a page fault, and so does the first write: write now, as lookups only read.
        array[: in_use : mmap.PAGESIZE] = 0
        self.hold("entries", array)
        self["entries_shift"], self["least_shift"], self["most_entries"] = 64 - bits, 64 - most_bits, (3 << bits) // 4
        self.hold("arena", aligned_zeros(4 * _ARENA_IDS, _MOST_IN_SMALL_PAGES))
        self["arena_limit"] = _ARENA_IDS
        self.hold("key_masks", _KEY_MASKS)

    def reach_python(self, specials: SpecialTokenTable, cuts: np.ndarray | None) -> None:
        """Let kernels read and create Python objects, and make their built-in functions, if the interpreter allows it.

        `specials` is the table of special tokens that kernels search for; `cuts` says where texts may be cut, see
        `splitting.cuts_of`.
        """
        python_layout, n_ids = interpreter_layout(), max(self["n_symbols"], int(self.tables["ids"].max(initial=0)) + 1)
        if python_layout is None or n_ids > MOST_INTS:
            return
        self.builtins = Builtins(self.address)
        # None and types live as long as the interpreter, so their addresses (which `id` returns) stay valid.
        self["none_object"], self["int_type"], self["str_type"] = id(None), id(int), id(str)
        self.hold("replace", _REPLACE)
        for field, number in python_layout.items():
            self[field] = number
        self["integers"], self["shape"], self["n_dimensions"] = shared_integers(n_ids), self.address_of("size"), 1
        self.hold("text", aligned_zeros(_TEXT_BYTES + layout.PAD_BYTES, _IN_SMALL_PAGES))
        self["text_limit"] = _TEXT_BYTES
        arrays, self["n_specials"] = specials
        for field, array in arrays.items():
            self.hold(field, array)
        if cuts is not None:
            self.hold("cuts", cuts)

    def tokens_merging_does_not_make(self, data: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the ids (int32) of the tokens whose bytes do not merge into the token."""
        n_tokens = len(starts) - 1
        tokens = np.empty(n_tokens, np.int32)
        n_not_made = native.find_whole(self.address, data, starts, n_tokens, tokens)
        return tokens[:n_not_made].copy()

    def lone_characters(self) -> np.ndarray | None:
        """Return the ids of each character alone, and zeros: int64 of shape (65536, 2); None if the ids do not fit."""
        table, scratch = np.zeros((1 << 16, 2), np.int64), np.zeros(16, np.int32)
        return table if native.build_character_ids(self.address, table, scratch) else None

    def vocabulary_entries(self, data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cache entries of the vocabulary: the ids (int32) of tokens that become one token, which has their
        bytes, and the entries of all others, int64 of shape (n, 4)."""
        n_tokens = len(starts) - 1
        rows, tokens = np.empty((n_tokens + 1, 4), np.int64), np.full(n_tokens + 1, -1, np.int32)
        n_rows = native.fill_rows(self.address, data, starts, n_tokens, rows, tokens)
        return tokens[: int(np.argmin(tokens))].copy(), rows[:n_rows].copy()


class Pool:
    """The contexts of one model and pattern, lent to calls: as many as were ever in use at once.

    Borrowing takes no lock, so a finalizer or a signal handler that borrows at any moment cannot deadlock. A context
    that an interrupt keeps from being returned is garbage, and another is built. In a forked child only the thread that
    forked continues: contexts that others had borrowed, perhaps halfway through a write, are never returned there.
    """

    def __init__(self, make: Callable[[], Context]) -> None:
        """Lend what `make` returns."""
        self.make = make
        self.free: list[Context] = []
        """The contexts that nobody has borrowed."""
        self._builders: list[Thread] = []

    def borrow_free(self) -> Context | None:
        """Take a context out of the free ones; return None if there is none."""
        with suppress(IndexError):
            return self.free.pop()
        return None

    def build_beside(self, n_missing: int) -> None:
        """Build `n_missing` contexts, less those that are being built, on threads that nobody waits for."""
        self._builders = [each for each in self._builders if each.is_alive()]
        for _ in range(n_missing - len(self._builders)):
            self._builders.append(Thread(target=self._build, daemon=True))
            with suppress(RuntimeError):  # the system has no more threads
                self._builders[-1].start()

    def _build(self) -> None:
        with suppress(MemoryError):
            self.free.append(self.make())

    @contextmanager
    def borrowed(self) -> Iterator[Context]:
        """Borrow a free context, or a new one if none is free, while the block runs."""
        context = self.borrow_free() or self.make()
        try:
            yield context
        finally:
            self.free.append(context)
