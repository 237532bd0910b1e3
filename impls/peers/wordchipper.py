"""wordchipper: encodes by generated splitters and a choice of merge loops. It reads only OpenAI's vocabularies.

It downloads those unless they are in its cache folder; without a network it leaves an empty file there, with which it
then returns byte values. So it gets a cache folder with the model's ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.interface import Tokenizer
from impls.peers.conversion import file_of, rank_file, rayon_threads, require_public
from impls.peers.packages import library
from impls.production.environment import environment

wordchipper = library("wordchipper", "wordchipper", "wordchipper")

_NAMES = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
_CACHE = "WORDCHIPPER_CACHE_DIR"


class Wordchipper(Tokenizer):
    """`wordchipper.Tokenizer` of one of OpenAI's vocabularies, its special tokens switched off."""

    name: ClassVar[str] = "wordchipper"
    summary: ClassVar[str] = "Rust: generated splitters; OpenAI's vocabularies only"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._tokenizer = _tokenizer(model)
        self._no_specials = wordchipper.SpecialFilter.include_none()
        self._decodes_alike = dict(self._tokenizer.specials) == dict(model.whole_token_ids)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text, self._no_specials)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._tokenizer.encode_batch(list(texts), self._no_specials)
        return found

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if its special tokens are the model's."""
        ids = id_list(ids)
        if self._decodes_alike:
            try:
                data: bytes = self._tokenizer.decode_bytes(ids)
                return data
            except (ValueError, OverflowError, TypeError):
                pass
        return super().decode_bytes(ids)


def _tokenizer(model: Model) -> Any:
    name = require_public(Wordchipper.name, model, _NAMES)
    with file_of(rank_file(model), f"openai/{name}/{name}.tiktoken") as path:
        folder = Path(path).parents[2]
        with environment(_CACHE, str(folder)):
            return wordchipper.Tokenizer.from_pretrained(name)
