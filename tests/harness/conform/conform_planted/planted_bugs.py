"""Right tokenizers, and ones with a planted bug in how a text or a piece becomes ids.

`FAULTS` maps each wrong one to what finds it. The model is that of the environment variable PLANTED_MODEL.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import regex

import impls
from harness.data import load_model
from impls.core.text.text import repair_surrogates


class Finding(NamedTuple):
    """The check that finds a fault, the stage it names (None: any), part of its reason, the longest counterexample."""

    check: str
    stage: str | None
    reason: str = ""
    n_characters: int | None = None


FAULTS: dict[str, tuple[type[Right], Finding]] = {}


def found_by(
    check: str, stage: str | None, reason: str = "", n_characters: int | None = None
) -> Callable[[type[Any]], type[Any]]:
    """Note what finds the class; the same class may be found by several checks."""

    def note(wrong: type[Right]) -> type[Right]:
        FAULTS[f"{wrong.__name__}: {check}"] = wrong, Finding(check, stage, reason, n_characters)
        return wrong

    return note


def answers(name: str, finding: tuple[str, str], method: str, change: Callable[..., Any]) -> None:
    """Note a wrong tokenizer in which `change(argument, answer)` is the answer of one method."""

    def changed(self: Any, given: Any, **options: Any) -> Any:
        return change(given, getattr(Full, method)(self, given, **options))

    found_by(*finding)(type(name, (Full,), {method: changed}))


@cache
def model() -> impls.Model:
    return load_model(os.environ["PLANTED_MODEL"])


class Right:
    """The minimal adapter over an implementation known to be right."""

    inner = "tiktoken"

    def __init__(self) -> None:
        self.tokenizer = impls.load(self.inner, model())
        self.split = self.tokenizer.model.splitter.split

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)


class Full(Right):
    """Right, with every optional operation."""

    def __init__(self) -> None:
        super().__init__()
        self.special_tokens = dict(model().special_tokens)
        self.n_vocab = model().vocab_size
        self.pieces = self.split

    def encode(self, text: str, allowed_special=(), disallowed_special=()) -> list[int]:
        return self.tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def encode_array(self, text: str):
        return self.tokenizer.encode_array(text, disallowed_special=())

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.tokenizer.decode_bytes(ids)

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        return self.tokenizer.decode_with_offsets(ids)

    def encode_with_offsets(self, text: str):
        return self.tokenizer.encode_with_offsets(text, disallowed_special=())

    def decoder(self):
        return self.tokenizer.decoder()

    def count(self, text: str, at_most: int | None = None) -> int:
        return self.tokenizer.count(text, at_most)

    def fits(self, text: str, n_tokens: int) -> bool:
        return self.tokenizer.fits(text, n_tokens)

    def truncate(self, text: str, n_tokens: int, *, side="right", whole="token") -> str:
        return self.tokenizer.truncate(text, n_tokens, side=side, whole=whole)

    def save(self, path: str) -> None:
        model().save(path)

    def load(self, path: str) -> None:
        self.tokenizer = impls.load(self.inner, impls.Model.load(path))


class Piecewise(Right):
    """Encodes piece by piece; the fault is in `piece_ids`."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self.split(repair_surrogates(text)):
            if piece not in self.cache:
                self.cache[piece] = self.piece_ids(piece)
            ids += self.cache[piece]
        return ids

    def piece_ids(self, piece: str) -> list[int]:
        return self.tokenizer.encode(piece, disallowed_special=())


@found_by("ids", "merges")
class OffByOneAtAHundred(Piecewise):
    """From 100 bytes on the last character is never merged."""

    def piece_ids(self, piece: str) -> list[int]:
        if len(piece.encode()) < 100:
            return super().piece_ids(piece)
        return super().piece_ids(piece[:-1]) + super().piece_ids(piece[-1])


@found_by("ids", "pieces or merges", n_characters=12)
class Rightmost(Piecewise):
    """Of equally ranked pairs the rightmost is merged."""

    def piece_ids(self, piece: str) -> list[int]:
        ranks = ranks_of_model()
        if len(piece) > 300 or model().whole_piece(piece) is not None:
            return super().piece_ids(piece)
        parts = [bytes([byte]) for byte in piece.encode()]
        while len(parts) > 1:
            known = [ranks.get(parts[k] + parts[k + 1], len(ranks)) for k in range(len(parts) - 1)]
            lowest = min(known)
            if lowest == len(ranks):
                break
            at = len(known) - 1 - known[::-1].index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [model().id_by_token[part] for part in parts]


@cache
def ranks_of_model() -> dict[bytes, int]:
    tokens, merges = model().tokens, model().merges
    if not merges:
        return model().id_by_token
    return {tokens[left] + tokens[right]: rank for rank, (left, right) in enumerate(merges)}


@found_by("code-points", "normalisation", n_characters=12)
@found_by("round-trip", "normalisation", n_characters=12)
class DropsUncovered(Right):
    """Its pattern does not cover an underscore, and `findall` skips what does not match."""

    pattern = regex.compile(r"[^_]+")

    def encode(self, text: str) -> list[int]:
        return [i for part in self.pattern.findall(text) for i in super(DropsUncovered, self).encode(part)]


@found_by("special-tokens", "special tokens", n_characters=12)
class SpecialsAlways(Right):
    """Always reads the text of a special token as the special token."""

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, allowed_special="all")


@found_by("ids", "normalisation", n_characters=12)
class LowersDottedI(Right):
    """Lower-cases İ, and nothing else."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("İ", "İ".lower()))


@found_by("state", "cache", n_characters=12)
class HashCache(Piecewise):
    """Caches pieces by a 16-bit hash, without comparing the piece."""

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self.split(repair_surrogates(text)):
            key = str(zlib.crc32(piece.encode()) & 0xFFFF)
            if key not in self.cache:
                self.cache[key] = self.piece_ids(piece)
            ids += self.cache[key]
        return ids


@found_by("threads", "threads", n_characters=12)
class ThreadRace(Right):
    """Keeps the text in the object while encoding, where two threads collide."""

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)

    def encode(self, text: str) -> list[int]:
        self.text = text
        if threading.current_thread() is not threading.main_thread():
            try:
                self.meeting.wait(0.02)
            except threading.BrokenBarrierError:
                self.meeting.reset()
        return super().encode(self.text)


@found_by("round-trip", "decode", n_characters=12)
class DecodesByToken(Right):
    """Decodes token by token, so that a character split between tokens becomes U+FFFD."""

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokenizer.decode([i]) for i in ids)
