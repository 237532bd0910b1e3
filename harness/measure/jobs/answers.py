"""The answers of a task: their kinds, digests of ids, files of ids, and where two answers first differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.data.documents import encoded
from harness.measure.protocol import Failed, Job
from harness.measure.texts import boundary, boundary_after
from harness.measure.workloads import ARRAYS, ENCODING, GROWING, TEXTS
from harness.outcome import Outcome
from harness.records import Counterexample, Status
from impls import Model

Ids = Sequence[Any]
"""One text's ids: a list of int, or an array."""


class Wrong(Exception):
    """Raised for an answer that is wrong, or not known to be right."""

    def __init__(
        self,
        reason: str,
        *,
        status: Status = Outcome.MISMATCH,
        candidates: Iterable[bytes] = (),
        counterexample: Counterexample | None = None,
    ) -> None:
        self.failed = Failed(status=status, reason=reason, candidates=tuple(candidates), counterexample=counterexample)
        super().__init__(reason)


class NotIds(Wrong):
    """Raised for an answer that is not a sequence of ids, or not of the type the task requires."""


def as_uint32(ids: Ids) -> np.ndarray:
    """Return ids as a little-endian uint32 array of shape (n_tokens,); raise `NotIds` for anything else."""
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


def _packed(ids: Ids) -> bytes:
    """Return a text's number of ids, then its ids, as little-endian uint32."""
    array = as_uint32(ids)
    return len(array).to_bytes(4, "little") + array.tobytes()


def _sha256(parts: Iterable[bytes]) -> str:
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part)
    return hasher.hexdigest()


def digest_of_ids(texts_ids: Iterable[Ids]) -> tuple[str, int]:
    """Return the SHA-256 (hex) of each text's token count and ids, all little-endian uint32, and the token count."""
    packed = list(map(_packed, texts_ids))
    return _sha256(packed), sum(len(content) // 4 - 1 for content in packed)


def digest_of_counts(counts: Iterable[int]) -> tuple[str, int]:
    """Return the SHA-256 (hex) of token counts as little-endian uint32, and their sum."""
    counts = list(counts)
    return _sha256([as_uint32(counts).tobytes()]), sum(counts)


def digest_of_texts(texts: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of each text's length and UTF-8 (surrogatepass)."""
    return _sha256(len(content).to_bytes(8, "little") + content for content in map(encoded, texts))


def digest_of_model(model: Model) -> str:
    """Return the SHA-256 (hex) of the merges as pairs of little-endian uint32 in rank order, then the tokens by id."""
    pairs = (left.to_bytes(4, "little") + right.to_bytes(4, "little") for left, right in model.merges)
    return _sha256(chain(pairs, (len(token or b"").to_bytes(4, "little") + (token or b"") for token in model.tokens)))


def digest_of_parts(digests: Iterable[str]) -> str:
    """Combine the digests of the parts of a text into one."""
    return _sha256(digest.encode() for digest in digests)


def digest(job: Job, answer: Any) -> tuple[str, int]:
    """Return the digest of a pass's answer and its number of tokens (of merges, for `train`); raise `NotIds`."""
    if job.task == "train":
        return digest_of_model(answer), len(answer.merges)
    if job.task == "count":
        return digest_of_counts(answer)
    if job.task in TEXTS:
        return digest_of_texts(answer), 0
    return digest_of_ids(answer)


def same_answer(job: Job, a: Any, b: Any) -> bool:
    """Return whether two passes have the same answer."""
    if job.task in ARRAYS:
        return len(a) == len(b) and all(map(np.array_equal, a, b))
    if job.task == "train":
        return digest_of_model(a) == digest_of_model(b)
    return bool(a == b)


def join_answers(job: Job, answers: Sequence[Any]) -> Any:
    """Concatenate the answers of passes, one entry per text; raise `NotIds`."""
    if job.task == "train":
        return answers[-1]
    return [entry for answer in answers for entry in (_rows(answer) if job.task == "encode-ragged" else answer)]


def _rows(answer: Any) -> list[np.ndarray]:
    """Split one array of all ids at its offsets into the ids of each text; raise `NotIds`."""
    try:
        ids, offsets = answer
        borders = [int(border) for border in offsets]
    except (TypeError, ValueError) as error:
        raise NotIds(f"an answer that is not an array of ids and one of offsets: {error}") from None
    if borders[:1] != [0] or borders[-1] != len(ids) or any(a > b for a, b in pairwise(borders)):
        raise NotIds(f"offsets that do not divide {len(ids)} ids")
    return [ids[a:b] for a, b in pairwise(borders)]


def require_kind(job: Job, answer: Any) -> None:
    """Raise `NotIds` for an answer of another type than the task requires, since producing it is different work."""
    if job.task in ARRAYS:
        for ids in answer:
            if not isinstance(ids, np.ndarray):
                raise NotIds(f"{type(ids).__name__} in place of an array of ids")
    elif job.task in (*ENCODING, *GROWING):
        for ids in answer:
            if type(ids) is not list:
                raise NotIds(f"{type(ids).__name__} in place of a list of ids")
            if others := _others(ids, int):
                raise NotIds(f"a list of {others} in place of int")
    elif job.task in ("count", *TEXTS):
        kind = int if job.task == "count" else str
        if others := _others(answer, kind):
            raise NotIds(f"{others} in place of {kind.__name__}")


def _others(entries: Iterable[object], kind: type) -> str:
    """Return the names of the types of entries other than `kind`."""
    return ", ".join(sorted({type(entry).__name__ for entry in entries if type(entry) is not kind}))


def write_ids(path: Path, texts_ids: Sequence[Ids]) -> None:
    """Write every text's ids: count, then ids, all little-endian uint32."""
    with path.open("wb") as file:
        file.writelines(map(_packed, texts_ids))


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
    """Return where two answers first differ, or None.

    The smallest window ends where both answers have a token border again; wider ones add its surroundings, its line and
    its whole text.
    """
    if len(got) != len(expected):
        return AnswerDifference((texts[min(len(got), len(texts) - 1)],), [], [])
    for text, wanted, answer in zip(texts, expected, got, strict=True):
        a, b = list(map(int, wanted)), list(map(int, answer))
        if a != b:
            return _difference(text, a, b, token_bytes)
    return None


def _difference(text: bytes, a: list[int], b: list[int], token_bytes: Mapping[int, bytes]) -> AnswerDifference:
    """Return the stretch from the first differing id to the next token border that both lists share."""
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
        window = text[left : boundary_after(text, end + margin)]
        if window and window != last:
            yield window
        last = window
    line = text[text.rfind(b"\n", 0, start) + 1 : (text.find(b"\n", end) + 1) or len(text)]
    for wider in (line, text):
        if len(wider) > len(last):
            yield wider
            last = wider
