"""tuetoken: encodes by merging in linear time with a cache of pieces; it refuses what it cannot reproduce.

It decodes only to text, and silently skips unknown ids, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import any_json, counted, file_of, has_plain_rules
from impls.peers.packages import library, loading

tuetoken = library("tuetoken", "tuetoken", "tuetoken")


class Tuetoken(Tokenizer):
    """`tuetoken.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "tuetoken"
    summary: ClassVar[str] = "Rust: linear merging, buffers for arrays"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        self.normalizes = has_plain_rules(model)
        super().__init__(model)
        self._tokenizer: Any
        with loading(self.name), file_of(any_json(self.name, model), "tokenizer.json") as path:
            self._tokenizer = tuetoken.Tokenizer(path)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode_ordinary(text)
        return ids

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """As `_encode_text`, as a read-only view of the library's buffer."""
        return np.frombuffer(self._tokenizer.encode_to_bytes(text), np.uint32)

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text, by the library's own threads."""
        found: list[list[int]] = self._tokenizer.encode_ordinary_batch(list(texts), threads)
        return found

    def _encode_texts_to_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As `_encode_texts`, as the library's arrays."""
        found = self._tokenizer.encode_ordinary_to_buffer(list(texts), threads)
        return found["data"], found["offsets"]

    def count(self, text: str) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return counted(self, self._tokenizer.count_tokens, text)
