"""Encodes batches of texts on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.context import Context
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


def encoded(
    texts: list[str],
    threads: int,
    ready: Ready,
    pool: Pool,
    run: RunClaimed,
    encode_one: EncodeOne,
    *,
    as_arrays: bool,
) -> list[Any]:
    """Return the ids of each text, as lists or arrays, from the kernels or from the careful path.

    `run` runs a job with a context; `pool` lends contexts, which have built-ins, to other threads.
    """
    # `str.__len__` raises TypeError for anything but a str: the kernels read the objects' memory directly.
    n_characters = sum(map(str.__len__, texts))
    # The checked build declares the text that is read for the process, not for a thread.
    threads = 1 if is_checked() else min(threads, len(texts), 1 + n_characters // _CHARACTERS_PER_THREAD)
    job = BatchJob(pool, threads - 1, len(texts))
    results: list[Any] = [None] * len(texts)

    def encode(context: Context) -> bool:
        assert context.builtins is not None, "batches without built-ins are encoded text by text"
        for first in job.waves(context.builtins, *ready(texts)):
            context.builtins.batch_collect(job.address, results, first, as_arrays)
        return True

    run(job.address, encode)
    job.return_contexts()
    for i, ids in enumerate(results):
        if ids is None:
            results[i] = encode_one(texts[i]) if as_arrays else encode_one(texts[i]).tolist()
    return results
