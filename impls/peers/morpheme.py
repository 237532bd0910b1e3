"""morpheme: encodes with offsets and masks, as Hugging Face's library does; only to lists.

It decodes only to text, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import any_json, counted, has_plain_rules, rayon_threads
from impls.peers.packages import library, loading

morpheme = library("morpheme", "morpheme", "morpheme")


class Morpheme(Tokenizer):
    """`morpheme.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "morpheme"
    summary: ClassVar[str] = "Rust: reads tokenizer.json, gives offsets with ids"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        self.normalizes = has_plain_rules(model)
        super().__init__(model)
        self._tokenizer: Any
        with loading(self.name):
            self._tokenizer = morpheme.Tokenizer.from_str(any_json(self.name, model).decode())

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text, False).ids
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super()._encode_texts(texts, threads)
        return [found.ids for found in self._tokenizer.encode_batch(list(texts), False)]

    def count(self, text: str) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return counted(self, lambda given: int(self._tokenizer.count(given, False)), text)
