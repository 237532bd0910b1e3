"""Training as the library's `BpeTrainer` says, by the trainer of an implementation: the learned vocabulary is written
into the tokenizer.json. What our trainers cannot follow is refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from impls import registry
from impls.core.arguments import iterated
from impls.core.errors import Unsupported
from impls.core.specification import TrainingSpec
from impls.core.text.blocks import documents_of
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE
from impls.core.text.files import TextFile
from impls.core.text.patterns import WHOLE_TEXT
from impls.drop_in.hf.added_tokens import AddedToken
from impls.drop_in.hf.arguments import encodable, items
from impls.drop_in.hf.parts import Normalizer, PreTokenizer, given_document
from impls.drop_in.hf.pipeline import Pipeline
from impls.formats.tokenizer_json.writer import write_compact


class _Settings(msgspec.Struct):
    """The settings of the library's `BpeTrainer`."""

    vocab_size: int = 30_000
    min_frequency: int = 0
    special_tokens: list[dict[str, Any]] = []
    limit_alphabet: int | None = None
    initial_alphabet: list[str] = []
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    max_token_length: int | None = None


def learned(pipeline: Pipeline, texts: Iterable[str], trainer: Any) -> dict[str, Any]:
    """Return the fields of tokenizer.json learned from texts; raise `Unsupported` naming a setting not followed."""
    settings = _settings(trainer)
    special = [AddedToken(**token) for token in settings.special_tokens]
    names = [token.content for token in special]
    if others := pipeline.added.ids.keys() - names:
        raise Unsupported("train", f"Tokenizer.add_tokens: add {min(others)!r} after training, which assigns new ids")
    split = pipeline.pre_tokenizer
    by_bytes = split is not None and split.is_byte_level
    pieces: Iterable[str] = _pieces(texts, pipeline.normalizer, split)
    if not by_bytes:  # a piece of one letter adds no pair
        pieces = chain(settings.initial_alphabet, pieces)
    model = registry.learn(pipeline.implementation.name, pieces, _spec(settings, names, by_bytes))
    added = [{"id": k, **token.__getstate__()} for k, token in enumerate(special)]
    written = msgspec.json.decode(write_compact(model.with_(pattern=())))["model"]
    vocabulary = {"vocab": written["vocab"], "merges": written["merges"]}
    return {"model": pipeline.document["model"] | vocabulary, "added_tokens": added}


def _settings(trainer: Any) -> _Settings:
    if trainer is None:
        return _Settings()
    document = given_document("trainer", "a BpeTrainer of the library", "special_tokens", trainer)
    ((kind, fields),) = document.items()
    if kind != "BpeTrainer":
        raise Unsupported("train", f"{kind} is not supported; give a BpeTrainer")
    settings = msgspec.convert(fields, _Settings)
    for name in ("limit_alphabet", "continuing_subword_prefix", "end_of_word_suffix"):
        if (value := getattr(settings, name)) is not None:
            raise Unsupported("train", f"BpeTrainer.{name}: {value!r} is not supported; train with the library")
    return settings


def _spec(settings: _Settings, names: list[str], by_bytes: bool) -> TrainingSpec:
    if by_bytes and CHARACTER_TO_BYTE.keys() > set(settings.initial_alphabet):
        alphabet = "pre_tokenizers.ByteLevel.alphabet()"
        raise Unsupported("train", f"BpeTrainer.initial_alphabet: a model over bytes has all 256; give {alphabet}")
    longest = None if settings.max_token_length is None else max(settings.max_token_length - 1, 1)
    if longest and not by_bytes:
        raise Unsupported("train", "BpeTrainer.max_token_length: characters are not counted; train with the library")
    return TrainingSpec(
        vocab_size=settings.vocab_size,
        pattern=WHOLE_TEXT,
        alphabet="bytes" if by_bytes else "chars",
        base_order="gpt2" if by_bytes else "raw",
        min_count=max(settings.min_frequency, 1),
        max_token_bytes=longest,
        special_tokens=tuple(names),
        special_ids="first",
    )


def _pieces(texts: Iterable[str], normalizer: Normalizer | None, split: PreTokenizer | None) -> Iterator[str]:
    for text in texts:
        if normalizer is not None:
            text = normalizer.normalize_str(text)
        yield from (text,) if split is None else (piece for piece, _ in split.pieces(text))


def given_texts(iterator: Any) -> Iterator[str]:
    """Yield the texts of an iterator of texts and lists of texts; raise TypeError for anything else."""
    for k, entry in enumerate(iterated("iterator", "an iterator of texts, or of lists of texts", iterator)):
        many = [entry] if isinstance(entry, str) else items(f"iterator[{k}]", entry)
        yield from (encodable(f"iterator[{k}]", text) for text in many)


def lines_of(files: Any) -> Iterator[str]:
    """Yield the lines of files, with their line ends, as the library reads them; raise `InvalidFile`."""
    for path in items("files", files):
        file = TextFile(Path(path), "lines")
        for offset, lines in file.lines():
            yield from documents_of(file.decoded(offset, b"".join(lines)), file.documents)
