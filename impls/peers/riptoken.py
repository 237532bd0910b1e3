"""riptoken: tiktoken's algorithm and interface anew. Not exact: a long piece gets other ids, as a run of letters.

It decodes an id it has not to nothing.
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
        """Ids of a text in which nothing is special."""
        ids: list[int] = self._core.encode_ordinary(text)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; by the library's pool where that has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._core.encode_ordinary_batch(list(texts))
        return found

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes the ids stand for, by the library where it has all of them."""
        return decoded(self, self._core.decode_bytes, ids)
