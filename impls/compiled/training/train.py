"""Trains in kernels: counts distinct pieces, then learns merges over a row of cells.

`Learner` holds the tables of `training/learn`, enlarges them as needed, and lowers the threshold. Only pairs that reach
the threshold are stored. When none does, the cells are compacted, and all pairs are listed again with a lower
threshold. Most pairs are rare, so this saves most of the memory and of the cache misses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from impls.compiled.codegen.native import Slots, native
from impls.compiled.pages import address, bounded_zeros, return_freed
from impls.compiled.training import layout
from impls.compiled.training.count import counts_of
from impls.compiled.training.layout import SEPARATOR, SYMBOL_BYTES
from impls.compiled.training.words import Pieces
from impls.core.counts import PieceCounts
from impls.core.errors import Unsupported
from impls.core.extension import Extension
from impls.core.model import Model
from impls.core.specification import TrainingSpec
from impls.core.training import (
    base_symbols,
    check_counts,
    first_base_id,
    merge_budget,
    texts_no_merge_makes,
    trained_model,
)
from impls.interface import Tokenizer

_LEAST_BITS = 10
_FALL = 4
"""Factor between two successive thresholds."""
_SHARE = 8
"""The first threshold is the number of pieces (with repetitions) divided by this times the number of merges."""
_SPARE_PLACES = 1 << 10
"""Places that the pool has in addition to those computed from the lists it begins with."""
MOST_CELLS = (1 << 31) - 1
_N_CHARACTERS = 0x110000
_USUAL_TOKEN_BYTES = 8
_RULES = ("smallest", "first", "shortest", "largest")
"""The rules for ties, in the order of their values in the layout."""


class Learner(Slots):
    """Learns up to `budget` merges over existing symbols, given by their bytes in the order of their ids: the base
    symbols, or the tokens of the model from which training continues."""

    def __init__(self, base: Sequence[bytes], budget: int, spec: TrainingSpec, memory_limit: int | None = None) -> None:
        super().__init__(layout.LearningRecord)
        self._memory_limit = memory_limit
        self._base, self._budget, self._spec = base, budget, spec
        most = len(base) + budget + 1
        self["rule"] = _RULES.index(spec.ties)
        self["n_base"] = len(base)
        starts = np.zeros(most + 1, np.int64)
        starts[1 : len(base) + 1] = np.cumsum([len(symbol) for symbol in base])
        self.hold("token_starts", starts)
        text = np.zeros(int(starts[len(base)]) + _USUAL_TOKEN_BYTES * budget, np.uint8)
        text[: starts[len(base)]] = np.frombuffer(b"".join(base), np.uint8)
        self.hold("token_text", text)
        self["token_text_room"] = len(text)
        measures = np.ones(most, np.int32)
        measures[: len(base)] = [len(symbol.decode() if spec.alphabet == "chars" else symbol) for symbol in base]
        self.hold("measures", measures)
        self.hold("spans", np.ones(most, np.int32))
        self.hold("neighbours", np.zeros((2 * most, 2), np.int64))
        self.hold("touched", np.zeros(2 * most, np.int32))
        self.hold("merges", np.zeros((budget + 1, 3), np.int64))
        self["most_merges"] = budget
        self["most_token_bytes"] = MOST_CELLS if spec.max_token_bytes is None else spec.max_token_bytes
        reserved = [np.frombuffer(text, np.uint8) for text in texts_no_merge_makes(spec)]
        for i, array in enumerate(reserved):
            self.keep(f"reserved text {i}", array)
        self.hold("reserved", np.array([(address(array), len(array)) for array in reserved], np.int64))
        self["n_reserved"] = len(reserved)

    def fill(self, words: Pieces, *, in_symbols: bool = False) -> None:
        """Write the cells of the words, which may be spelled in symbols; afterwards the words are no longer needed."""
        self._n_words = int(words.counts.sum())
        times = -(-words.counts // layout.MOST_WEIGHT)
        n_cells = 1 + int(((words.lengths // (SYMBOL_BYTES if in_symbols else 1) + 1) * times).sum())
        if n_cells > MOST_CELLS:
            raise _too_many_cells(n_cells, int(words.counts.max()))
        inner, last = (0, 0) if in_symbols else self._symbols()
        self.hold("cells", self._zeros(layout.Cell.dtype.itemsize * n_cells))
        self["n_cells"] = native.fill_cells(words.address, inner, last, self["cells"])

    def learn(self) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the merges, as pairs of symbols in the order they were learned, and the count of each."""
        least = self._spec.min_count
        threshold = max(least, self._n_words // (_SHARE * max(1, self._budget)))
        while self._budget:
            self["threshold"] = threshold
            self._list()
            status = self._merge()
            if status == layout.FINISHED or (status == layout.TOO_RARE and threshold == least):
                break
            if status == layout.TOO_RARE:
                threshold = max(least, threshold // _FALL)
            native.compact_cells(self.address)
            self.held("spans")[:] = 1
        merges = self.held("merges")[: self["n_merges"]]
        return list(map(tuple, merges[:, :2].tolist())), merges[:, 2].tolist()

    def _symbols(self) -> tuple[np.ndarray, np.ndarray | int]:
        """Return the symbol of each byte or character, and the symbol at the end of a word (0 for bytes): int32."""
        if self._spec.alphabet == "bytes":
            inner = np.zeros(256, np.int32)
            inner[[symbol[0] for symbol in self._base]] = np.arange(256, dtype=np.int32)
            return inner, 0
        inner = np.zeros(_N_CHARACTERS, np.int32)
        mark = self._spec.end_of_word
        last = inner if mark is None else np.zeros(_N_CHARACTERS, np.int32)
        for number, symbol in enumerate(self._base):
            text = symbol.decode()
            (last if len(text) > 1 else inner)[ord(text[0])] = number
        return inner, last

    def _list(self) -> None:
        """List all pairs that reach the threshold, with their positions, and build the heap of them."""
        self.release("pair_table", "heap", "pool", "events")
        self.hold("pair_table", self._zeros(32))
        self["pair_table_shift"] = 64
        self._spread(_LEAST_BITS, 0)
        self["cell"] = 1
        while native.count_pairs(self.address) == layout.NO_ROOM:
            self._spread(65 - self["pair_table_shift"], 0)
        table = self.held("pair_table").view(np.int64).reshape(-1, 4)
        places = table[table[:, 1] >= self["threshold"], 3]
        n_pairs, n_places, longest = len(places), int(places.sum()), int(places.max(initial=0))
        self._spread(max(_LEAST_BITS, (3 * n_pairs).bit_length()), self["threshold"])
        self["n_heap"] = self["pool_used"] = 0
        self._room_in_heap(2 * n_pairs + 1024)
        self._room_in_pool(n_places + max(n_places, 2 * longest) + _SPARE_PLACES)
        self.hold("events", self._zeros(16 * (longest + 1)))
        native.list_pairs(self.address)

    def _merge(self) -> int:
        """Learn merges until there are enough, no pair is frequent enough, or the pool is full; return the status."""
        before = self["n_merges"]
        while True:
            status = native.learn(self.address)
            if status == layout.NO_ROOM:
                self._enlarge()
            elif status == layout.FULL and self["n_merges"] == before:
                self._room_in_pool(2 * self["pool_room"])
            else:
                return status

    # --- room ----------------------------------------------------------------------------------------------

    def _enlarge(self) -> None:
        """Double the tables that are more than half full, or all if none is: the next merge may need room in any."""
        shares = {
            "text": int(self.held("token_starts")[self["n_base"] + self["n_merges"]]) / self["token_text_room"],
            "heap": self["n_heap"] / self["heap_room"],
            "pairs": self["n_pairs"] / self["most_pairs"],
        }
        short = [name for name, share in shares.items() if share > 0.5] or list(shares)
        if "text" in short:
            # The next token has at most twice as many bytes as all so far.
            text = self.held("token_text")
            self._room_in("token_text", len(text), np.empty(3 * len(text), np.uint8))
        if "heap" in short:
            self._room_in_heap(2 * self["heap_room"])
        if "pairs" in short:
            self._spread(65 - self["pair_table_shift"], self["threshold"])

    def _zeros(self, n_bytes: int) -> np.ndarray:
        return bounded_zeros(n_bytes, self._memory_limit)

    def _spread(self, bits: int, least: int) -> None:
        """Move the pairs with a count of `least` or more to a table of 2**bits entries."""
        table = self._zeros(32 << bits)
        native.spread_pairs(self.address, table, 64 - bits, least)
        self.hold("pair_table", table)

    def _room_in(self, slot: str, n_used: int, room: np.ndarray) -> None:
        """Make a slot point at `room`, after copying the `n_used` rows that it holds so far."""
        self.grow(slot, room, n_used)
        self[f"{slot}_room"] = len(room)

    def _room_in_heap(self, n_entries: int) -> None:
        self._room_in("heap", self["n_heap"], self._zeros(24 * n_entries).view(np.int64).reshape(-1, 3))

    def _room_in_pool(self, n_places: int) -> None:
        self._room_in("pool", self["pool_used"], self._zeros(4 * n_places).view(np.int32))


def _too_many_cells(n_cells: int, largest: int) -> Unsupported:
    """Return the error for words of so many cells, the most frequent of which occurs `largest` times."""
    problem = f"it can hold {MOST_CELLS:,} symbols of distinct pieces; the texts have {n_cells:,}"
    if largest > layout.MOST_WEIGHT:
        problem += f", a piece once for each {layout.MOST_WEIGHT:,} of its count; priority takes any counts"
    return Unsupported("compiled", problem)


_BATCH = 1 << 16
"""Number of pieces that exist as strings at the same time."""


def in_tokens(words: Pieces, model: Model, encoder: type[Tokenizer]) -> tuple[list[int], Pieces]:
    """Return the ids of the model's tokens, in order, and the words as `encoder` encodes them, spelled in symbols.

    A symbol is an index of those ids. An unknown character becomes a separator.
    """
    ids = [i for i, token in enumerate(model.tokens) if token is not None]
    symbol_of = np.full(model.vocab_size, SEPARATOR, np.int32)
    symbol_of[ids] = np.arange(len(ids), dtype=np.int32)
    if model.unknown_id is not None:
        symbol_of[model.unknown_id] = SEPARATOR
    # Each piece is a text of its own.
    tokenizer = encoder(model.with_(pattern=(), special_tokens={}, added_tokens={}))
    pieces, symbols, sizes = words.pieces(), [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    while batch := list(islice(pieces, _BATCH)):
        encoded, offsets = tokenizer.encode_ragged(batch)
        symbols.append(symbol_of[encoded])
        sizes.append(np.diff(offsets))
    ends = SYMBOL_BYTES * np.cumsum(np.concatenate(sizes))[1:]
    return ids, Pieces.of(PieceCounts((), np.concatenate(symbols).view(np.uint8), ends, words.counts))


def train(texts: Iterable[str] | PieceCounts, spec: TrainingSpec) -> Model:
    """Learn a model from texts, from files (read in kernels), or from counts, within their memory limit if any."""
    if spec.alphabet == "bytes":
        merge_budget(base_symbols((), spec), spec)  # raises before any text is read
    limit = texts.memory_limit if isinstance(texts, PieceCounts) else None
    words = _counted(texts, spec)
    base = base_symbols(words.pieces() if spec.alphabet == "chars" else (), spec)
    # Every merge shortens some word.
    most = int(words.lengths.sum(dtype=np.int64)) - len(words.lengths)
    learner = Learner(base, min(most, merge_budget(base, spec)), spec, limit)
    learner.fill(words)
    del words  # their memory becomes free for learning
    return_freed()
    merges, counts = learner.learn()
    del learner
    first = first_base_id(spec)
    pairs = [(left + first, right + first) for left, right in merges]
    return trained_model(spec, base, pairs, counts)


def extend(encoder: type[Tokenizer], model: Model, texts: Iterable[str] | PieceCounts, spec: TrainingSpec) -> Model:
    """Learn as `train` does, continuing from a model: words begin as the tokens to which `encoder` encodes them."""
    start = Extension("compiled", model, spec)
    words = _counted(texts, spec)
    start.check(words.pieces() if spec.alphabet == "chars" else ())
    ids, words = in_tokens(words, start.model, encoder)
    most = int(words.lengths.sum(dtype=np.int64)) // SYMBOL_BYTES - len(words.lengths)
    learner = Learner([start.model.tokens[i] or b"" for i in ids], min(most, start.budget), start.spec)
    learner.fill(words, in_symbols=True)
    merges, counts = learner.learn()
    del learner
    ids += range(start.first_new_id, start.first_new_id + len(merges))
    pairs = [(ids[left], ids[right]) for left, right in merges]
    return start.result(pairs, counts)


def _counted(texts: Iterable[str] | PieceCounts, spec: TrainingSpec) -> Pieces:
    if isinstance(texts, PieceCounts):
        check_counts(texts, spec)
        return Pieces.of(texts)
    # The rule `first` needs the pieces in the order of their first occurrence.
    return Pieces.of(counts_of(texts, spec, in_order=spec.ties == "first"))
