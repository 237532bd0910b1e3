"""Counts the pieces of texts or files: on several threads, each with its own tables, or on an executor's workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from functools import partial
from itertools import accumulate, chain, groupby, islice
from threading import Event, Lock
from typing import Any, TypeVar

from impls.compiled.pages import return_freed
from impls.compiled.training.parts import Progress, Spill, batches, count_group, count_part
from impls.compiled.training.words import Pieces, Words
from impls.core.counts import PieceCounts
from impls.core.errors import BPEError, Unsupported
from impls.core.specification import TrainingSpec
from impls.core.text.blocks import BLOCK_BYTES
from impls.core.text.files import Part, TextFiles, check_unchanged
from impls.core.text.patterns import resolve
from impls.operations.certain_cuts import pair_cuts_of

T = TypeVar("T")

Executors = Callable[[], AbstractContextManager[Executor]]
"""Start workers; called again after workers died."""

_MOST_THREADS = 8
_PART_BLOCKS = 16
_PART_SHARE = 16
"""A part of a file takes at most 1 / _PART_SHARE of a thread's memory."""
_GROUP_BYTES = 1 << 28
"""Amount of text that a worker counts per call."""
_MOST_DEATHS = 3
"""Number of times that workers die in a row, with nothing counted, after which counting fails."""


def count_pieces(texts: Iterable[str], spec: TrainingSpec, **how: Any) -> PieceCounts:
    """Count the pieces that a specification learns from; see `counts_of` for `how`."""
    if spec.ties == "first":
        raise Unsupported("compiled", "ties='first' needs the order of the text, which counts do not have")
    return counts_of(texts, spec, **how)


def counts_of(texts: Iterable[str], spec: TrainingSpec, **how: Any) -> PieceCounts:
    """Count the pieces of texts, by `count_files` or `count_texts`; see there for `how`."""
    count: Callable[..., PieceCounts] = count_files if isinstance(texts, TextFiles) else count_texts
    return count(texts, resolve(spec.pattern), **how)


def count_texts(
    texts: Iterable[str],
    pattern: tuple[str, ...],
    *,
    in_order: bool = False,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    threads: int | None = None,
) -> PieceCounts:
    """Count on `threads` threads, by default one for each core the process may use; the pieces are in arbitrary order.

    With `in_order` they are in the order of their first occurrence. `memory_limit` is that of `count_files`.
    """
    batched = batches(texts, pair_cuts_of(pattern))
    first = list(islice(batched, _MOST_THREADS))
    n_threads = 1 if in_order else min(len(first), threads or n_cores())
    with Spill(pattern, memory_limit, n_threads) as spill:
        count = partial(spill.words, count=_count_batch, progress=progress)
        return spill.sum(_on_threads(count, chain(first, batched), n_threads))


def _count_batch(batch: list[bytes], words: Words) -> Iterator[int]:
    words.add(batch)
    yield sum(map(len, batch))


def count_files(
    files: TextFiles,
    pattern: tuple[str, ...],
    *,
    in_order: bool = False,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    executors: Executors | None = None,
    threads: int | None = None,
) -> PieceCounts:
    """Count as `count_texts` does, parts of files in parallel, or on workers that see the same files.

    With `memory_limit`, in bytes, the tables are written to disk before they would take more. Raises `InvalidFile` for
    a file that cannot be read, or changes meanwhile.
    """
    n_threads = 1 if in_order else threads or n_cores()
    parts = planned(files, n_threads, memory_limit)
    with Spill(pattern, memory_limit, n_threads if executors is None else 1) as spill:
        if executors is None:
            count = partial(spill.words, count=count_part, progress=progress)
            counts = _on_threads(count, iter(parts), min(n_threads, len(parts)))
        else:
            counts = _on_workers(executors, parts, pattern, progress, spill)
        check_unchanged(parts)
        return spill.sum(counts)


def planned(files: TextFiles, n_threads: int, memory_limit: int | None) -> list[Part]:
    """Return parts of files, small enough for the memory and for an even split."""
    sizes = (file.path.stat().st_size for file in files.files if file.path is not None and file.path.exists())
    n_blocks = min(_PART_BLOCKS, sum(sizes) // BLOCK_BYTES // (4 * n_threads))
    if memory_limit is not None:
        n_blocks = min(n_blocks, memory_limit // (_PART_SHARE * n_threads * BLOCK_BYTES))
    return [part for file in files.files for part in file.parts(max(1, n_blocks))]


def n_cores() -> int:
    """Return the number of cores the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_threads(count: Callable[[Iterator[T]], Words], work: Iterator[T], n_threads: int) -> PieceCounts:
    """Return what `count` counts on n_threads threads that share the work; an error in one of them stops the others."""
    if n_threads <= 1:
        return count(work).counted()
    taking, stopped = Lock(), Event()

    def take() -> T | None:
        with taking:
            return None if stopped.is_set() else next(work, None)

    def run(_: int) -> Words:
        try:
            return count(iter(take, None))
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(n_threads) as executor:
        try:
            counted = list(executor.map(run, range(n_threads)))
        finally:
            stopped.set()
    return_freed()
    words = counted.pop()
    while counted:
        words.add_counts(counted.pop())
    return words.counted()


def _on_workers(
    executors: Executors, parts: list[Part], pattern: tuple[str, ...], progress: Progress | None, spill: Spill
) -> PieceCounts:
    """Return what workers count in groups of parts; groups of workers that died are counted again by others."""
    waiting = _groups(parts)
    words, n_deaths = Words(pattern), 0
    while waiting:
        with executors() as executor:
            futures = {executor.submit(count_group, group, pattern): group for group in waiting}
            try:
                for future in as_completed(futures):
                    words.add_counts(Pieces.of(future.result()))
                    group, n_deaths = futures[future], 0
                    waiting.remove(group)
                    if progress is not None:
                        progress(sum(map(_n_bytes, group)))
                    words = spill.emptied(words)
            except BrokenExecutor:
                n_deaths += 1
                if n_deaths == _MOST_DEATHS:
                    problem = f"workers died {n_deaths} times in a row"
                    raise BPEError(f"{problem}; they may have run out of memory: start fewer of them") from None
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
    return words.counted()


def _groups(parts: list[Part]) -> list[list[Part]]:
    """Return groups of consecutive parts, of about `_GROUP_BYTES` each."""
    ends = accumulate(map(_n_bytes, parts))
    numbered = groupby(zip(ends, parts, strict=True), lambda pair: pair[0] // _GROUP_BYTES)
    return [[part for _, part in group] for _, group in numbered]


def _n_bytes(part: Part) -> int:
    """Return the approximate number of bytes of a part."""
    end = part.size if part.end is None else part.end * BLOCK_BYTES
    return end - part.first * BLOCK_BYTES
