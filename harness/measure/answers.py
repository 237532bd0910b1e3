"""Answers of a contestant as the judge gets them: of the type that the task requires, ids as little-endian uint32."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.judge import wrong_types
from harness.measure.workloads import Task


class NotIds(Exception):
    """Raised for an answer of another type than the task requires, since producing it is different work."""


def packed_answers(task: Task, answers: list[Any]) -> list[bytes]:
    """Return the ids of each text as uint32; raise `NotIds` for another type.

    For `count` these are the counts, for `decode` the texts in UTF-8.
    """
    if task == "decode":
        _ensure(answers, str, "str")
        return [text.encode("utf-8", "surrogatepass") for text in answers]
    if task == "count":
        _ensure(answers, int, "int")
        return [packed(answers)]
    if task == "encode-batch":
        _ensure(answers, list, "a list of lists of ids")
        answers = [row for rows in answers for row in rows]
    kind = np.ndarray if task == "encode-array" else list
    for row in answers:
        if type(row) is not kind:
            raise NotIds(f"{type(row).__name__} in place of {'an array' if kind is np.ndarray else 'a list'} of ids")
        if kind is list and (others := wrong_types(row, int)):
            raise NotIds(f"a list of {others} in place of int")
    return [packed(row) for row in answers]


def _ensure(answers: list[Any], kind: type, what: str) -> None:
    if others := wrong_types(answers, kind):
        raise NotIds(f"{others} in place of {what}")


def packed(row: Any) -> bytes:
    """Return ids as little-endian uint32; raise `NotIds` for anything else."""
    array = np.asarray(row)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise NotIds(f"an answer of {array.dtype} and shape {array.shape}, not of ids")
    if len(array) and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise NotIds("an answer with ids out of range")
    return array.astype("<u4").tobytes()


def unpacked(ids: bytes) -> np.ndarray:
    """Return packed ids as an array."""
    return np.frombuffer(ids, dtype="<u4")
