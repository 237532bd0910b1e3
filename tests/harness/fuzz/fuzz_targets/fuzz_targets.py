"""Tokenizers with a planted fault each, named to the fuzzer as `fuzz_targets:NAME`."""

from __future__ import annotations

import codecs
import os
import threading
import time
import zlib
from itertools import pairwise
from typing import Any

import impls
from impls.core.text.patterns import Splitter


class _Over:
    """The least a target must have, over the reference."""

    def __init__(self, model: impls.Model) -> None:
        self._inner = impls.load("priority", model)

    def encode(self, text: str) -> list[int]:
        return self._inner.encode(text, disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return self._inner.decode(ids)


class Right(_Over):
    """No fault."""


class SwapsBehindDottedI(_Over):
    """Wrong only where a combining dot follows a letter i."""

    def encode(self, text: str) -> list[int]:
        return super().encode(text.replace("i\u0307", "\u0307i"))


class DiesOfNul(_Over):
    """Takes its process with it."""

    def encode(self, text: str) -> list[int]:
        if "\x00" in text:
            os._exit(3)
        return super().encode(text)


class Forgetful(_Over):
    """Wrong the first time a text is seen, and never again."""

    seen = 0

    def encode(self, text: str) -> list[int]:
        self.seen += 1
        return super().encode(text)[::-1] if self.seen == 100 else super().encode(text)


class KnowsNewLetters(impls.Tokenizer):
    """Splits by a Unicode version in which all of the fourth plane are letters."""

    name = "knows-new-letters"

    def __init__(self, model: impls.Model) -> None:
        super().__init__(model)
        letters = r"\p{L}\U00030000-\U0003fffd"
        stages = [
            stage.replace(r"\p{L}+", f"[{letters}]+").replace(r"[^\s\p{L}", rf"[^\s{letters}")
            for stage in model.pattern
        ]
        self._inner = impls.load("priority", model)
        self._splitter = Splitter(stages)

    def encode_normalized(self, text: str) -> list[int]:
        return [i for piece in self._splitter.split(text) for i in self._inner.encode_piece(piece)]


class Replays(impls.Tokenizer):
    """Replays merges in rank order, which differs from the rest on a list that is not monotone."""

    name = "replays"

    def encode_piece(self, piece: str) -> list[int]:
        ids, merge_of, done = self.model.symbols(piece), self.model.merge_of, -1
        while later := [m for pair in pairwise(ids) if (m := merge_of(*pair)) and m[0] > done]:
            done, merged = min(later)
            result = ids[:1]
            for i in ids[1:]:
                result[-1:] = [merged] if merge_of(result[-1], i) == (done, merged) else [result[-1], i]
            ids = result
        return ids


class RefusesShortTexts(_Over):
    """Wrong where there is an x, but a text of less than three characters is an error."""

    def encode(self, text: str) -> list[int]:
        if len(text) < 3:
            raise ValueError(text)
        return super().encode(text)[::-1] if "x" in text else super().encode(text)


class Hangs(_Over):
    """Never answers a text with a NUL."""

    def encode(self, text: str) -> list[int]:
        while "\x00" in text:
            time.sleep(1)
        return super().encode(text)


class Refuses(_Over):
    """Runs no model at all."""

    def __init__(self, model: impls.Model) -> None:
        raise impls.Unsupported("refuses", "only models of a certain kind")


class RefusesTexts(_Over):
    """Runs every model on no text."""

    def encode(self, text: str) -> list[int]:
        raise ValueError(text)


class DropsCutCharacter(_Over):
    """An incremental decoder that is never finished."""

    def decode(self, ids: list[int]) -> str:
        return codecs.getincrementaldecoder("utf-8")("replace").decode(self._inner.decode_bytes(ids))


class WrongPast64K(_Over):
    """Keeps the number of bytes in 16 bits."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids[:-1] if len(text.encode("utf-8", "replace")) > 65_535 else ids


class OneInManyTexts(_Over):
    """One text in 2,000 is wrong, by its hash."""

    def encode(self, text: str) -> list[int]:
        ids = super().encode(text)
        return ids[:-1] if zlib.crc32(text.encode("utf-8", "replace")) % 2_000 == 77 else ids


class SharedText(_Over):
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
