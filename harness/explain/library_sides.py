"""Sides for objects of libraries: tiktoken exposes its pattern and ranks, tokenizers its normaliser and pieces."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from harness.explain.rules import merge_input_bytes
from harness.explain.sides import Side
from impls.core.errors import BPEError
from impls.core.model.model import Model
from impls.core.text.byte_alphabet import from_printable
from impls.formats import load


def tiktoken_side(encoding: Any, name: str, allow_special: bool) -> Side:
    """Return a side for a `tiktoken.Encoding`."""
    special: dict[str, int] = dict(encoding._special_tokens)
    by_id = {i: token for token, i in encoding._mergeable_ranks.items()}
    tokens = tuple(map(by_id.get, range(max(by_id, default=-1) + 1)))
    make = partial(Model, tokens=tokens, pattern=(str(encoding._pat_str),), merge_rule="concatenation")
    model = _unless_refused(make)
    return Side(
        name=name,
        encode=partial(encoding.encode, allowed_special="all" if allow_special else set(), disallowed_special=()),
        decode=encoding.decode,
        about=f"tiktoken.Encoding {encoding.name}",
        model=model,
        algorithm="leftmost",
        split=None if model is None else model.split,
        token_bytes=(by_id | {i: text.encode() for text, i in special.items()}).get,
        whole_tokens=special,
    )


def _unless_refused(load: Callable[[], Model]) -> Model | None:
    """Return the model; None if we refuse it, as a capturing pattern or a missing byte, which tiktoken accepts."""
    with suppress(BPEError), warnings.catch_warnings(action="ignore"):
        return load()
    return None


def hugging_face_side(tokenizer: Any, name: str) -> Side:
    """Return a side for a `tokenizers.Tokenizer`, which always recognises its special and added tokens."""
    document = json.loads(tokenizer.to_str())
    byte_level = '"ByteLevel"' in json.dumps([document.get("pre_tokenizer"), document.get("decoder")])
    added = {entry["content"]: entry["id"] for entry in document.get("added_tokens") or []}
    model = _unless_refused(partial(load, Path("tokenizer.json"), content=tokenizer.to_str().encode()))
    normalizer = tokenizer.normalizer
    return Side(
        name=name,
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        decode=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        about=f"tokenizers.Tokenizer, {document['model'].get('type', 'BPE')}{', byte level' if byte_level else ''}",
        model=model,
        algorithm="leftmost",
        normalize=str if normalizer is None else lambda segment: str(normalizer.normalize_str(segment)),
        split=partial(pieces_of, tokenizer, byte_level),
        split_by="reported",
        token_bytes=None if model is None else merge_input_bytes(model).get,
        whole_tokens=added,
    )


def pieces_of(tokenizer: Any, byte_level: bool, segment: str) -> list[str]:
    """Return the library's own pieces, its printable bytes mapped back."""
    if tokenizer.pre_tokenizer is None:
        return [segment] if segment else []
    pieces = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(segment)]
    return [from_printable(piece).decode("utf-8", "replace") for piece in pieces] if byte_level else pieces
