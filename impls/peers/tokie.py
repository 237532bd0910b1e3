"""tokie: encodes by backtracking with a splitter for each known pattern. Not exact: it splits a tab and `'s` wrongly.

It silently replaces an unknown pattern by GPT-2's; such models are refused here. It has no setting for threads: long
texts and batches use all cores the process may run on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.operations import pieces
from impls.peers.conversion import file_of, plain_pattern, rayon_threads, tokenizer_json
from impls.peers.peer import Peer, library

tokie = library("tokie", "tokie", "tokie")

_PATTERNS = (NAMED["gpt2"], NAMED["cl100k"], NAMED["o200k"])


class Tokie(Peer):
    """`tokie.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "tokie"
    summary: ClassVar[str] = "Rust: backtracking, a splitter for each known pattern"

    def _load(self, model: Model) -> Any:
        if plain_pattern(model) not in _PATTERNS:
            reason = "it splits by GPT-2's, cl100k's and o200k's patterns, and by GPT-2's for any other"
            raise Unsupported(self.name, reason)
        if None in model.tokens:
            gap = model.tokens.index(None)
            raise Unsupported(self.name, f"it numbers tokens without a gap, and this model has none with the id {gap}")
        with file_of(tokenizer_json(self.name, model), "tokenizer.json") as path:
            return tokie.Tokenizer.from_json(path)

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode(text, False).ids

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's threads if all cores are to be used."""
        if threads == 1 or threads != rayon_threads():
            return super().encode_normalized_batch(texts, threads)
        return [found.ids for found in self._library.encode_batch(list(texts), False)]

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes, if not UTF-8 by the library's rule: text and bytes are one piece."""
        return pieces.encode_bytes(self, data, self._library.encode_bytes)

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(self._library.count_tokens, text, at_most)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library panics for unknown ids, special ones included."""
        return self._bytes_unless_refused(self._library.decode_bytes, ids, panics=True)
