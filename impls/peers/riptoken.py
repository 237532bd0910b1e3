"""riptoken: a reimplementation of tiktoken. Not exact: a long piece, such as a run of letters, gets other ids.

It silently skips unknown ids when it decodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import decoded, ranks_and_pattern, rayon_threads
from impls.peers.packages import library, loading

riptoken = library("riptoken", "riptoken", "riptoken")


class Riptoken(Tokenizer):
    """`riptoken.CoreBPE` over the model's ranks."""

    name: ClassVar[str] = "riptoken"
    summary: ClassVar[str] = "Rust: tiktoken's interface, looks joined bytes up"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        ranks, pattern = ranks_and_pattern(self.name, model)
        self._core: Any
        with loading(self.name):
            self._core = riptoken.CoreBPE(ranks, {}, pattern)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._core.encode_ordinary(text)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._core.encode_ordinary_batch(list(texts))
        return found

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if each belongs to a token."""
        return decoded(self, self._core.decode_bytes, ids)
