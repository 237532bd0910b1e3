"""Counting the pieces of texts or files on several threads, each with tables of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import TypeVar

import numpy as np

from impls.compiled.codegen.native import address, native
from impls.compiled.files import last_safe_cut
from impls.compiled.layout import PAD_BYTES
from impls.compiled.pretokenize.pattern.tables import cuts_at_line_breaks
from impls.compiled.pretokenize.split_context import SplitContext
from impls.compiled.pretokenize.splitting import splitting_of, windows_wanted
from impls.compiled.slots import Slots
from impls.compiled.training.layout import BlockRecord
from impls.compiled.training.words import Words
from impls.core.arguments import texts_in_turn
from impls.core.counts import PieceCounts
from impls.core.counts_runs import Runs
from impls.core.text.files import BLOCK_BYTES, Part, TextFile, TextFiles, check_unchanged
from impls.core.text.text import repair_surrogates

T = TypeVar("T")

_BATCH_BYTES = 1 << 20
_MOST_THREADS = 8
_PART_BLOCKS = 16
_PART_SHARE = 16
"""A part of a file takes at most one in so many bytes of the memory of a thread."""
_MOST_TEXTS = 1 << 13
"""Documents that are laid out at once."""
_SECONDS_BETWEEN_RUNS = 60
"""What has been counted is written at least so often, where counting can be resumed."""

Progress = Callable[[int], None]
"""Receives the bytes that were counted since the last call, from any thread."""


def count_texts(texts: Iterable[str], pattern: tuple[str, ...], *, in_order: bool = False) -> PieceCounts:
    """Count on as many threads as the process may use cores; the pieces are in no order.

    With `in_order` they are in that of their first occurrence.
    """
    splitting, _ = splitting_of(pattern, with_windows=windows_wanted())
    cut = last_safe_cut if splitting is not None and cuts_at_line_breaks(splitting.automata) else None
    batches = _batches(texts, cut)
    first_batches = list(islice(batches, _MOST_THREADS))

    def count(batches: Iterator[list[bytes]]) -> Words:
        words = new_words(pattern)
        for batch in batches:
            words.add(batch)
        return words

    return _on_threads(count, chain(first_batches, batches), 1 if in_order else min(len(first_batches), n_cores()))


def count_files(
    files: TextFiles,
    pattern: tuple[str, ...],
    *,
    in_order: bool = False,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    runs: Runs | None = None,
) -> PieceCounts:
    """Count as `count_texts`, parts of files side by side.

    With `memory_limit`, in bytes, the tables are written to disk, to `runs` if given, before they would take more; what
    `runs` covers already is not read again.
    """
    n_threads = 1 if in_order else n_cores()
    parts = _planned(files, n_threads, memory_limit, resumable=runs is not None)
    with ExitStack() as stack:
        if memory_limit is not None and runs is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="bpebench-counts-"))
            runs = Runs(Path(folder), pattern)
        spill = None if runs is None else _Spill(runs, memory_limit and memory_limit // n_threads, parts)
        work = parts if spill is None else [part for part in parts if not spill.covers(part)]

        def count(parts: Iterator[Part]) -> Words:
            return count_parts(parts, pattern, progress, spill)

        counts = _on_threads(count, iter(work), min(n_threads, len(work)))
        check_unchanged(parts)
        if runs is None or not len(runs):
            return counts
        runs.write(counts, [])
        del counts
        return runs.added()


def _planned(files: TextFiles, n_threads: int, memory_limit: int | None, *, resumable: bool) -> list[Part]:
    """Return parts of files: small enough for the memory, and to share them evenly; always the same if `resumable`."""
    n_blocks = _PART_BLOCKS
    if not resumable:
        sizes = (file.path.stat().st_size for file in files.files if file.path is not None and file.path.exists())
        n_blocks = min(n_blocks, sum(sizes) // BLOCK_BYTES // (4 * n_threads))
        if memory_limit is not None:
            n_blocks = min(n_blocks, memory_limit // (_PART_SHARE * n_threads * BLOCK_BYTES))
    return [part for file in files.files for part in file.parts(max(1, n_blocks))]


class _Spill:
    """Writes tables that take too much memory to runs, with the parts of files they count."""

    def __init__(self, runs: Runs, most_bytes: int | None, parts: Sequence[Part]) -> None:
        self._runs, self._most_bytes = runs, most_bytes
        self._number = {part: number for number, part in enumerate(parts)}
        self._covered = {number for covered in runs.covered() for number in covered}

    def covers(self, part: Part) -> bool:
        """Return whether a run covers it."""
        return self._number[part] in self._covered

    def is_due(self, words: Words, since: float) -> bool:
        """Return whether the tables should be written: they would soon take too much, or much has been done."""
        # While they grow, the former ones exist beside those of twice the size.
        is_large = self._most_bytes is not None and 3 * words.n_bytes > self._most_bytes
        return is_large or time.monotonic() - since > _SECONDS_BETWEEN_RUNS

    def write(self, words: Words, parts: list[Part]) -> None:
        """Write a run."""
        self._runs.write(words.counted(), [self._number[part] for part in parts])


def count_parts(
    parts: Iterable[Part], pattern: tuple[str, ...], progress: Progress | None = None, spill: _Spill | None = None
) -> Words:
    """Count the pieces of parts of files, one after the other."""
    words, layout = new_words(pattern), _Layout()
    counted: list[Part] = []
    since = time.monotonic()
    for part in parts:
        for n_bytes in _count_part(part, words, layout):
            if progress is not None:
                progress(n_bytes)
        counted.append(part)
        if spill is not None and spill.is_due(words, since):
            spill.write(words, counted)
            words, counted, since = new_words(pattern), [], time.monotonic()
    return words


def _count_part(part: Part, words: Words, layout: _Layout) -> Iterator[int]:
    """Count a part, yielding the bytes of each step."""
    if part.file.kind == "text":
        for offset, content in part.blocks():
            layout.count(words, part.file, offset, content)
            yield len(content)
    else:
        for batch in _batches(part.file.texts(), None):
            words.add(batch)
            yield sum(map(len, batch))


def new_words(pattern: tuple[str, ...]) -> Words:
    """Return empty tables for pieces of a pattern."""
    splitting, _ = splitting_of(pattern, with_windows=windows_wanted())
    return Words(SplitContext(splitting), pattern, splits=splitting is not None)


def n_cores() -> int:
    """Return the number of cores the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Layout(Slots):
    """The documents of a block, as kernels that count need them."""

    def __init__(self) -> None:
        super().__init__(BlockRecord)
        self._sizes = np.zeros(_MOST_TEXTS, np.int64)
        self.hold("sizes", self._sizes)
        self["most_texts"] = _MOST_TEXTS
        self._out = np.zeros(0, np.uint8)

    def count(self, words: Words, file: TextFile, offset: int, content: memoryview) -> None:
        """Count the pieces of a block; raise `InvalidFile` for bytes that are not UTF-8."""
        block = np.frombuffer(content, np.uint8)
        with native.reachable(block):
            n_valid = native.valid_bytes(address(block), len(block))
        if n_valid < len(block):
            # It raises, unless such bytes are replaced.
            block = np.frombuffer(file.decoded(offset, content).encode(), np.uint8)
        if len(self._out) < len(block) + PAD_BYTES * _MOST_TEXTS:
            self._out = np.zeros(2 * len(block) + PAD_BYTES * _MOST_TEXTS, np.uint8)
            self.hold("out", self._out)
        self["text"], self["n_bytes"] = address(block), len(block)
        self["by_lines"] = file.documents == "lines"
        self["position"] = 0
        while self["position"] < len(block):
            with native.reachable(block, *self.arrays):
                size = native.lay_documents(self.address)
            words.add_laid_out(self._out[:size], self._sizes[: self["n_texts"]])


