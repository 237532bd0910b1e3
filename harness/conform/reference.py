"""The reference: its answers to the same requests, including the cases in which it refuses too."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from math import inf
from typing import Any, TypeVar

import impls
from harness.conform.digests import DIGEST, OF_IDS, Digests
from harness.failures import message_of
from harness.process.memory import busy_seconds
from harness.process.protocol import ErrorResult
from harness.process.session import Failed, FailedError

T = TypeVar("T")

_LONGEST_OF_PURE = 20_000
"""Longest text, in characters, for a reference in pure Python: some take time quadratic in a piece's length."""
_LONGEST_REMEMBERED = 20_000  # characters; longer texts are encoded once or twice only
Answer = list[int] | Failed


class Reference:
    """One of our implementations over the model; whatever it raises becomes a `Failed`."""

    def __init__(self, name: str, model_name: str, model: impls.Model) -> None:
        """Load it. Raises `Unsupported`, `Missing` or `UnknownName` if the implementation cannot run the model."""
        self.name, self.model_name, self.model = name, model_name, model
        self.tokenizer = impls.load(name, model)
        self._known: dict[str, Answer] = {}
        self.characters_per_second = inf
        """Its speed in the latest `digests`."""
        self.longest = _LONGEST_OF_PURE if self.tokenizer.kind == "pure" else sys.maxsize
        """Length in characters of the longest text it should be given."""

    def ids(self, text: str) -> Answer:
        """Return its ids of `text`, special tokens read as ordinary text; those of short texts are remembered."""
        known = self._known.get(text)
        if known is None:
            known = self.encode(text)
            if len(text) <= _LONGEST_REMEMBERED:
                self._known[text] = known
        return known

    def encode(self, text: str, **rule: Any) -> Answer:
        """Return its ids of `text` by the rule for special tokens, which are ordinary text without one."""
        with _silent() if len(text) > _LONGEST_REMEMBERED else nullcontext():
            return _or_failed(partial(self.tokenizer.encode, text, **{"disallowed_special": (), **rule}))

    def digests(self, texts: Sequence[str], calls: Sequence[str]) -> Digests:
        """Return the digests that right answers to these calls have."""
        began = busy_seconds()
        lists = [self.encode(text) for text in texts]
        encoded = [digest_of("encode", ids) for ids in lists]
        right: Digests = dict.fromkeys(("encode", *calls), encoded)
        if "count" in calls:
            right["count"] = [None if isinstance(ids, Failed) else len(ids) for ids in lists]
        for call in {*OF_IDS}.intersection(calls):
            answers = (ids if isinstance(ids, Failed) else self.answer(call, ids) for ids in lists)
            right[call] = [digest_of(call, answer) for answer in answers]
        self.characters_per_second = sum(map(len, texts)) / max(busy_seconds() - began, 1e-6)
        return right

    def answer(self, operation: str, given: Any, **options: Any) -> Any:
        """Return the right answer to a call on a text or ids that follows from `encode` and `decode`."""
        if operation == "encode_array":
            return self.ids(given)
        if operation == "encode_with_offsets":
            answer = _or_failed(lambda: self.tokenizer.encode_with_offsets(given, disallowed_special=()))
            return answer if isinstance(answer, Failed) else (answer[0], list(map(tuple, answer[1].tolist())))
        return _or_failed(lambda: getattr(self.tokenizer, operation)(given, **options))

    def decode(self, ids: Sequence[int]) -> str | Failed:
        """Return its text of the ids."""
        return _or_failed(lambda: self.tokenizer.decode(ids))

    def back(self, text: str) -> str | Failed:
        """Return what it decodes its ids of `text` to."""
        ids = self.ids(text)
        return ids if isinstance(ids, Failed) else self.decode(ids)

    @cached_property
    def bytes_by_id(self) -> dict[int, bytes]:
        """Return the bytes of each id of the model."""
        return self.model.bytes_by_id()

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` by the model's pattern, special tokens read as ordinary text."""
        return self.tokenizer.pieces(text)


@contextmanager
def _silent() -> Iterator[None]:
    """Discard standard error: a Rust panic writes a page to it, but is an ordinary answer here."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def digest_of(call: str, answer: Any) -> int | None:
    """Return the digest of an answer to a call, None for a failure."""
    return None if isinstance(answer, Failed) else DIGEST[call](answer)


def value_of(answer: T | Failed) -> T:
    """Return an answer. Raises `FailedError` if there is none."""
    if isinstance(answer, Failed):
        raise FailedError(answer)
    return answer


def _or_failed(call: Callable[[], T]) -> T | Failed:
    """Return the result of a call, or the error it raises as a `Failed`."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        return Failed.by(ErrorResult(type(error).__name__, message_of(error)[:200]))
