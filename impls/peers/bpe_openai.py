"""bpe-openai: encodes by backtracking over compatible tokens behind tiktoken's interface. cl100k and o200k, built in.

It refuses texts of a million characters or of more than 200,000 tokens. It decodes in Python, as `Tokenizer` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.operations import pieces
from impls.peers.conversion import require_public
from impls.peers.peer import Peer, library

bpe_openai = library("bpe-openai", "bpe-openai", "bpe_openai")

_NAMES = ("cl100k_base", "o200k_base")


class BpeOpenai(Peer):
    """`bpe_openai.Encoding` of the same name as the model."""

    name: ClassVar[str] = "bpe-openai"
    summary: ClassVar[str] = "Rust: backtracking, tiktoken's interface; cl100k and o200k only"

    def _load(self, model: Model) -> Any:
        return bpe_openai.get_encoding(require_public(self.name, model, _NAMES))

    def encode_normalized(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens; raise `Unsupported` for one too long for the library."""
        try:
            return self._library.encode_ordinary(text)
        except (ValueError, bpe_openai.TokenLimitError) as error:
            raise self._too_long(error) from None

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text, by the library's own threads."""
        if threads == 1:
            return super().encode_normalized_batch(texts, threads)
        try:
            return self._library.encode_ordinary_batch(texts, num_threads=threads)
        except (ValueError, bpe_openai.TokenLimitError) as error:
            raise self._too_long(error) from None

    def encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes, if not UTF-8 by the library's rule: text and bytes are one piece."""
        return pieces.encode_bytes(self, data, self._library._encode_bytes)

    def _too_long(self, error: Exception) -> Unsupported:
        return Unsupported(self.name, f"it refuses long texts: {error}")
