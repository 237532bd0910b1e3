"""Count the tokens of a text under a vocabulary: against bytes, characters and words, and by token. Times nothing."""

from __future__ import annotations

from collections.abc import Iterable

import impls
from harness.outcome import Outcome
from harness.records import Compression, Status
from impls import Tokenizer
from impls.core.model.model import Model


def ordinary_tokens(model: Model) -> dict[int, bytes]:
    """Return the bytes of each id, without special, added and unknown tokens."""
    others = {*model.whole_token_ids.values(), model.unknown_id}
    return {i: token for i, token in model.bytes_by_id().items() if i not in others}


_COUNTERS = ("tiktoken", "priority", "naive")
"""Implementations used for counting, in order of preference; their ids are the same. `naive` runs every model."""


def counter(model: impls.Model) -> Tokenizer:
    """Return a tokenizer for counting the tokens of a model."""
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
    record.vocab_size, record.round_trip = tokenizer.model.vocab_size, tokenizer.model.round_trip
    for document in filter(None, documents):
        add_text(record, document)
        record.n_tokens += tokenizer.count(document)
    return record


def uncounted(
    model: str, corpus: str, implementation: str = "", status: Status = Outcome.RIGHT, reason: str = ""
) -> Compression:
    """Return the record of a text that has not been counted yet."""
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
    """Count one text, except its tokens."""
    record.n_texts += 1
    record.n_bytes += len(text.encode("utf-8", "surrogatepass"))
    record.n_characters += len(text)
    record.n_words += len(text.split())
