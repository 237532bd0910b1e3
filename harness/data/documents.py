"""Sequences of documents: joining, splitting, limiting, and their file format; independent of where they come from.

A documents file holds, for each document, its length as eight bytes (little-endian) and its UTF-8 (surrogatepass). The
digest of a corpus is the SHA-256 of exactly these bytes, so a stored corpus is verified by its file's digest.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

HELD_OUT_ONE_IN = 10
_LENGTH_BYTES = 8


def encoded(text: str) -> bytes:
    """Encode as UTF-8, with lone surrogates (surrogatepass)."""
    return text.encode("utf-8", "surrogatepass")


def pack(documents: Iterable[str]) -> Iterator[bytes]:
    """Yield the parts of a documents file."""
    for document in documents:
        content = encoded(document)
        yield len(content).to_bytes(_LENGTH_BYTES, "little")
        yield content


def unpack(content: bytes) -> Iterator[str]:
    """Yield the documents of a documents file."""
    position = 0
    while position < len(content):
        start = position + _LENGTH_BYTES
        position = start + int.from_bytes(content[position:start], "little")
        yield content[start:position].decode("utf-8", "surrogatepass")


def side(text: str) -> Literal["train", "held-out"]:
    """Return a document's side of the split, decided by its text alone: equal texts are always on the same side."""
    number = int.from_bytes(hashlib.sha256(encoded(text)).digest()[:8], "little")
    return "held-out" if number % HELD_OUT_ONE_IN == 0 else "train"


def take_bytes(documents: Iterable[str], max_bytes: int | None) -> Iterator[str]:
    """Yield documents up to a total of `max_bytes` of UTF-8; the last one is cut between characters."""
    if max_bytes is None:
        yield from documents
        return
    room = max_bytes
    for document in documents:
        content = encoded(document)
        if len(content) > room:
            if end := boundary(content, room):
                yield content[:end].decode("utf-8", "surrogatepass")
            return
        yield document
        room -= len(content)


def boundary(content: bytes | bytearray, position: int) -> int:
    """Return the last border between characters at or before `position`."""
    position = max(0, min(position, len(content)))
    while 0 < position < len(content) and content[position] & 0xC0 == 0x80:
        position -= 1
    return position


_Keyed = Iterable[tuple[str, str]]


def interleaved(sources: Sequence[tuple[_Keyed, int]]) -> Iterator[tuple[str, str]]:
    """Interleave the documents of several sources so that any prefix holds each source's share, up to one document.

    A source is its documents with their keys, and a limit; documents are taken while they fit the limit in UTF-8 bytes.
    """

    def placed(number: int, documents: _Keyed, n_bytes: int) -> Iterator[tuple[float, int, str, str]]:
        done = 0
        for document, key in documents:
            size = len(encoded(document))
            if done + size > n_bytes:
                return
            yield (done + size / 2) / n_bytes, number, document, key
            done += size

    streams = (placed(number, documents, n_bytes) for number, (documents, n_bytes) in enumerate(sources))
    for _, _, document, key in heapq.merge(*streams):
        yield document, key


def distinct(texts: Iterable[str]) -> list[str]:
    """Return each non-empty text once, in order of first occurrence."""
    return list(dict.fromkeys(text for text in texts if text))


def join(texts: Iterable[str], n_bytes: int) -> Iterator[str]:
    """Join consecutive texts by newlines into documents of `n_bytes` of UTF-8 or slightly more."""
    lines: list[str] = []
    size = 0
    for text in texts:
        lines.append(text)
        size += len(encoded(text)) + 1
        if size >= n_bytes:
            yield "\n".join(lines)
            lines, size = [], 0
    if lines:
        yield "\n".join(lines)


def shuffle_key(text: str) -> bytes:
    """Return a sort key whose order is independent of the text's content and of its `side`."""
    return hashlib.sha256(encoded(text)).digest()[8:]


class Overlap(NamedTuple):
    """How many documents a text has, and how many of them are in the other."""

    n_documents: int
    n_trained_on: int


def shared_documents(texts: Iterable[str], trained: Iterable[str]) -> Overlap:
    """Return how many of `texts` are among `trained`, by the first 8 bytes of the SHA-256 of their UTF-8,
    white space stripped; takes 8 bytes of memory for each of `texts`."""
    hashes, times = np.unique(np.frombuffer(b"".join(map(_hash, texts)), np.uint64), return_counts=True)
    is_trained_on = np.zeros(len(hashes), bool)
    others = map(_hash, trained)
    while some := b"".join(islice(others, 1 << 16)):
        is_trained_on |= np.isin(hashes, np.frombuffer(some, np.uint64))
    return Overlap(int(times.sum()), int(times[is_trained_on].sum()))


def _hash(text: str) -> bytes:
    return hashlib.sha256(encoded(text.strip())).digest()[:8]
