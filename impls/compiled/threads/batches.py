"""Encodes batches of texts on several threads: to lists, or to one array of all ids."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import address
from impls.compiled.cpython.builtins import Builtins
from impls.compiled.threads.pool import CallContext, Pool
from impls.compiled.threads.worker_threads import BatchJob

_CHARACTERS_PER_THREAD = 1 << 14
"""Minimum amount of text per thread: waking a thread takes as long as encoding this many characters."""

RunClaimed = Callable[[int, Callable[[CallContext], bool]], None]
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


@dataclass(slots=True)
class Density:
    """Ids per character in the last batch, from which the next one's size is predicted."""

    ids_per_character: float = 0.0

    def expected_ids(self, n_characters: int) -> int:
        """Return the predicted number of ids of n_characters, and a little more; 0 before the first batch."""
        return int(n_characters * self.ids_per_character * 33 / 32)


class Batches:
    """The batches of a tokenizer: `run` runs a job with a context, `pool` lends contexts to worker threads.

    `ready` is None if every text takes the careful path; otherwise contexts have built-ins.
    """

    def __init__(self, run: RunClaimed, pool: Pool, ready: Ready | None, one: EncodeOne, density: Density) -> None:
        self._run, self._pool, self._ready, self._one, self._density = run, pool, ready, one, density

    def lists(self, texts: list[str], threads: int) -> list[list[int]]:
        """Return one list of ids per text, from the kernels or from the careful path."""
        ready = self._ready
        if ready is None:
            return [array.tolist() for array in self._carefully(texts, threads)]
        results: list[Any] = [None] * len(texts)
        careful: list[int] = []

        def encode(job: BatchJob, main: Builtins) -> None:
            for first, n_texts in job.waves(main, *ready(texts)):
                if main.batch_collect(job.address, results, first):
                    careful.extend(i for i in range(first, first + n_texts) if results[i] is None)

        self._with_job(texts, threads, encode)
        for i in careful:
            results[i] = self._one(texts[i]).tolist()
        return results

    def ragged(self, texts: list[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated ids (uint32) and the offset of each text's first id, int64, shape (n_texts + 1,)."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        if self._ready is None:
            arrays = self._carefully(texts, threads)
            np.cumsum([0, *map(len, arrays)], out=offsets)
            return np.concatenate([np.zeros(0, np.uint32), *arrays]), offsets
        ids, careful = self._joined(self._ready, texts, threads, offsets)
        if careful:
            ids = _with_careful_ones(ids, offsets, {i: self._one(texts[i]) for i in careful})
        return ids, offsets

    def _carefully(self, texts: list[str], threads: int) -> list[np.ndarray]:
        if threads < 2 or len(texts) < 2 or is_checked():
            return list(map(self._one, texts))
        with ThreadPoolExecutor(min(threads, len(texts))) as executor:
            return list(executor.map(self._one, texts))

    def _joined(
        self, ready: Ready, texts: list[str], threads: int, offsets: np.ndarray
    ) -> tuple[np.ndarray, list[int]]:
        """Return the concatenated ids of the kernels, and the indices of the texts left to the careful path.

        Fills `offsets`, which holds zeros; a text left to the careful path has no ids yet.
        """
        n_characters = sum(map(len, texts))
        ids = np.empty(self._density.expected_ids(n_characters), np.uint32)
        place, n_ids = address(offsets), 0
        careful: list[int] = []

        def encode(job: BatchJob, main: Builtins) -> None:
            nonlocal n_ids
            for first, n_texts in job.waves(main, *ready(texts)):
                out, room = address(ids) + n_ids * ids.itemsize, len(ids) - n_ids
                n_more = main.batch_encode(job.address, place + first * offsets.itemsize, out, room)
                if n_more < 0:
                    n_more = ~n_more
                    careful.extend(first + i for i in job.texts_that_need_care())
                if n_ids + n_more > len(ids):
                    _make_room(ids, n_ids + n_more, (first + n_texts) / len(texts))
                    main.batch_copy(job.address, address(ids) + n_ids * ids.itemsize, len(ids) - n_ids)
                n_ids += n_more

        self._with_job(texts, threads, encode)
        self._density.ids_per_character = n_ids / max(1, n_characters)
        if len(ids) - n_ids > n_ids >> 4:
            ids.resize(n_ids, refcheck=False)
        return ids[:n_ids], careful

    def _with_job(self, texts: list[str], threads: int, encode: Callable[[BatchJob, Builtins], None]) -> None:
        # `str.__len__` raises TypeError for anything but a str: the kernels read the objects' memory directly.
        n_characters = sum(map(str.__len__, texts))
        # The checked build declares the text that is read for the process, not for a thread.
        threads = 1 if is_checked() else min(threads, len(texts), 1 + n_characters // _CHARACTERS_PER_THREAD)
        job = BatchJob(self._pool, threads - 1, len(texts))

        def run(call_context: CallContext) -> bool:
            assert call_context.builtins is not None, "batches without built-ins are encoded text by text"
            encode(job, call_context.builtins)
            return True

        self._run(job.address, run)
        job.return_contexts()


def _make_room(ids: np.ndarray, n_ids: int, share: float) -> None:
    """Enlarge `ids` in place to hold `n_ids` and what the remaining texts may need; `share` of all texts is done.

    Memory that is never touched costs nothing.
    """
    ids.resize(n_ids if share == 1 else int(n_ids / share * 17 / 16) + 1, refcheck=False)


def _with_careful_ones(ids: np.ndarray, offsets: np.ndarray, found: dict[int, np.ndarray]) -> np.ndarray:
    """Return `ids` with `found`, the ids of texts left to the careful path, inserted; `offsets` is updated in place."""
    parts = []
    before = 0
    more = np.zeros_like(offsets)
    for i, array in found.items():
        parts += [ids[before : offsets[i]], array]
        before = offsets[i]
        more[i + 1] = len(array)
    offsets += np.cumsum(more)
    return np.concatenate([*parts, ids[before:]])
