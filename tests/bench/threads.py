"""One and two threads of `compiled` on batches of documents of 4 KB, in turn in one process, each thread on a core.

    python tests/bench/threads.py [MODEL [MEGABYTES]]

A new `str` for every pass. Milliseconds, the median and the smallest of 60. Threads are tied to the first and the last
core, so that a system that is busy otherwise does not put both on one; on one core there is nothing to see.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from harness.data import load_corpus, load_model
from impls.compiled import Compiled

CORPORA = ("turkish", "english", "parallel", "code")
DOCUMENT_CHARACTERS = 4096
ROUNDS = 60


def documents(n_bytes: int) -> list[bytes]:
    """Documents of several corpora, shuffled, of about so many bytes in all."""
    found = []
    for name in CORPORA:
        text = "\n".join(load_corpus(name).documents())
        found += [text[i : i + DOCUMENT_CHARACTERS].encode() for i in range(0, len(text), DOCUMENT_CHARACTERS)]
    random.Random(5).shuffle(found)
    size = 0
    for number, document in enumerate(found):
        size += len(document)
        if size >= n_bytes:
            return found[: number + 1]
    return found


def each_on_its_core(tokenizer: Compiled) -> None:
    """Ties this thread to the last core and the thread that helps to the first; does nothing where that is unknown."""
    tokenizer.encode_batch(["wake the other thread"] * 5000, 2)
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.native_id is not None:
            os.sched_setaffinity(thread.native_id, {cores[0]})
    os.sched_setaffinity(0, {cores[-1]})


def seconds(encode: Callable[..., Any], contents: list[bytes], threads: int) -> float:
    """Of one pass over new strings."""
    texts = [content.decode() for content in contents]
    started = perf_counter()
    answer = encode(texts, threads, disallowed_special=())
    taken = perf_counter() - started
    del answer
    return taken


def main(model: str, megabytes: float) -> None:
    """Prints a line for each kind of answer."""
    tokenizer = Compiled(load_model(model))
    contents = documents(int(megabytes * 1e6))
    n_bytes = sum(map(len, contents))
    each_on_its_core(tokenizer)
    gc.collect()
    gc.freeze()
    ways = {
        "one array": tokenizer.encode_ragged,
        "arrays": tokenizer.encode_array_batch,
        "lists": tokenizer.encode_batch,
    }
    times: dict[tuple[str, int], list[float]] = {(way, threads): [] for way in ways for threads in (1, 2)}
    for _ in range(ROUNDS):
        for (way, threads), taken in times.items():
            taken.append(seconds(ways[way], contents, threads))
    for way in ways:
        one, two = times[way, 1], times[way, 2]
        print(
            f"{model}, {n_bytes / 1e6:.1f} MB as {way}: one thread {median(one) * 1e3:.2f} ({min(one) * 1e3:.2f}),"
            f" two {median(two) * 1e3:.2f} ({min(two) * 1e3:.2f}):"
            f" {median(one) / median(two):.2f} x ({min(one) / min(two):.2f})"
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "o200k_base", float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
