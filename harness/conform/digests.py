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

Digests = dict[str, list[int | None]]
"""Call -> a number for each text; None where the call raised an error."""
Methods = Mapping[str, Callable[..., Any]]
Errors = type[Exception]
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
    methods: Methods, texts: Sequence[str], calls: Sequence[str], seconds: float = inf, errors: Errors = Exception
) -> Digests:
    """Return the digests of these calls for as many texts as there is time for, at least one.

    `methods` give lists of ids, texts and bytes; a call is without an answer where its method raises one of `errors`.
    """
    answers: Digests = {call: [] for call in ("encode", *calls)}

    def digest(call: str, given: Any) -> int | None:
        try:
            return DIGEST[call](methods[call](given))
        except errors:
            return None

    for text in in_time(texts, seconds):
        try:
            ids = methods["encode"](text)
            answers["encode"].append(of_ids(ids))
        except errors:
            ids = None
            answers["encode"].append(None)
        for call in calls:
            if call in OF_IDS:
                answers[call].append(None if ids is None else digest(call, ids))
            elif call not in ("encode", "encode_batch"):
                answers[call].append(digest(call, text))
    if "encode_batch" in calls:
        answers["encode_batch"] = _of_batch(methods["encode_batch"], texts[: len(answers["encode"])], errors)
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


def _of_batch(encode_batch: Callable[..., Any], texts: Sequence[str], errors: Errors) -> list[int | None]:
    """Return the digests of a batch; where it fails as a whole, those of its halves."""
    try:
        lists = encode_batch(list(texts))
        if len(lists) == len(texts):
            return [of_ids(ids) for ids in lists]
    except errors:
        if len(texts) > 1:
            half = len(texts) // 2
            return [*_of_batch(encode_batch, texts[:half], errors), *_of_batch(encode_batch, texts[half:], errors)]
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
    deadline = monotonic() + seconds

    def repeat(most: int, until: float) -> int:
        for n in range(1, most + 1):
            with suppress(Exception):
                call(given)
            if not n % 64 and monotonic() > until:
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
