"""What a side is asked and what it answers: the messages between a fuzzing run and the processes of its sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from impls.core.model.model import Model

Call = Literal["encode", "encode_batch", "encode_array", "encode_threads", "decode"]
CALLS: tuple[Call, ...] = ("encode_batch", "encode", "encode_array")
"""The ways to encode on one thread; every implementation owes the same ids by each."""


@dataclass(frozen=True, slots=True)
class Question:
    """Texts to encode with a model: a name or path that `load_model` takes, or the model itself.

    Of `decode` each text is a list of ids as `text_of_ids` writes it.
    """

    model: str | Model
    texts: list[str]
    call: Call = "encode"
    allow_special: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A text was not encoded."""

    kind: str
    """Name of the exception, or 'timeout' or 'crash'."""
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The model could not be loaded at all."""

    status: Literal["unsupported", "missing", "failed"]
    reason: str


Answer = bytes | Failure
"""Ids of one text as little-endian uint32 (of `decode`: the text as UTF-8), or why there are none."""
Answers = list[Answer] | Refused
"""One per text of a question, in order."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a side says when it has started: the releases of what it runs."""

    versions: dict[str, str]


def text_of_ids(ids: Iterable[int]) -> str:
    """A list of ids as a text with a character for each, so that it is sent and made smaller as texts are."""
    return "".join(map(chr, ids))


def ids_of(answer: Answer) -> list[int] | None:
    """The ids, or None for a failure."""
    if isinstance(answer, Failure):
        return None
    return list(memoryview(answer).cast("I")) if answer else []


def same(a: Answer, b: Answer) -> bool:
    """Whether two sides agree: the same ids, or neither encodes the text."""
    if isinstance(a, Failure) or isinstance(b, Failure):
        return isinstance(a, Failure) and isinstance(b, Failure)
    return a == b
