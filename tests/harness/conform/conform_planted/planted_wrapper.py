"""Right tokenizers, and the wrapper that plants a fault in one: a line says what it is and what finds it.

`FAULTS` maps each wrong one to its finding. The model is that of the environment variable PLANTED_MODEL.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from itertools import count
from typing import Any, NamedTuple

import impls
from harness.data import load_model
from impls.core.text.text import repair_surrogates


class Finding(NamedTuple):
    """The check that finds a fault, the stage it names (None: any), part of its reason, the longest counterexample."""

    check: str
    stage: str | None
    reason: str = ""
    n_characters: int = 1 << 20


FAULTS: dict[str, tuple[type[Right], Finding]] = {}


@cache
def model() -> impls.Model:
    return load_model(os.environ["PLANTED_MODEL"])


class Right:
    """The minimal adapter over an implementation known to be right."""

    inner = "tiktoken"

    def __init__(self) -> None:
        self.tokenizer = impls.load(self.inner, model())
        self.split = self.tokenizer.model.splitter.split
        self.kept: dict[Any, Any] = {}
        self.numbers = count(1)
        self.latest: Any = []

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)


class Stream:
    """Decodes all ids so far at every push; the fault is in `settled` or `finish`."""

    def __init__(self, tokenizer: Right) -> None:
        self.tokenizer, self.ids, self.shown = tokenizer, list[int](), 0

    def settled(self, text: str) -> str:
        return text

    def push(self, ids: list[int]) -> str:
        self.ids += ids
        new = self.settled(self.tokenizer.decode(self.ids))[self.shown :]
        self.shown += len(new)
        return new

    def finish(self) -> str:
        return self.tokenizer.decode(self.ids)[self.shown :]


class Grown:
    """A growing text with its ids; the fault is in one of the methods."""

    n_stable = 0

    def __init__(self, tokenizer: Any, text: str = "") -> None:
        self.tokenizer, self.text, self.ids = tokenizer, text, Right.encode(tokenizer, text)

    def append(self, text: str) -> None:
        self.replace(len(self.text), len(self.text), text)

    def replace(self, start: int, stop: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[stop:]
        self.ids = Right.encode(self.tokenizer, self.text)

    def copy(self) -> Any:
        return type(self)(self.tokenizer, self.text)


class Full(Right):
    """Right, with every optional operation."""

    def __init__(self) -> None:
        super().__init__()
        self.special_tokens = dict(model().special_tokens)
        self.n_vocab = model().vocab_size

    def pieces(self, text: str) -> list[str]:
        return self.split(text)

    def encode(self, text: str, allowed_special: Any = (), disallowed_special: Any = ()) -> list[int]:
        return self.tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def encode_array(self, text: str) -> Any:
        return self.tokenizer.encode_array(text, disallowed_special=())

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.tokenizer.decode_bytes(ids)

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        return self.tokenizer.decode_with_offsets(ids)

    def encode_with_offsets(self, text: str) -> Any:
        return self.tokenizer.encode_with_offsets(text, disallowed_special=())

    def decoder(self) -> Any:
        return self.tokenizer.decoder()

    def incremental(self) -> Any:
        return Grown(self)

    def count(self, text: str, at_most: int | None = None) -> int:
        return self.tokenizer.count(text, at_most)

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)

    def truncate(self, text: str, n_tokens: int, *, side: Any = "right", whole: Any = "token") -> str:
        return self.tokenizer.truncate(text, n_tokens, side=side, whole=whole)


Change = Callable[..., Any]


def changed(base: type[Any], **changes: Change) -> type[Any]:
    """Return a class whose methods answer `change(self, given, the right answer, *options)`."""

    def method(name: str, change: Change) -> Any:
        @wraps(getattr(base, name))  # the adapter looks at its signature
        def call(self: Any, *given: Any, **options: Any) -> Any:
            return change(self, *given[:1], getattr(base, name)(self, *given, **options), *given[1:], *options.values())

        return call

    return type("Wrong", (base,), {name: method(name, change) for name, change in changes.items()})


def fault(
    what: str, finding: str, base: type[Any] = Full, reason: str = "", most: int = 1 << 20, **changes: Any
) -> Any:
    """Note a wrong tokenizer: `finding` is the check and the stage it names."""
    check, _, stage = finding.partition(" · ")
    wrong = changed(base, **changes)
    FAULTS[f"{check}: {what}"] = wrong, Finding(check, stage or None, reason, most)
    return wrong


def reading(what: str, finding: str, change: Callable[[str], str], **more: Any) -> Any:
    """Note a tokenizer that reads a text as another."""
    return fault(what, finding, Right, encode=lambda self, text, ids: Right.encode(self, change(text)), **more)


def dies(*given: object) -> Any:
    raise Death("died of it")


class Death(BaseException):
    """Ends the process, as a Rust panic does."""


def remembers(key: Callable[[Any], object]) -> Change:
    """A method that takes what has a key in common for the same."""
    return lambda self, given, right, *options: _copied(self.kept.setdefault(key(given), right))


def _copied(answer: Any) -> Any:
    return list(answer) if isinstance(answer, list) else answer


def piecewise(piece_ids: Callable[[Any, str], list[int]], key: Callable[[str], object] = str) -> Change:
    """An `encode` that merges piece by piece in its own way, and remembers pieces by a key."""

    def encode(self: Any, text: str, right: list[int], *options: Any) -> list[int]:
        ids: list[int] = []
        for piece in self.split(repair_surrogates(text)):
            if key(piece) not in self.kept:
                self.kept[key(piece)] = piece_ids(self, piece)
            ids += self.kept[key(piece)]
        return ids

    return encode
