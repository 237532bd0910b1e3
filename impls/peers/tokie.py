"""tokie: encodes by backtracking with a splitter for each known pattern. Not exact: it splits a tab and `'s` wrongly.

It silently replaces an unknown pattern by GPT-2's; such models are refused here. It has no setting for threads: long
texts and batches use all cores the process may run on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from impls.core.arguments import id_list
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.patterns import NAMED
from impls.interface import Tokenizer
from impls.peers.conversion import counted, file_of, plain_pattern, rayon_threads, tokenizer_json
from impls.peers.packages import library, loading, refuses

tokie = library("tokie", "tokie", "tokie")

_PATTERNS = (NAMED["gpt2"], NAMED["cl100k"], NAMED["o200k"])


class Tokie(Tokenizer):
    """`tokie.Tokenizer` over the model's tokenizer.json."""

    name: ClassVar[str] = "tokie"
    summary: ClassVar[str] = "Rust: backtracking, a splitter for each known pattern"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._tokenizer = _tokenizer(model)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text, False).ids
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's threads if all cores are to be used."""
        if threads == 1 or threads != rayon_threads():
            return super()._encode_texts(texts, threads)
        return [found.ids for found in self._tokenizer.encode_batch(list(texts), False)]

    def _encode_text_and_bytes(self, text: str, bad: bytes) -> list[int]:
        """Return the ids by the library's own rule, which is not tiktoken's: the text and the bytes are one piece."""
        ids: list[int] = self._tokenizer.encode_bytes(text.encode() + bad)
        return ids

    def count(self, text: str) -> int:
        """Count the ids of `text`, by the library where nothing is recognised in it."""
        return counted(self, self._tokenizer.count_tokens, text)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library panics for unknown ids, special ones included."""
        ids = id_list(ids)
        try:
            data: bytes = self._tokenizer.decode_bytes(ids)
            return data
        except BaseException as error:
            if not refuses(error):
                raise
        return super().decode_bytes(ids)


def _tokenizer(model: Model) -> Any:
    name = Tokie.name
    if plain_pattern(model) not in _PATTERNS:
        raise Unsupported(name, "it splits by GPT-2's, cl100k's and o200k's patterns, and by GPT-2's for any other")
    if None in model.tokens:
        gap = model.tokens.index(None)
        raise Unsupported(name, f"it numbers tokens without a gap, and this model has none with the id {gap}")
    with loading(name), file_of(tokenizer_json(name, model), "tokenizer.json") as path:
        return tokie.Tokenizer.from_json(path)
