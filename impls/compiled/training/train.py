"""Training in kernels: distinct pieces counted by several threads, then merges learned over a row of cells."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from threading import Event, Lock

import numpy as np

from impls.compiled.files import last_safe_cut
from impls.compiled.layout import PAD_BYTES
from impls.compiled.pretokenize.pattern.tables import cuts_at_line_breaks
from impls.compiled.pretokenize.split_context import SplitContext
from impls.compiled.pretokenize.splitting import splitting_of, windows_wanted
from impls.compiled.training.known import cells_of_known
from impls.compiled.training.learning import Learner
from impls.compiled.training.words import Words
from impls.core.arguments import texts_in_turn
from impls.core.extension import Extension
from impls.core.model import Model
from impls.core.specification import TrainingSpec
from impls.core.text.patterns import resolve
from impls.core.text.text import repair_surrogates
from impls.core.training import base_symbols, first_base_id, merge_budget, trained_model
from impls.interface import Tokenizer

_BATCH_BYTES = 1 << 20
_MOST_THREADS = 8


def train(texts: Iterable[str], spec: TrainingSpec) -> Model:
    """Learn a model; counting takes as many threads as the process may use cores."""
    words = _counted(texts, spec)
    base = base_symbols(words.pieces() if spec.alphabet == "chars" else (), spec)
    # Every merge shortens some word.
    most = int(words.lengths.sum(dtype=np.int64)) - len(words.lengths)
    merges, counts = Learner(base, min(most, merge_budget(base, spec)), spec).learn(words)
    first = first_base_id(spec)
    pairs = [(left + first, right + first) for left, right in merges]
    return trained_model(spec, base, pairs, counts, words.pieces() if spec.min_count == 0 else ())


def extend(encoder: type[Tokenizer], model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
    """As `train`, going on from a model: words begin as the tokens that `encoder` encodes them to."""
    start = Extension("compiled", model, spec)
    words = _counted(texts, spec)
    start.check(words.pieces() if spec.alphabet == "chars" else ())
    ids, cells = cells_of_known(words, start.model, encoder)
    # Every merge takes away a pair of neighbours.
    most = int(np.count_nonzero((cells[1:, 0] >= 0) & (cells[:-1, 0] >= 0)))
    learner = Learner([start.model.tokens[i] or b"" for i in ids], min(most, start.budget), start.spec)
    merges, counts = learner.learn_from(cells, words)
    ids += range(start.first_new_id, start.first_new_id + len(merges))
    pairs = [(ids[left], ids[right]) for left, right in merges]
    return start.result(pairs, counts, words.pieces() if spec.min_count == 0 else ())


def _counted(texts: Iterable[str], spec: TrainingSpec) -> Words:
    """Count the distinct pieces of all texts."""
    stages = resolve(spec.pattern)
    splitting, _ = splitting_of(stages, with_windows=windows_wanted())
    cut = last_safe_cut if splitting is not None and cuts_at_line_breaks(splitting.automata) else None
    batches, taking, stopped = _batches(texts, cut), Lock(), Event()
    first_batches = list(islice(batches, _MOST_THREADS))
    batches = chain(first_batches, batches)

    def next_batch() -> list[bytes] | None:
        with taking:
            return None if stopped.is_set() else next(batches, None)

    def count() -> Words:
        words = Words(SplitContext(splitting), stages, splits=splitting is not None)
        try:
            while (batch := next_batch()) is not None:
                words.add(batch)
        except BaseException:
            stopped.set()
            raise
        words.collect()
        return words

    # The rule `first` needs the pieces in the order of their first occurrence.
    n_threads = 1 if spec.ties == "first" else min(len(first_batches), _n_cores())
    if n_threads <= 1:
        return count()
    with ThreadPoolExecutor(n_threads) as executor:
        futures = [executor.submit(count) for _ in range(n_threads)]
        try:
            first, *others = [future.result() for future in futures]
        finally:
            stopped.set()
    for other in others:
        first.add_counts(other)
    return first


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(texts: Iterable[str], cut: Callable[[bytes], int] | None) -> Iterator[list[bytes]]:
    """Yield the UTF-8 of the texts, about a megabyte at a time; `cut` finds where a longer text may be cut, or 0."""
    batch: list[bytes] = []
    n_bytes = 0
    for text in texts_in_turn(texts):
        for data in _parts(repair_surrogates(text).encode(), cut):
            batch.append(data)
            n_bytes += len(data) + PAD_BYTES
            if n_bytes >= _BATCH_BYTES:
                yield batch
                batch, n_bytes = [], 0
    if batch:
        yield batch


def _parts(data: bytes, cut: Callable[[bytes], int] | None) -> Iterator[bytes]:
    begin, size = 0, _BATCH_BYTES
    while cut is not None and begin + 2 * size < len(data):
        end = cut(data[begin : begin + size])
        if end == 0:
            size *= 2
            continue
        yield data[begin : begin + end]
        begin, size = begin + end, _BATCH_BYTES
    yield data[begin:]
