"""Sides for objects of libraries: tiktoken exposes its pattern and ranks, tokenizers its normaliser and pieces."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from harness.explain.rules import merge_input_bytes
from harness.explain.sides import Side
from impls.core.errors import BPEError
from impls.core.model.model import Model
from impls.core.text.byte_alphabet import from_printable
from impls.core.text.patterns import Splitter
from impls.formats import load


def tiktoken_side(encoding: Any, name: str, allow_special: bool) -> Side:
    """Return a side for a `tiktoken.Encoding`."""
    special: dict[str, int] = dict(encoding._special_tokens)
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    by_id = {i: token for token, i in ranks.items()} | {i: text.encode() for text, i in special.items()}

    model = _model_of_ranks(ranks, str(encoding._pat_str))
    return Side(
        name=name,
        encode=partial(encoding.encode, allowed_special="all" if allow_special else set(), disallowed_special=()),
        decode=encoding.decode,
        about=f"tiktoken.Encoding {encoding.name}",
        model=model,
        algorithm="leftmost",
        split=None if model is None else Splitter(model.pattern).split,
        token_bytes=by_id.get,
        whole_tokens=special,
    )


def _model_of_ranks(ranks: Mapping[bytes, int], pattern: str) -> Model | None:
    by_id = {i: token for token, i in ranks.items()}
    try:
        tokens = tuple(map(by_id.get, range(max(by_id, default=-1) + 1)))
        return Model(tokens=tokens, pattern=(pattern,), merge_rule="concatenation")
    except BPEError:  # a capturing pattern or a missing byte, which tiktoken accepts
        return None


def hugging_face_side(tokenizer: Any, name: str) -> Side:
    """Return a side for a `tokenizers.Tokenizer`, which always recognises its special and added tokens."""
    document = json.loads(tokenizer.to_str())
    byte_level = any(
        step["type"] == "ByteLevel" for step in _steps([document.get("pre_tokenizer"), document.get("decoder")])
    )
    added = {entry["content"]: entry["id"] for entry in document.get("added_tokens") or []}
    model = _model_of_document(tokenizer.to_str())
    normalizer = tokenizer.normalizer
    return Side(
        name=name,
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        decode=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        about=f"tokenizers.Tokenizer, {document['model'].get('type', 'BPE')}{', byte level' if byte_level else ''}",
        model=model,
        algorithm="leftmost",
        normalize=str if normalizer is None else lambda segment: str(normalizer.normalize_str(segment)),
        split=pieces_of(tokenizer, byte_level),
        split_by="reported",
        token_bytes=None if model is None else merge_input_bytes(model).get,
        whole_tokens=added,
    )


def pieces_of(tokenizer: Any, byte_level: bool) -> Callable[[str], list[str]]:
    """Return a function to the library's own pieces, its printable bytes mapped back."""

    def split(segment: str) -> list[str]:
        if tokenizer.pre_tokenizer is None:
            return [segment] if segment else []
        pieces = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(segment)]
        return [from_printable(piece).decode("utf-8", "replace") for piece in pieces] if byte_level else pieces

    return split


def _steps(step: Any) -> Iterator[dict[str, Any]]:
    """Yield every object with a type within a part of a tokenizer.json."""
    if isinstance(step, dict) and "type" in step:
        yield step
    for inner in step.values() if isinstance(step, dict) else step if isinstance(step, list) else ():
        yield from _steps(inner)


def _model_of_document(document: str) -> Model | None:
    """Return the model of a tokenizer.json as we read it; None if we refuse it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return load(Path("tokenizer.json"), content=document.encode())
    except BPEError:
        return None
