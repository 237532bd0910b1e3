"""Writes words to cells as the tokens of the model from which training continues, encoded by an encoder.

Every token takes one cell, as every symbol does after `cells.compact_cells`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from impls.compiled.pages import aligned_zeros
from impls.compiled.training.layout import CELL_BYTES, MOST_WEIGHT, SEPARATOR
from impls.compiled.training.learning import MOST_CELLS, too_many_cells
from impls.compiled.training.words import Pieces
from impls.core.model import Model
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
