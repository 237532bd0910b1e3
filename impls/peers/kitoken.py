"""kitoken: encodes by merging pairs in place. It recognises OpenAI's rank files by content; others as tokenizer.json.

Not exact with GPT-2's pattern: after white space other than U+0020 it splits `'s`, as in `\t's`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from impls.core.arguments import id_list
from impls.core.model import Model
from impls.formats.known import KNOWN
from impls.interface import Tokenizer
from impls.peers.conversion import (
    has_plain_rules,
    public_digest,
    rank_file,
    sentencepiece_file,
    tokenizer_json,
)
from impls.peers.packages import library, loading
from impls.peers.stdout import stdout_to_stderr

kitoken = library("kitoken", "kitoken", "kitoken")


class Kitoken(Tokenizer):
    """`kitoken.Kitoken` over the model's rank file where it is a public one, else over its tokenizer.json."""

    name: ClassVar[str] = "kitoken"
    summary: ClassVar[str] = "Rust: many formats, compact definitions"
    kind: ClassVar[Literal["peer"]] = "peer"
    surrogate_errors = (UnicodeEncodeError,)

    def __init__(self, model: Model) -> None:
        self.normalizes = has_plain_rules(model)
        super().__init__(model)
        self._tokenizer = _tokenizer(model)

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens."""
        ids: list[int] = self._tokenizer.encode(text)
        return ids

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """As `_encode_text` for each text; the library's batch call uses one thread, and releases the GIL."""
        if threads > 1:
            return super()._encode_texts(texts, threads)
        found: list[list[int]] = self._tokenizer.encode_all(list(texts))
        return found

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids. The library raises for unknown ids, special ones included."""
        ids = id_list(ids)
        if self.normalizes:
            return super().decode_bytes(ids)
        try:
            data: bytes = self._tokenizer.decode(ids, True)
            return data
        except (ValueError, OverflowError, TypeError):
            return super().decode_bytes(ids)


def _tokenizer(model: Model) -> Any:
    name = Kitoken.name
    if has_plain_rules(model):
        with loading(name), stdout_to_stderr():  # it prints each id without a token
            return kitoken.Kitoken.from_sentencepiece(sentencepiece_file(model))
    digest = public_digest(model)
    with loading(name):
        if digest is not None and KNOWN[digest].special_tokens == model.whole_token_ids:
            return kitoken.Kitoken.from_tiktoken(rank_file(model))
        return kitoken.Kitoken.from_tokenizers(tokenizer_json(name, model))
