"""Answers as numbers: a million of them cross a pipe, and are compared, faster than lists of ids.

Both sides compute them by `of_ids` and `of_text`; where two differ, the answer itself is asked for.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from zlib import crc32

from harness.process.memory import busy_seconds

Digests = dict[str, list[int | None]]
"""Call -> a number for each text; None where the call raised an error."""
Methods = Mapping[str, Callable[..., Any]]
CALLS = ("encode", "decode", "decode_bytes", "count", "encode_array", "encode_batch")
"""Calls whose answers follow from the ids of a text."""


def of_ids(ids: Iterable[int]) -> int:
    """Return the digest of ids."""
    return crc32(array("I", ids).tobytes())


def of_text(text: str) -> int:
    """Return the digest of a text."""
    return crc32(text.encode("utf-8", "surrogatepass"))


T = TypeVar("T")


def in_time(items: Iterable[T], seconds: float) -> Iterator[T]:
    """Yield items until the time is over, at least one."""
    deadline = monotonic() + seconds
    for item in items:
        yield item
        if monotonic() > deadline:
            return


def digests(
    methods: Methods, texts: Sequence[str], calls: Sequence[str], seconds: float = inf,
    error: type[Exception] = Exception,
) -> Digests:  # fmt: skip
    """Return the digests of these calls for as many texts as there is time for, at least one.

    `methods` give lists of ids, texts and bytes; a call is without an answer where its method raises an `error`.
    """
    answers: Digests = {call: [] for call in ("encode", *calls)}
    for text in in_time(texts, seconds):
        ids = None
        for call in answers:
            if call == "encode_batch":
                continue
            try:
                answer = None if call in OF_IDS and ids is None else methods[call](ids if call in OF_IDS else text)
                answers[call].append(None if answer is None else DIGEST[call](answer))
                ids = answer if call == "encode" else ids
            except error:
                answers[call].append(None)
    if "encode_batch" in calls:
        answers["encode_batch"] = _of_batch(methods["encode_batch"], texts[: len(answers["encode"])], error)
    return answers


def _number(count: Any) -> int:
    if type(count) is not int:
        raise TypeError("not an int")
    return count


DIGEST: dict[str, Callable[[Any], int]] = {
    "encode": of_ids,
    "count": _number,
    "encode_array": of_ids,
    "special": of_ids,
    "decode": of_text,
    "decode_bytes": crc32,
}
"""Call -> the digest of its answer."""
OF_IDS = ("decode", "decode_bytes")


def _of_batch(encode_batch: Callable[..., Any], texts: Sequence[str], error: type[Exception]) -> list[int | None]:
    """Return the digests of a batch; where it fails as a whole, those of its halves."""
    try:
        lists = encode_batch(list(texts))
        if len(lists) == len(texts):
            return [of_ids(ids) for ids in lists]
    except error:
        if len(texts) > 1:
            half = len(texts) // 2
            return [*_of_batch(encode_batch, texts[:half], error), *_of_batch(encode_batch, texts[half:], error)]
    return [None] * len(texts)


# --- elsewhere than in the thread and the process that answer ----------------------------------------------------


def in_a_child(answer: Callable[[], Digests], seconds: float) -> Digests:
    """Return an answer that a forked child gives within the time. Raises `RuntimeError` if it gives none."""
    forking = get_context("fork")
    receiving, sending = forking.Pipe(duplex=False)
    child = forking.Process(target=lambda: sending.send(answer()))
    child.start()
    sending.close()
    try:
        if not receiving.poll(seconds):
            raise RuntimeError(f"a child forked after the first call hangs: no answer in {seconds:.0f} s")
        answers: Digests = receiving.recv()
    except EOFError:
        raise RuntimeError("a child forked after the first call ended without an answer") from None
    finally:
        child.kill()
        child.join()
    return answers


# --- what calls leave behind -------------------------------------------------------------------------------------


def held(call: Callable[[Any], Any], given: Any, n_calls: int, seconds: float) -> tuple[int, float, int]:
    """Return the number of equal calls made in the time, the bytes each of them left in memory, and files left open."""
    deadline = busy_seconds() + seconds

    def repeat(most: int, until: float) -> int:
        for n in range(1, most + 1):
            with suppress(Exception):
                call(given)
            if not n % 64 and busy_seconds() > until:
                return n
        return most

    repeat(n_calls // 10, deadline - seconds / 2)
    bytes_before, files_before = _data_bytes(), _open_files()
    n = repeat(n_calls, deadline)
    return n, (_data_bytes() - bytes_before) / n, _open_files() - files_before


def _data_bytes() -> int:
    """Return the size of the process's data, with memory that was allocated and not yet written to."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
