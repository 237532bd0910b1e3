"""Compression of a text by a model: tokens against bytes, characters and words. Times nothing."""

from __future__ import annotations

from collections.abc import Iterable

import impls
from harness.records import Compression, Status
from impls import Tokenizer

_COUNTERS = ("tiktoken", "priority", "naive")
"""Implementations that count, the first that can run the model; their ids are the same. `naive` runs all."""


def counter(model: impls.Model) -> Tokenizer:
    """Return what counts the tokens of a model."""
    if model.belongs_to is not None:
        return impls.load(model.belongs_to, model)
    for name in _COUNTERS[:-1]:
        try:
            return impls.load(name, model)
        except (impls.Unsupported, impls.Missing):
            continue
    return impls.load(_COUNTERS[-1], model)


def compression(tokenizer: Tokenizer, documents: Iterable[str], *, model: str, corpus: str) -> Compression:
    """Return totals over `documents`, each encoded separately.

    Words are runs of characters that are not white space. Special tokens in the text are read as ordinary text.
    """
    record = uncounted(model, corpus, tokenizer.name)
    record.vocab_size, record.round_trip = tokenizer.model.n_tokens, tokenizer.model.round_trip
    for document in filter(None, documents):
        add_text(record, document)
        record.n_tokens += tokenizer.count(document)
    return record


def uncounted(
    model: str, corpus: str, implementation: str = "", status: Status = "ok", reason: str = ""
) -> Compression:
    """Return the record of a text of which nothing is counted yet."""
    return Compression(
        model=model,
        corpus=corpus,
        implementation=implementation,
        n_texts=0,
        n_bytes=0,
        n_characters=0,
        n_words=0,
        n_tokens=0,
        vocab_size=0,
        status=status,
        reason=reason,
    )


def add_text(record: Compression, text: str) -> None:
    """Count one text, but not its tokens."""
    record.n_texts += 1
    record.n_bytes += len(text.encode("utf-8", "surrogatepass"))
    record.n_characters += len(text)
    record.n_words += len(text.split())