def _on_threads(count: Callable[[Iterator[T]], Words], work: Iterator[T], n_threads: int) -> PieceCounts:
    """Return what `count` counts of all work, taken in turns by so many threads; a fault in one stops the others."""
    if n_threads <= 1:
        return count(work).counted()
    taking, stopped = Lock(), Event()

    def taken() -> Iterator[T]:
        while True:
            with taking:
                found = [] if stopped.is_set() else list(islice(work, 1))
            if not found:
                return
            yield found[0]

    def run() -> Words:
        try:
            return count(taken())
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(n_threads) as executor:
        futures = [executor.submit(run) for _ in range(n_threads)]
        try:
            first, *others = [future.result() for future in futures]
        finally:
            stopped.set()
    for other in others:
        other.collect()
        first.add_counts(other)
    return first.counted()


def _batches(texts: Iterable[str], cut: Callable[[bytes], int] | None) -> Iterator[list[bytes]]:
    """Yield the UTF-8 of the texts, about a megabyte at a time; `cut` finds where a longer text may be cut, or 0."""
    batch: list[bytes] = []
    n_bytes = 0
    for text in texts_in_turn(texts):
        for data in _pieces_of(repair_surrogates(text).encode(), cut):
            batch.append(data)
            n_bytes += len(data) + PAD_BYTES
            if n_bytes >= _BATCH_BYTES:
                yield batch
                batch, n_bytes = [], 0
    if batch:
        yield batch


def _pieces_of(data: bytes, cut: Callable[[bytes], int] | None) -> Iterator[bytes]:
    begin, size = 0, _BATCH_BYTES
    while cut is not None and begin + 2 * size < len(data):
        end = cut(data[begin : begin + size])
        if end == 0:
            size *= 2
            continue
        yield data[begin : begin + end]
        begin, size = begin + end, _BATCH_BYTES
    yield data[begin:]
