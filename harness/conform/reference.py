"""The reference's side: its answers to the same questions, and the cases in which it does not answer itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import impls
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates

_LONGEST_OF_PURE = 20_000
"""Characters a reference in pure Python is asked for at once: some take the square of a piece's length."""
_LONGEST_REMEMBERED = 20_000  # characters; longer texts are asked for once or twice only


@dataclass(frozen=True, slots=True)
class Refused:
    """Asked for an answer, it raised an error, or its process ended."""

    kind: str
    """The name of the error, or the verdict on the process: timeout, crash, panic, out-of-memory, protocol."""
    message: str
    fatal: bool = False
    """Whether the process is gone."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


Answer = list[int] | Refused


class Reference:
    """One of our implementations over the model; nothing it raises gets out of here."""

    def __init__(self, name: str, model_name: str, model: impls.Model) -> None:
        """Raises `Unsupported`, `Missing` or `UnknownName` where the implementation cannot run the model."""
        self.name, self.model_name, self.model = name, model_name, model
        self.tokenizer = impls.load(name, model)
        self.splitter = Splitter(model.pattern)
        self._known: dict[str, Answer] = {}
        self.longest = _LONGEST_OF_PURE if self.tokenizer.kind == "pure" else sys.maxsize
        """Characters of the longest text it should be asked for."""

    def ids(self, text: str) -> Answer:
        """Its ids of `text`, special text read as ordinary text."""
        known = self._known.get(text)
        if known is None:
            known = self.ask(text)
            if len(text) <= _LONGEST_REMEMBERED:
                self._known[text] = known
        return known

    def ask(self, text: str) -> Answer:
        """As `ids`, never from memory."""
        try:
            if len(text) <= _LONGEST_REMEMBERED:
                return self.tokenizer.encode(text, disallowed_special=())
            with _silent():
                return self.tokenizer.encode(text, disallowed_special=())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a Rust panic is no Exception
            return refusal(error)

    def encode(
        self, text: str, allowed_special: Sequence[str] | str, disallowed_special: Sequence[str] | str
    ) -> Answer:
        """Its ids of `text` by the rules for special tokens."""
        try:
            return self.tokenizer.encode(
                text,
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
            )
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return refusal(error)

    def decode(self, ids: Sequence[int]) -> str | Refused:
        """Its text of the ids."""
        try:
            return self.tokenizer.decode(ids)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return refusal(error)

    @cached_property
    def bytes_by_id(self) -> dict[int, bytes]:
        """What each id of the model stands for."""
        return self.model.bytes_by_id()

    def gives_back(self, text: str) -> bool:
        """Whether it answers at all, and brings `text` back from its ids."""
        ids = self.ids(text)
        return not isinstance(ids, Refused) and self.decode(ids) == text

    def pieces(self, text: str) -> list[str]:
        """What the model's pattern cuts `text` into, special text read as ordinary text."""
        return self.splitter.split(self.model.normalize(repair_surrogates(text)))


@contextmanager
def _silent() -> Iterator[None]:
    """What is written to standard error meanwhile is dropped: a panic of Rust prints a page, and is an answer here."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def refusal(error: BaseException) -> Refused:
    """An error as an answer."""
    return Refused(type(error).__name__, " ".join(str(error).split())[:200])
