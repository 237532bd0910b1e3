"""Trains in kernels: counts distinct pieces, then learns merges over a row of cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from impls.compiled.pages import return_freed
from impls.compiled.training.count import count_files, count_texts
from impls.compiled.training.layout import SEPARATOR, SYMBOL_BYTES
from impls.compiled.training.learning import Learner
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
    symbols, offsets = _encoded(words.pieces(), tokenizer, symbol_of)
    spelled = PieceCounts((), symbols.view(np.uint8), SYMBOL_BYTES * offsets[1:], words.counts)
    return ids, Pieces.of(spelled)


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
    pattern, in_order = resolve(spec.pattern), spec.ties == "first"
    if isinstance(texts, TextFiles):
        return Pieces.of(count_files(texts, pattern, in_order=in_order))
    return Pieces.of(count_texts(texts, pattern, in_order=in_order))
