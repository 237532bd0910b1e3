"""Trains in kernels: counts distinct pieces, then learns merges over a row of cells."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from impls.compiled.pages import return_freed
from impls.compiled.training.count import count_files, count_texts
from impls.compiled.training.known import cells_of_known
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
    # Only a minimum count of 0 needs the words again; otherwise their memory becomes free for learning.
    pieces = words.pieces() if spec.min_count == 0 else ()
    del words
    return_freed()
    merges, counts = learner.learn()
    del learner
    first = first_base_id(spec)
    pairs = [(left + first, right + first) for left, right in merges]
    return trained_model(spec, base, pairs, counts, pieces)


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
    return start.result(pairs, counts, words.pieces() if spec.min_count == 0 else ())


def _counted(texts: Iterable[str] | PieceCounts, spec: TrainingSpec) -> Pieces:
    if isinstance(texts, PieceCounts):
        check_counts(texts, spec)
        return Pieces.of(texts)
    # The rule `first` needs the pieces in the order of their first occurrence.
    pattern, in_order = resolve(spec.pattern), spec.ties == "first"
    if isinstance(texts, TextFiles):
        return Pieces.of(count_files(texts, pattern, in_order=in_order))
    return Pieces.of(count_texts(texts, pattern, in_order=in_order))
