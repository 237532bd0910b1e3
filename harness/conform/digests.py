"""Answers as numbers: a million of them cross a pipe, and are compared, faster than lists of ids.

Both sides compute them by `of_ids` and `of_text`; where two differ, the answer itself is asked for.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any
from zlib import crc32

Digests = dict[str, list[int | None]]
"""Call -> a number for each text; None where the call raised an error."""
CALLS = ("encode", "decode", "decode_bytes", "count", "encode_array", "encode_batch")
"""Calls whose answers follow from the ids of a text."""


def of_ids(ids: Iterable[int]) -> int:
    """Return the digest of ids."""
    return crc32(array("I", ids).tobytes())


def of_text(text: str) -> int:
    """Return the digest of a text."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def digests(
    methods: Mapping[str, Callable[..., Any]],
    plain: Callable[[Any], Any],
    texts: Sequence[str],
    calls: Sequence[str],
    deadline: float = float("inf"),
) -> Digests:
    """Return the digests of these calls for as many texts as there is time for, at least one."""
    answers: Digests = {call: [] for call in ("encode", *calls)}
    singly = [(answers[call], methods[call], _DIGEST[call], call in _OF_IDS) for call in calls if call in _DIGEST]
    encode = methods["encode"]
    for text in texts:
        try:
            ids = plain(encode(text))
            answers["encode"].append(of_ids(ids))
        except Exception:
            ids = None
            answers["encode"].append(None)
        for found, method, digest, takes_ids in singly:
            given = ids if takes_ids else text
            found.append(None if given is None else _tried(method, given, digest))
        if monotonic() > deadline:
            break
    if "encode_batch" in calls:
        done = len(answers["encode"])
        answers["encode_batch"] = _of_batch(methods["encode_batch"], plain, texts[:done])
    return answers


def _number(count: Any) -> int:
    if type(count) is not int:
        raise TypeError("not an int")
    return count


def _of_array(ids: Any) -> int:
    return of_ids(ids.tolist() if hasattr(ids, "tolist") else ids)


_DIGEST: dict[str, Callable[[Any], int]] = {
    "count": _number,
    "encode_array": _of_array,
    "decode": of_text,
    "decode_bytes": crc32,
}
_OF_IDS = ("decode", "decode_bytes")


def _tried(call: Callable[[Any], Any], given: Any, digest: Callable[[Any], int] = id) -> int | None:
    try:
        return digest(call(given))
    except Exception:
        return None


def _of_batch(encode_batch: Callable[..., Any], plain: Callable[[Any], Any], texts: Sequence[str]) -> list[int | None]:
    """Return the digests of a batch; where it fails as a whole, those of its halves."""
    try:
        lists = plain(encode_batch(list(texts)))
        if len(lists) == len(texts):
            return [of_ids(ids) for ids in lists]
    except Exception:
        if len(texts) > 1:
            half = len(texts) // 2
            return _of_batch(encode_batch, plain, texts[:half]) + _of_batch(encode_batch, plain, texts[half:])
    return [None] * len(texts)


# --- elsewhere than in the thread and the process that answer ----------------------------------------------------


def in_a_thread(answer: Callable[[], Digests]) -> Digests:
    """Return an answer that a new thread gives."""
    answers: list[Digests] = []
    thread = threading.Thread(target=lambda: answers.append(answer()))
    thread.start()
    thread.join()
    if not answers:
        raise RuntimeError("the thread ended without an answer")
    return answers[0]


def in_a_child(answer: Callable[[], Digests], seconds: float) -> Digests:
    """Return an answer that a forked child gives within the time. Raises `RuntimeError` if it gives none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as pipe:
                json.dump(answer(), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    received, deadline = b"", monotonic() + seconds
    try:
        while select.select([reading], [], [], max(0.0, deadline - monotonic()))[0]:
            if not (part := os.read(reading, 1 << 16)):
                break
            received += part
        else:
            raise RuntimeError(f"a child forked after the first call hangs: no answer in {seconds:.0f} s")
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not received:
        raise RuntimeError("a child forked after the first call ended without an answer")
    found: Digests = json.loads(received)
    return found


@contextmanager
def beside(encode: Callable[[str], Any], texts: Sequence[str]) -> Iterator[None]:
    """While the block runs, encode texts in another thread."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for text in texts:
                _tried(encode, text)
                if stop.is_set():
                    break

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# --- what calls leave behind -------------------------------------------------------------------------------------


def held(call: Callable[[Any], Any], given: Any, n_calls: int, seconds: float) -> tuple[int, float, int]:
    """Return the number of equal calls made in the time, the bytes each of them left in memory, and files left open."""
    deadline = monotonic() + seconds
    for _ in range(n_calls // 10):
        _tried(call, given)
        if monotonic() > deadline - seconds / 2:
            break
    bytes_before, files_before = _resident_bytes(), _open_files()
    n = 0
    for n in range(1, n_calls + 1):
        _tried(call, given)
        if not n % 1024 and monotonic() > deadline:
            break
    return n, (_resident_bytes() - bytes_before) / n, _open_files() - files_before


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
