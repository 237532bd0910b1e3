"""Comparing the answers of a task: digests of ids, files of ids, and where two answers first differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.measure.texts import boundary

Ids = Sequence[Any]
"""One text's ids: a list of int, or an array."""


class NotIds(Exception):
    """An answer that is not a sequence of ids."""


def as_uint32(ids: Ids) -> np.ndarray:
    """Return ids as a little-endian uint32 array of shape (n_tokens,); raise `NotIds` for what cannot be ids."""
    try:
        array = np.asarray(ids)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotIds(f"an answer that is not a list of ids: {error}") from None
    if array.ndim != 1:
        raise NotIds(f"an answer of shape {array.shape}")
    if not len(array):
        return array.astype("<u4")
    if array.dtype.kind not in "iu":
        raise NotIds(f"an answer of {array.dtype}, not of ids")
    if array.min() < 0 or array.max() > 0xFFFFFFFF:
        raise NotIds("an answer with ids out of range")
    return array.astype("<u4")


def require_lists(texts_ids: Iterable[object]) -> None:
    """Raise `NotIds` where the ids of a text are anything but a list of int."""
    for ids in texts_ids:
        if type(ids) is not list:
            raise NotIds(f"{type(ids).__name__} in place of a list of ids")
        others = {type(i).__name__ for i in ids if type(i) is not int}
        if others:
            raise NotIds(f"a list of {', '.join(sorted(others))} in place of int")


def require_arrays(texts_ids: Iterable[object]) -> None:
    """Raise `NotIds` where the ids of a text are anything but an array."""
    for ids in texts_ids:
        if not isinstance(ids, np.ndarray):
            raise NotIds(f"{type(ids).__name__} in place of an array of ids")


def digest_of_ids(texts_ids: Iterable[Ids]) -> tuple[str, int]:
    """Return the SHA-256 (hex) of each text's token count and ids, all little-endian uint32, and the token count."""
    hasher = hashlib.sha256()
    n_tokens = 0
    for ids in texts_ids:
        array = as_uint32(ids)
        hasher.update(len(array).to_bytes(4, "little"))
        hasher.update(array.tobytes())
        n_tokens += len(array)
    return hasher.hexdigest(), n_tokens


def digest_of_counts(counts: Iterable[int]) -> tuple[str, int]:
    """Return the SHA-256 (hex) of token counts as little-endian uint32, and their sum."""
    counts = list(counts)
    return hashlib.sha256(as_uint32(counts).tobytes()).hexdigest(), sum(counts)


def digest_of_texts(texts: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of each text's length and UTF-8 (surrogatepass)."""
    hasher = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        hasher.update(len(content).to_bytes(8, "little"))
        hasher.update(content)
    return hasher.hexdigest()


def digest_of_merges(tokens: Iterable[bytes | None], merges: Iterable[tuple[int, int]]) -> str:
    """Return the SHA-256 (hex) of the merges as pairs of little-endian uint32 in rank order, then the tokens by id."""
    hasher = hashlib.sha256()
    for left, right in merges:
        hasher.update(left.to_bytes(4, "little") + right.to_bytes(4, "little"))
    for token in tokens:
        content = b"" if token is None else token
        hasher.update(len(content).to_bytes(4, "little") + content)
    return hasher.hexdigest()


def write_ids(path: Path, texts_ids: Sequence[Ids]) -> None:
    """Write every text's ids: count, then ids, all little-endian uint32."""
    with path.open("wb") as file:
        for ids in texts_ids:
            array = as_uint32(ids)
            file.write(len(array).to_bytes(4, "little"))
            file.write(array.tobytes())


def read_ids(path: Path) -> list[list[int]]:
    """Return the ids `write_ids` wrote."""
    content = np.fromfile(path, dtype="<u4")
    found: list[list[int]] = []
    position = 0
    while position < len(content):
        count = int(content[position])
        found.append(content[position + 1 : position + 1 + count].tolist())
        position += 1 + count
    return found


class AnswerDifference(NamedTuple):
    """Where two answers differ: the ids of that stretch in both, and texts around it, the smallest first."""

    windows: tuple[bytes, ...]
    expected: list[int]
    got: list[int]


def first_difference(
    texts: Sequence[bytes], expected: Sequence[Ids], got: Sequence[Ids], token_bytes: Mapping[int, bytes]
) -> AnswerDifference | None:
    """Return the first place where two answers differ, or None.

    The smallest window ends where both answers have a token border again; wider ones add its surroundings, its line
    and its whole text.
    """
    if len(got) != len(expected):
        return AnswerDifference((texts[min(len(got), len(texts) - 1)],), [], [])
    for text, wanted, answer in zip(texts, expected, got, strict=True):
        a, b = list(map(int, wanted)), list(map(int, answer))
        if a != b:
            return _difference(text, a, b, token_bytes)
    return None


def _difference(text: bytes, a: list[int], b: list[int], token_bytes: Mapping[int, bytes]) -> AnswerDifference:
    """Walk both lists from the first differing id until they share a token border again."""
    i = 0
    while i < len(a) and i < len(b) and a[i] == b[i]:
        i += 1
    start = sum(len(token_bytes.get(token, b"")) for token in a[:i])
    end_a = end_b = start
    j = k = i
    while not (end_a == end_b > start):
        if end_a <= end_b and j < len(a):
            end_a += len(token_bytes.get(a[j], b""))
            j += 1
        elif k < len(b) and b[k] in token_bytes:
            end_b += len(token_bytes[b[k]])
            k += 1
        else:
            end_a, j, k = len(text), len(a), len(b)
            break
    return AnswerDifference(tuple(_windows(text, start, end_a)), a[i:j], b[i:k])


def _windows(text: bytes, start: int, end: int) -> Iterator[bytes]:
    last = b""
    for margin in (0, 8, 32, 256):
        left = boundary(text, start - margin)
        right = min(len(text), end + margin)
        while right < len(text) and text[right] & 0xC0 == 0x80:
            right += 1
        window = text[left:right]
        if window and window != last:
            yield window
        last = window
    line = text[text.rfind(b"\n", 0, start) + 1 : (text.find(b"\n", end) + 1) or len(text)]
    for wider in (line, text):
        if len(wider) > len(last):
            yield wider
            last = wider
