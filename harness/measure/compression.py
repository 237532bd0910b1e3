"""Compression of a text by a model: tokens against bytes, characters and words. Times nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.records import Compression, Measurement
from impls import Tokenizer

_WORD = re.compile(r"\S+")


def compression(
    tokenizer: Tokenizer, documents: Iterable[str], *, model: str, corpus: str, max_bytes: int | None = None
) -> Compression:
    """Return totals over `documents`, each encoded separately; the last is cut at `max_bytes` of UTF-8.

    Words are runs of characters that are not white space. Special tokens in the text are read as ordinary text.
    """
    n_texts = n_bytes = n_characters = n_words = n_tokens = 0
    for document in documents:
        size = len(document.encode("utf-8", "surrogatepass"))
        last = max_bytes is not None and n_bytes + size >= max_bytes
        if max_bytes is not None and last:
            document = _first_bytes(document, max_bytes - n_bytes)
            size = len(document.encode("utf-8", "surrogatepass"))
        if document:
            n_texts += 1
            n_bytes += size
            n_characters += len(document)
            n_words += sum(1 for _ in _WORD.finditer(document))
            n_tokens += tokenizer.count(document)
        if last:
            break
    return Compression(
        model=model,
        corpus=corpus,
        implementation=tokenizer.name,
        n_texts=n_texts,
        n_bytes=n_bytes,
        n_characters=n_characters,
        n_words=n_words,
        n_tokens=n_tokens,
        vocab_size=tokenizer.model.n_tokens,
        round_trip=tokenizer.model.round_trip,
    )


def _first_bytes(text: str, n_bytes: int) -> str:
    """Return the longest prefix of `text` whose UTF-8 has at most `n_bytes` bytes."""
    from harness.measure.texts import boundary

    content = text.encode("utf-8", "surrogatepass")
    return content[: boundary(content, n_bytes)].decode("utf-8", "surrogatepass")


def bytes_per_token(record: Compression) -> float | None:
    """Return the mean bytes of UTF-8 per token."""
    return record.n_bytes / record.n_tokens if record.n_tokens else None


def characters_per_token(record: Compression) -> float | None:
    """Return the mean characters per token."""
    return record.n_characters / record.n_tokens if record.n_tokens else None


def tokens_per_word(record: Compression) -> float | None:
    """Return the mean tokens per word (fertility)."""
    return record.n_tokens / record.n_words if record.n_words else None


def megabytes_per_second(record: Measurement) -> list[float]:
    """Return the throughput of each sample in 10⁶ bytes per second; empty for tasks without text."""
    if record.task == "load" or not record.n_bytes:
        return []
    return [record.n_bytes * record.loops / seconds / 1e6 for seconds in record.samples_seconds]
