"""morpheme: encodes with offsets and masks, as Hugging Face's library does; only to lists.

It decodes only to text, so ids are decoded by `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from impls.core.model import Model
from impls.peers.conversion import any_json, rayon_threads
from impls.peers.peer import Peer, library

morpheme = library("morpheme", "morpheme", "morpheme")


class Morpheme(Peer):
    """`morpheme.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "morpheme"
    summary: ClassVar[str] = "Rust: reads tokenizer.json, gives offsets with ids"
    reads_sentencepiece = True

    def _load(self, model: Model) -> Any:
        return morpheme.Tokenizer.from_str(any_json(self.name, model).decode())

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode(text, False).ids

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super().encode_normalized_batch(texts, threads)
        return [found.ids for found in self._library.encode_batch(list(texts), False)]

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(lambda given: int(self._library.count(given, False)), text, at_most)
