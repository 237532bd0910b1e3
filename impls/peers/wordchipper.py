"""wordchipper: encodes by generated splitters and a choice of merge loops. It reads only OpenAI's vocabularies.

It downloads those unless they are in its cache folder; without a network it leaves an empty file there, with which it
then returns byte values. So it gets a cache folder with the model's ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from impls.core.model import Model
from impls.peers.conversion import file_of, rank_file, rayon_threads, require_public
from impls.peers.peer import Peer, library
from impls.production.libraries import environment

wordchipper = library("wordchipper", "wordchipper", "wordchipper")

_NAMES = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
_CACHE = "WORDCHIPPER_CACHE_DIR"


class Wordchipper(Peer):
    """`wordchipper.Tokenizer` of one of OpenAI's vocabularies, its special tokens switched off."""

    name: ClassVar[str] = "wordchipper"
    summary: ClassVar[str] = "Rust: generated splitters; OpenAI's vocabularies only"

    def _load(self, model: Model) -> Any:
        name = require_public(self.name, model, _NAMES)
        self._no_specials = wordchipper.SpecialFilter.include_none()
        content = rank_file(model)
        with (
            file_of(content, f"openai/{name}/{name}.tiktoken") as path,
            environment(_CACHE, str(Path(path).parents[2])),
        ):
            tokenizer = wordchipper.Tokenizer.from_pretrained(name)
        self._decodes_alike = dict(tokenizer.specials) == dict(model.whole_token_ids)
        return tokenizer

    def encode_normalized(self, text: str) -> list[int]:
        return self._library.encode(text, self._no_specials)

    def encode_normalized_batch(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `encode_normalized` of each text; on the library's pool if it has this many threads."""
        if threads == 1 or threads != rayon_threads():
            return super().encode_normalized_batch(texts, threads)
        return self._library.encode_batch(list(texts), self._no_specials)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, by the library if its special tokens are the model's."""
        if not self._decodes_alike:
            return super().decode_bytes(ids)
        return self._bytes_unless_refused(self._library.decode_bytes, ids)
