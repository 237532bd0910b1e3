"""Encodes batches of texts on several threads: to lists, or to one array of all ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import address
from impls.compiled.context import Context
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.threads.pool import Pool
from impls.compiled.threads.worker_threads import BatchJob

_CHARACTERS_PER_THREAD = 1 << 14
"""Minimum amount of text per thread: waking a thread takes as long as encoding this many characters."""

RunClaimed = Callable[[int, Callable[[Context], bool]], None]
"""Run a function with a context that no other call uses, then close the job at the address, whatever was raised."""
EncodeOne = Callable[[str], np.ndarray]
"""Encode one text by the careful path, which handles special tokens, surrogates and text the pattern leaves out."""
Ready = Callable[[list[str]], tuple[list[str] | list[str | None], int]]
"""Return the texts as the kernels take them, with None for one that takes the careful path, and whether the kernels
have to search them for special tokens (1) or not (0)."""


def ready_for(is_searched: bool, written: Callable[[str], str | None] | None, absent: Callable[[str], bool]) -> Ready:
    """Return the function that prepares texts: `is_searched` for special tokens, and `written` in normal form if need
    be, where special tokens are searched in the original text and must be `absent`."""
    if written is None:
        return lambda texts: (texts, int(is_searched))

    def normalized(text: str) -> str | None:
        return written(text) if not is_searched or absent(text) else None

    return lambda texts: (list(map(normalized, texts)), 0)


class Batches:
    """The batches of a tokenizer: `run` runs a job with a context, `pool` lends contexts, which have built-ins."""

    def __init__(self, run: RunClaimed, pool: Pool, ready: Ready, encode_one: EncodeOne) -> None:
        self._run, self._pool, self._ready, self._encode_one = run, pool, ready, encode_one

    def lists(self, texts: list[str], threads: int) -> list[list[int]]:
        """Return one list of ids per text, from the kernels or from the careful path."""
        results: list[Any] = [None] * len(texts)

        def encode(job: BatchJob, main: Builtins) -> None:
            for first in job.waves(main, *self._ready(texts)):
                main.batch_collect(job.address, results, first)

        self._with_job(texts, threads, encode)
        if None in results:
            results = [ids or self._encode_one(text).tolist() for text, ids in zip(texts, results, strict=True)]
        return results

    def ragged(self, texts: list[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated ids (uint32) and the offset of each text's first id, int64, shape (n_texts + 1,)."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        ids, place, n_ids = np.empty(0, np.uint32), address(offsets), 0
        careful: list[int] = []

        def encode(job: BatchJob, main: Builtins) -> None:
            nonlocal ids, n_ids
            for first in job.waves(main, *self._ready(texts)):
                if n_ids + job.most_ids > len(ids):
                    ids = _with_room(ids[:n_ids], job.most_ids, first / len(texts))
                out = address(ids) + n_ids * ids.itemsize
                n_more = main.batch_encode(job.address, place + first * offsets.itemsize, out)
                if n_more < 0:
                    n_more = ~n_more
                    careful.extend(first + i for i in job.texts_that_need_care())
                n_ids += n_more

        self._with_job(texts, threads, encode)
        ids.resize(n_ids, refcheck=False)
        if careful:
            ids = _with_careful_ones(ids, offsets, {i: self._encode_one(texts[i]) for i in careful})
        return ids, offsets

    def _with_job(self, texts: list[str], threads: int, encode: Callable[[BatchJob, Builtins], None]) -> None:
        # `str.__len__` raises TypeError for anything but a str: the kernels read the objects' memory directly.
        n_characters = sum(map(str.__len__, texts))
        # The checked build declares the text that is read for the process, not for a thread.
        threads = 1 if is_checked() else min(threads, len(texts), 1 + n_characters // _CHARACTERS_PER_THREAD)
        job = BatchJob(self._pool, threads - 1, len(texts))

        def run(context: Context) -> bool:
            assert context.builtins is not None, "batches without built-ins are encoded text by text"
            encode(job, context.builtins)
            return True

        self._run(job.address, run)
        job.return_contexts()


def _with_room(ids: np.ndarray, n_more: int, share: float) -> np.ndarray:
    """Return an array that begins with `ids`, those of this `share` of all texts, and has room for all and `n_more`.

    Memory that is never touched costs nothing.
    """
    room = np.empty(int(len(ids) / share * 17 / 16 if share else 0) + n_more, np.uint32)
    room[: len(ids)] = ids
    return room


def _with_careful_ones(ids: np.ndarray, offsets: np.ndarray, arrays: dict[int, np.ndarray]) -> np.ndarray:
    """Return `ids` with those of texts left to the careful path inserted; `offsets` is updated in place."""
    parts = []
    before = 0
    more = np.zeros_like(offsets)
    for i, array in arrays.items():
        parts += [ids[before : offsets[i]], array]
        before = offsets[i]
        more[i + 1] = len(array)
    offsets += np.cumsum(more)
    return np.concatenate([*parts, ids[before:]])
