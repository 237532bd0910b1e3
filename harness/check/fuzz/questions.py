"""The messages between a fuzzing run and the processes of its sides: questions and answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from impls.core.model.model import Model

Call = Literal["encode", "encode_batch", "encode_array", "encode_threads", "decode"]
CALLS: tuple[Call, ...] = ("encode_batch", "encode", "encode_array")
"""The calls that encode on one thread; every implementation must give the same ids by each."""


@dataclass(frozen=True, slots=True)
class Question:
    """Texts to encode with a model: a name or path that `load_model` takes, or the model itself.

    For `decode` each text is a list of ids as written by `text_of_ids`.
    """

    model: str | Model
    texts: list[str]
    call: Call = "encode"
    allow_special: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text was not encoded, or a list of ids not decoded."""

    kind: str
    """Name of the exception, or 'timeout', 'out-of-memory' or 'crash'."""
    message: str


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """Why the model could not be loaded at all."""

    status: Literal["unsupported", "missing", "failed"]
    reason: str


Answer = bytes | Failure
"""Ids of one text as little-endian uint32 (for `decode`: the text as UTF-8), or a failure."""
Answers = list[Answer] | LoadFailure
"""One per text of a question, in order."""


def text_of_ids(ids: Iterable[int]) -> str:
    """Return a list of ids as a text with one character for each, so that it is sent and shrunk as texts are."""
    return "".join(map(chr, ids))


def ids_of(answer: Answer) -> list[int] | None:
    """Return the ids, or None for a failure."""
    if isinstance(answer, Failure):
        return None
    return list(memoryview(answer).cast("I")) if answer else []


def same(a: Answer, b: Answer) -> bool:
    """Whether two sides agree: the same ids, or neither encodes the text."""
    if isinstance(a, Failure) or isinstance(b, Failure):
        return isinstance(a, Failure) and isinstance(b, Failure)
    return a == b
