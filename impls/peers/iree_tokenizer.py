"""iree-tokenizer: IREE's streaming tokenizer in C. Not exact: `/compile` under cl100k is `/com` and `pile`.

Its decoder silently skips unknown ids, so the largest id is checked first; invalid UTF-8 is left to `Tokenizer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import tokenizer_json
from impls.peers.packages import library, loading

iree_tokenizer = library("iree-tokenizer", "iree-tokenizer", "iree.tokenizer")


class IreeTokenizer(Tokenizer):
    """`iree.tokenizer.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "iree-tokenizer"
    summary: ClassVar[str] = "C: streaming, bounded memory"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (TypeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._tokenizer = _tokenizer(model)
        tokens = model.tokens
        self._n_dense = tokens.index(None) if None in tokens else len(tokens)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text)
        return ids

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """As `_encode_text`, as a view of the array the library makes."""
        ids: np.ndarray = self._tokenizer.encode_to_array(text)
        return ids.view(np.uint32)

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; the library's batch call uses one thread, and releases the GIL."""
        if threads > 1:
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._tokenizer.encode_batch(texts)
        return found

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the text of the ids, by the library if it knows all of them and they are valid UTF-8."""
        ids = id_list(ids)
        try:
            if errors == "replace" and ids and max(ids) < self._n_dense and min(ids) >= 0:
                text: str = self._tokenizer.decode(ids)
                if "\ufffd" not in text:
                    return text
        except TypeError:
            pass
        return super().decode(ids, errors)


def _tokenizer(model: Model) -> Any:
    name = IreeTokenizer.name
    with loading(name):
        return iree_tokenizer.Tokenizer.from_buffer(tokenizer_json(name, model))
