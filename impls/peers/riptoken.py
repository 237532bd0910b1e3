"""riptoken: a reimplementation of tiktoken. Not exact: a long piece, such as a run of letters, gets other ids.

It silently skips unknown ids when it decodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from impls.core.model import Model
from impls.peers.conversion import one_pattern_of, rayon_threads
from impls.peers.peer import Peer, library
from impls.production.libraries import ranks_for

riptoken = library("riptoken", "riptoken", "riptoken")


class Riptoken(Peer):
    """`riptoken.CoreBPE` over the model's ranks."""

    name: ClassVar[str] = "riptoken"
    summary: ClassVar[str] = "Rust: tiktoken's interface, looks joined bytes up"

    def _load(self, model: Model) -> Any:
        return riptoken.CoreBPE(ranks_for(self.name, model), {}, one_pattern_of(model))

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode_ordinary(text)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super().encode_normalized_batch(texts, threads)
        return self._library.encode_ordinary_batch(list(texts))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if each belongs to a token."""
        return self._bytes_if_known(self._library.decode_bytes, ids)
