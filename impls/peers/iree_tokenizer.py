"""iree-tokenizer: IREE's streaming tokenizer in C. Not exact: `/compile` under cl100k is `/com` and `pile`.

Its decoder silently skips unknown ids; invalid UTF-8 is left to `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from impls.core.model import Model
from impls.peers.conversion import tokenizer_json
from impls.peers.peer import Peer, library

iree_tokenizer = library("iree-tokenizer", "iree-tokenizer", "iree.tokenizer")


class IreeTokenizer(Peer):
    """`iree.tokenizer.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "iree-tokenizer"
    summary: ClassVar[str] = "C: streaming, bounded memory"
    surrogate_errors = (TypeError,)

    def _load(self, model: Model) -> Any:
        return iree_tokenizer.Tokenizer.from_buffer(tokenizer_json(self.name, model))

    def encode_normalized_array(self, text: str) -> np.ndarray:
        """Return the ids of `encode_normalized` as a view of the array the library makes."""
        return self._library.encode_to_array(text).view(np.uint32)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; the library's batch call uses one thread, and releases the GIL."""
        return self._library.encode_batch(texts) if threads == 1 else super().encode_normalized_batch(texts, threads)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them and they are valid UTF-8."""
        return self._text_if_known(self._library.decode, ids, errors)
