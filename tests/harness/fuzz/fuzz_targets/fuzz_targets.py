"""Tokenizers with a planted fault each, named to the fuzzer as `fuzz_targets:NAME`."""

from __future__ import annotations

import codecs
import os
import threading
import time
from typing import Any

from foreign import Right

import impls


class LongestFirst(Right):
    """Takes the longest token, though it claims to be exact."""

    by = "greedy"


class SwapsBehindDottedI(Right):
    """Wrong only where a combining dot follows a letter i."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("i\u0307", "\u0307i"))


class DiesOrHangs(Right):
    """Takes its process with it at a NUL, and never answers a text with U+0001."""

    def encode(self, text: str) -> list[int]:
        if "\x00" in text:
            os._exit(3)
        while "\x01" in text:
            time.sleep(1)
        return super().encode(text)


class Forgetful(Right):
    """Wrong the first time a text is seen, and never again."""

    seen = 0

    def encode(self, text: str) -> list[int]:
        self.seen += 1
        return super().encode(text)[::-1] if self.seen == 100 else super().encode(text)


class RefusesShortTexts(Right):
    """Wrong where there is an x, but a text of less than three characters is an error."""

    def encode(self, text: str) -> list[int]:
        if len(text) < 3:
            raise ValueError(text)
        return super().encode(text)[::-1] if "x" in text else super().encode(text)


class TakesOneCharacter(Right):
    """Answers only texts of one character."""

    error: type[Exception] = ValueError

    def encode(self, text: str) -> list[int]:
        if len(text) != 1:
            raise self.error(text)
        return super().encode(text)


class RaisesIndexError(TakesOneCharacter):
    """Refuses the others in another way."""

    error = IndexError


class Refuses(Right):
    """Runs no model at all."""

    def __init__(self, model: impls.Model) -> None:
        raise impls.Unsupported("refuses", "only models of a certain kind")


class RefusesTexts(Right):
    """Runs every model on no text."""

    def encode(self, text: str) -> list[int]:
        raise ValueError(text)


class DropsCutCharacter(Right):
    """An incremental decoder that is never finished."""

    def decode(self, ids: list[int]) -> str:
        return codecs.getincrementaldecoder("utf-8")("replace").decode(self._inner.decode_bytes(ids))


class SharedText(Right):
    """Keeps the text in the object while it works."""

    def encode(self, text: str) -> list[int]:
        self.text = text
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.0005)
        return super().encode(self.text)


class SwallowsSpace(impls.Tokenizer):
    """Takes the space before an allowed special token for a part of it."""

    name = "swallows-space"

    def __init__(self, model: impls.Model) -> None:
        super().__init__(model)
        self._inner = impls.load("priority", model)

    def encode_piece(self, piece: str) -> list[int]:
        return self._inner.encode_piece(piece)

    def encode(self, text: str, *, allowed_special: Any = (), disallowed_special: Any = "all") -> list[int]:
        for name in self.model.special_tokens if allowed_special else ():
            text = text.replace(f" {name}", name)
        return super().encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
