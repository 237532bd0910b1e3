"""Many texts on several threads: chunks are handed out one by one, each thread has a worker of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import numpy as np

from impls.compiled.native import address
from impls.compiled.pool import Worker

CHUNK = 32
"""Texts that are encoded in one call."""

TakeWorker = Callable[[], AbstractContextManager[Worker]]
Ready = Callable[[list[str]], tuple[list[str], int] | None]
"""The texts of a chunk as the kernels take them, and whether they have to be searched for special ones (1) or not (0).

None where one of them may need care."""
EncodeOne = Callable[[str], np.ndarray]
"""The careful way for one text: special tokens, surrogates, texts the pattern leaves out."""


def thread_count(threads: int | None) -> int:
    """`threads`, or all cores for None; raises ValueError below 1."""
    threads = os.cpu_count() or 1 if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads must be at least 1 or None, not {threads}")
    return threads


def on_threads(n_texts: int, threads: int, take: TakeWorker, work: Callable[[Worker, int, int], None]) -> None:
    """Calls `work(worker, first, last)` for every chunk; the first exception ends the rest and is raised."""
    starts = itertools.count(0, CHUNK)
    failed: list[BaseException] = []

    def run() -> None:
        with take() as worker:
            while not failed and (first := next(starts)) < n_texts:
                try:
                    work(worker, first, min(first + CHUNK, n_texts))
                except BaseException as error:
                    failed.append(error)
                    raise

    n_threads = min(threads, (n_texts + CHUNK - 1) // CHUNK)
    if n_threads < 2:
        run()
        return
    with ThreadPoolExecutor(n_threads) as executor:
        for future in [executor.submit(run) for _ in range(n_threads)]:
            future.result()


def lists(texts: list[str], threads: int, take: TakeWorker, ready: Ready, one: EncodeOne) -> list[list[int]]:
    """A list of ids per text. `ready` says which texts may go the fast way."""
    results: list[list[int]] = [[]] * len(texts)

    def work(worker: Worker, first: int, last: int) -> None:
        prepared = ready(texts[first:last]) if worker.builtins is not None else None
        if worker.builtins is not None and prepared is not None:
            chunk, look = prepared
            found: list[list[int]] = [[]] * len(chunk)
            try:
                if worker.builtins.encode_range_to_lists(chunk, 0, len(chunk), found, look) is not None:
                    results[first:last] = found
                    return
            except UnicodeEncodeError:
                pass
        for i in range(first, last):
            results[i] = one(texts[i]).tolist()

    on_threads(len(texts), threads, take, work)
    return results


def ragged(
    texts: list[str], threads: int, take: TakeWorker, ready: Ready, one: EncodeOne
) -> tuple[np.ndarray, np.ndarray]:
    """All ids behind one another (uint32) and where each text's begin (int64 of shape (n_texts + 1,))."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    counts = offsets[1:]
    chunks: list[np.ndarray] = [np.zeros(0, np.uint32)] * ((len(texts) + CHUNK - 1) // CHUNK)

    def work(worker: Worker, first: int, last: int) -> None:
        prepared = ready(texts[first:last])
        ids = None if prepared is None else _chunk(worker, *prepared, counts[first:last])
        if ids is None:
            arrays = [one(text) for text in texts[first:last]]
            counts[first:last] = [len(array) for array in arrays]
            ids = np.concatenate(arrays)
        chunks[first // CHUNK] = ids

    on_threads(len(texts), threads, take, work)
    np.cumsum(counts, out=counts)
    return (np.concatenate(chunks) if chunks else np.zeros(0, np.uint32)), offsets


def _chunk(worker: Worker, texts: list[str], look: int, counts: np.ndarray) -> np.ndarray | None:
    """Ids of the texts, whose numbers go to `counts`; None where one needs care."""
    if worker.builtins is None:
        return None
    try:
        found = worker.builtins.encode_range_to_bytearray(texts, 0, len(texts), address(counts), look)
    except UnicodeEncodeError:
        return None
    return None if found is None else np.frombuffer(found, np.uint32)
