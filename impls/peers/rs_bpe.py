"""rs-bpe: encodes by backtracking over compatible tokens, linear in the text; only cl100k and o200k, built in.

Its thread pool keeps the vocabulary it was first used with, whichever tokenizer uses it (`abc` by o200k after cl100k
gives cl100k's 13997); so only the first model of a process uses the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import counted, require_public
from impls.peers.packages import library

openai = library("rs-bpe", "rs-bpe", "rs_bpe.bpe").openai

_NAMES = ("cl100k_base", "o200k_base")
_TEXTS_PER_TASK = 100
_LEAST_TEXTS = 20
_POOL: dict[str, str] = {}
"""The model the library's thread pool uses in this process."""


class RsBpe(Tokenizer):
    """`rs_bpe`'s tokenizer of the same name as the model."""

    name: ClassVar[str] = "rs-bpe"
    summary: ClassVar[str] = "Rust: backtracking; cl100k and o200k only"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._public_name = require_public(self.name, model, _NAMES)
        self._tokenizer: Any = getattr(openai, self._public_name)()
        self._n_tokens = len(model.tokens)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text, in tasks of the size in the library's documentation."""
        if threads == 1 or _POOL.setdefault("model", self._public_name) != self._public_name:
            return super()._encode_texts(texts, threads)
        options = openai.ParallelOptions(min_batch_size=_LEAST_TEXTS, chunk_size=_TEXTS_PER_TASK, max_threads=threads)
        found: list[list[int]] = self._tokenizer.encode_batch_parallel(list(texts), options)[0]
        return found

    def count(self, text: str) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return counted(self, self._tokenizer.count, text)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them: it may silently skip others.

        It returns None for invalid UTF-8, which is then left to `Tokenizer`.
        """
        ids = id_list(ids)
        try:
            if errors == "replace" and ids and max(ids) < self._n_tokens and min(ids) >= 0:
                text: str | None = self._tokenizer.decode(ids)
                if text is not None:
                    return text
        except TypeError:
            pass
        return super().decode(ids, errors)
