"""Count the tokens of a text under a vocabulary: against bytes, characters and words, and by token. Times nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

import impls
from harness.records import Compression
from impls import BPEError, Tokenizer
from impls.core.model.model import Model


def ordinary_tokens(model: Model) -> dict[int, bytes]:
    """Return the bytes of each id, without special, added and unknown tokens."""
    others = {*model.whole_token_ids.values(), model.unknown_id}
    return {i: token for i, token in model.bytes_by_id().items() if i not in others}


def fastest(model: Model) -> Tokenizer:
    """Return the fastest implementation of a model whose ids are exact; `naive` runs every model."""
    for name in ("compiled", "tiktoken", "priority"):
        with suppress(impls.Unsupported, impls.Missing):
            return impls.load(name, model)
    return impls.load("naive", model)


def encode_each(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the concatenated ids of all texts and their offsets; a refused text has no ids."""

    def ids_of(text: str) -> list[int]:
        with suppress(BPEError):
            return tokenizer.encode(text, disallowed_special=())
        return []

    with suppress(BPEError):
        return tokenizer.encode_ragged(texts, disallowed_special=())
    each = list(map(ids_of, texts))
    return np.array([i for ids in each for i in ids], np.uint32), np.cumsum([0, *map(len, each)])


class TokenArray:
    """The bytes of each id, in one array."""

    def __init__(self, by_id: Mapping[int, bytes]) -> None:
        self._lengths = np.zeros(max(by_id, default=-1) + 2, np.int64)  # the last entry is for every invalid id
        self._lengths[list(by_id)] = [len(token) for token in by_id.values()]
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._bytes = np.frombuffer(b"".join(by_id[i] for i in sorted(by_id)), np.uint8)

    def lengths(self, ids: np.ndarray) -> np.ndarray:
        """Return the number of bytes of each id: int64; 0 for an invalid one."""
        lengths: np.ndarray = self._lengths[np.minimum(ids, len(self._lengths) - 1)]
        return lengths

    def joined(self, ids: np.ndarray) -> bytes:
        """Return the bytes of all ids, joined."""
        ids = np.minimum(ids, len(self._lengths) - 1)
        lengths = self._lengths[ids]
        places = np.repeat(self._starts[ids] - (np.cumsum(lengths) - lengths), lengths)
        return self._bytes[places + np.arange(len(places))].tobytes()


def compression(tokenizer: Tokenizer, documents: Iterable[str], *, model: str, corpus: str) -> Compression:
    """Return totals over `documents`, each encoded separately.

    Words are runs of characters that are not white space. Special tokens in the text are read as ordinary text.
    """
    record = Compression(model=model, corpus=corpus, implementation=tokenizer.name)
    record.vocab_size, record.round_trip = tokenizer.model.vocab_size, tokenizer.model.round_trip
    for document in filter(None, documents):
        add_text(record, document)
        record.n_tokens += tokenizer.count(document)
    return record


def add_text(record: Compression, text: str) -> None:
    """Count one text, except its tokens."""
    record.n_texts += 1
    record.n_bytes += len(text.encode("utf-8", "surrogatepass"))
    record.n_characters += len(text)
    record.n_words += len(text.split())
