"""Trains in kernels: counts distinct pieces, then learns merges over a row of cells.

Writes words to cells as the tokens of the model from which training continues, encoded by an encoder.

Every token takes one cell, as every symbol does after `cells.compact_cells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from impls.compiled.pages import aligned_zeros, return_freed
from impls.compiled.training.count import count_files, count_texts
from impls.compiled.training.layout import CELL_BYTES, MOST_WEIGHT, SEPARATOR
from impls.compiled.training.learning import MOST_CELLS, Learner, too_many_cells
from impls.compiled.training.words import Pieces
from impls.core.counts import PieceCounts
from impls.core.extension import Extension
from impls.core.model import Model
from impls.core.specification import TrainingSpec
from impls.core.text.files import TextFiles
from impls.core.text.patterns import resolve
from impls.core.training import base_symbols, check_counts, first_base_id, merge_budget, trained_model
from impls.interface import Tokenizer

_BATCH = 1 << 16
"""Number of pieces that exist as strings at the same time."""


def cells_of_known(words: Pieces, model: Model, encoder: type[Tokenizer]) -> tuple[list[int], np.ndarray]:
    """Return the ids of the model's tokens, in order, and the cells of the words, which `encoder` encodes.

    The cells are int32 of shape (n_cells, 2): the symbol, which is an index of those ids, and the word's count. An
    unknown character becomes a separator.
    """
    ids = [i for i, token in enumerate(model.tokens) if token is not None]
    symbol_of = np.full(model.vocab_size, SEPARATOR, np.int32)
    symbol_of[ids] = np.arange(len(ids), dtype=np.int32)
    if model.unknown_id is not None:
        symbol_of[model.unknown_id] = SEPARATOR
    # Each piece is a text of its own.
    tokenizer = encoder(model.with_(pattern=(), special_tokens={}, added_tokens={}))
    symbols, offsets = _encoded(words.pieces(), tokenizer, symbol_of)
    lengths = np.diff(offsets)
    # A word more frequent than the maximum weight is written several times, a word of one symbol not at all.
    times = np.where(lengths < 2, 0, -(-words.counts // MOST_WEIGHT))
    which = np.repeat(np.arange(len(times)), times)
    before = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    weights = np.minimum(words.counts[which] - before * MOST_WEIGHT, MOST_WEIGHT)
    sizes = lengths[which]
    ends = np.cumsum(sizes)
    n_symbols = int(sizes.sum())
    n_cells = 1 + n_symbols + len(which)
    if n_cells > MOST_CELLS:
        raise too_many_cells(n_cells, int(words.counts.max()))
    cells = aligned_zeros(CELL_BYTES * n_cells).view(np.int32).reshape(-1, 2)
    cells[:, 0] = SEPARATOR
    place = np.arange(n_symbols)
    chosen = symbols[place + np.repeat(offsets[which] - (ends - sizes), sizes)]
    place += 1 + np.repeat(np.arange(len(which)), sizes)
    cells[place, 0] = chosen
    cells[place, 1] = np.where(chosen == SEPARATOR, 0, np.repeat(weights, sizes))
    return ids, cells


def _encoded(pieces: Iterator[str], tokenizer: Tokenizer, symbol_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the symbols of all pieces in one array, int32, and their offsets, int64 of shape (n_pieces + 1,)."""
    parts, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    while batch := list(islice(pieces, _BATCH)):
        found, offsets = tokenizer.encode_ragged(batch)
        parts.append(symbol_of[found])
        sizes.append(np.diff(offsets))
    return np.concatenate(parts), np.cumsum(np.concatenate(sizes))


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
    ids, cells = cells_of_known(words, start.model, encoder)
    # Every merge removes a pair of neighbours.
    most = int(np.count_nonzero((cells[1:, 0] >= 0) & (cells[:-1, 0] >= 0)))
    learner = Learner([start.model.tokens[i] or b"" for i in ids], min(most, start.budget), start.spec)
    learner.fill_from(cells, int(words.counts.sum()))
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
    pattern, in_order = resolve(spec.pattern), spec.ties == "first"
    if isinstance(texts, TextFiles):
        return Pieces.of(count_files(texts, pattern, in_order=in_order))
    return Pieces.of(count_texts(texts, pattern, in_order=in_order))
