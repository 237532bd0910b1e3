"""rs-bpe: encodes by backtracking over compatible tokens, linear in the text; only cl100k and o200k, built in.

Its thread pool keeps the vocabulary it was first used with, whichever tokenizer uses it (`abc` by o200k after cl100k
gives cl100k's 13997); so only the first model of a process uses the pool. It silently skips unknown ids when it
decodes, and returns None for invalid UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from impls.core.model import Model
from impls.peers.conversion import require_public
from impls.peers.peer import Peer, library

openai = library("rs-bpe", "rs-bpe", "rs_bpe.bpe").openai

_NAMES = ("cl100k_base", "o200k_base")
_TEXTS_PER_TASK = 100
_LEAST_TEXTS = 20
_POOL: dict[str, str] = {}
"""The model the library's thread pool uses in this process."""


class RsBpe(Peer):
    """`rs_bpe`'s tokenizer of the same name as the model."""

    name: ClassVar[str] = "rs-bpe"
    summary: ClassVar[str] = "Rust: backtracking; cl100k and o200k only"

    def _load(self, model: Model) -> Any:
        self._public_name = require_public(self.name, model, _NAMES)
        return getattr(openai, self._public_name)()

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text, in tasks of the size in the library's documentation."""
        if threads == 1 or _POOL.setdefault("model", self._public_name) != self._public_name:
            return super().encode_normalized_batch(texts, threads)
        options = openai.ParallelOptions(min_batch_size=_LEAST_TEXTS, chunk_size=_TEXTS_PER_TASK, max_threads=threads)
        return self._library.encode_batch_parallel(list(texts), options)[0]

    def count(self, text: str, at_most: int | None = None) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return self._counted(self._library.count, text, at_most)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them and they are valid UTF-8."""
        return self._text_if_known(self._library.decode, ids, errors)
