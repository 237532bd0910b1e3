"""Sides for the libraries' own objects: tiktoken exposes its pattern and ranks, tokenizers normaliser and pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.explain.sides import Side
from impls.core.errors import BPEError
from impls.core.model.model import Model
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE, from_printable
from impls.core.text.patterns import Splitter


def tiktoken_side(encoding: Any, name: str, allow_special: bool) -> Side:
    """Return a side for a `tiktoken.Encoding`."""
    special: dict[str, int] = dict(encoding._special_tokens)
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    by_id = {i: token for token, i in ranks.items()} | {i: text.encode() for text, i in special.items()}

    def encode(text: str) -> list[int]:
        found: list[int] = encoding.encode(
            text, allowed_special="all" if allow_special else set(), disallowed_special=()
        )
        return found

    model = _model_of_ranks(ranks, str(encoding._pat_str))
    return Side(
        name=name,
        encode=encode,
        decode=encoding.decode,
        about=f"tiktoken.Encoding {encoding.name}",
        model=model,
        algorithm="leftmost",
        split=None if model is None else Splitter(model.pattern).split,
        token_bytes=by_id.get,
        whole_tokens=special,
    )


def _model_of_ranks(ranks: Mapping[bytes, int], pattern: str) -> Model | None:
    tokens: list[bytes | None] = [None] * (max(ranks.values(), default=-1) + 1)
    for token, i in ranks.items():
        tokens[i] = token
    try:
        return Model(tokens=tuple(tokens), pattern=(pattern,), merge_rule="concatenation")
    except BPEError:  # a capturing pattern or a missing byte, which tiktoken accepts
        return None


def hugging_face_side(tokenizer: Any, name: str) -> Side:
    """Return a side for a `tokenizers.Tokenizer`, which always recognises its special and added tokens."""
    document = json.loads(tokenizer.to_str())
    bpe = document["model"]
    byte_level = _mentions(document.get("pre_tokenizer"), "ByteLevel") or _mentions(
        document.get("decoder"), "ByteLevel"
    )
    vocab: dict[str, int] = bpe.get("vocab") if isinstance(bpe.get("vocab"), dict) else {}
    added = {entry["content"]: entry["id"] for entry in document.get("added_tokens") or []}
    by_id = {i: _bytes_of(text, byte_level, bool(bpe.get("byte_fallback"))) for text, i in vocab.items()}
    by_id |= {i: text.encode() for text, i in added.items()}

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return Side(
        name=name,
        encode=encode,
        decode=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        about=f"tokenizers.Tokenizer, {bpe.get('type', 'BPE')}{', byte level' if byte_level else ''}",
        model=_model_of_document(bpe, byte_level),
        algorithm="leftmost",
        normalize=(lambda segment: segment)
        if tokenizer.normalizer is None
        else lambda segment: str(tokenizer.normalizer.normalize_str(segment)),
        split=pieces_of(tokenizer, byte_level),
        split_by="told",
        token_bytes=by_id.get,
        whole_tokens=added,
        hints=_hints_of_document(document),
    )


def pieces_of(tokenizer: Any, byte_level: bool) -> Callable[[str], list[str]]:
    """Return a function to the library's own pieces, its printable bytes mapped back."""

    def split(segment: str) -> list[str]:
        if tokenizer.pre_tokenizer is None:
            return [segment] if segment else []
        pieces = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(segment)]
        return [from_printable(piece).decode("utf-8", "replace") for piece in pieces] if byte_level else pieces

    return split


def _mentions(step: Any, kind: str) -> bool:
    if isinstance(step, dict):
        return step.get("type") == kind or any(_mentions(value, kind) for value in step.values())
    return isinstance(step, list) and any(_mentions(value, kind) for value in step)


def _bytes_of(text: str, byte_level: bool, byte_fallback: bool) -> bytes:
    if byte_level and set(text) <= CHARACTER_TO_BYTE.keys():
        return from_printable(text)
    if byte_fallback and len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        return bytes([int(text[3:5], 16)])
    return text.encode("utf-8", "surrogatepass")


def _model_of_document(bpe: Mapping[str, Any], byte_level: bool) -> Model | None:
    """Return the vocabulary and merges of a tokenizer.json; None where merges do not define it."""
    if bpe.get("type", "BPE") != "BPE" or bpe.get("dropout") or bpe.get("continuing_subword_prefix"):
        return None
    try:
        tokens: list[bytes | None] = [None] * (max(bpe["vocab"].values(), default=-1) + 1)
        for text, i in bpe["vocab"].items():
            if not byte_level or set(text) <= CHARACTER_TO_BYTE.keys():
                tokens[i] = _bytes_of(text, byte_level, byte_fallback=False)
        ids = {token: i for i, token in enumerate(tokens) if token is not None}
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in bpe["merges"]]
        merges = [tuple(ids[_bytes_of(part, byte_level, False)] for part in pair) for pair in pairs]
        unknown = bpe.get("unk_token")
        return Model(
            tokens=tuple(tokens),
            merges=tuple(merges),  # type: ignore[arg-type]
            alphabet="bytes" if byte_level else "chars",
            ignore_merges=bool(bpe.get("ignore_merges")),
            end_of_word=bpe.get("end_of_word_suffix") or None,
            unknown=unknown if unknown in bpe["vocab"] else None,
            unknown_id=bpe["vocab"].get(unknown),
        )
    except (BPEError, KeyError, ValueError, TypeError):
        return None


_COUNTED_AND_PLUS = re.compile(r"(?<!\\p)(?<!\\P)\{\d+(?:,\d*)?\}\+")


def _hints_of_document(document: Mapping[str, Any]) -> tuple[str, ...]:
    hints: list[str] = []
    for expression in _expressions(document.get("pre_tokenizer")):
        if _COUNTED_AND_PLUS.search(expression):
            hints.append(
                "its pattern has a counted repeat followed by +, which the engine of tokenizers (Oniguruma) reads as a "
                "repeat of the repeat, where tiktoken and the package regex read it as possessive: \\p{N}{1,3}+ takes "
                "any number of digits as one piece; give it the pattern without that +"
            )
    if _mentions(document.get("pre_tokenizer"), "Metaspace"):
        hints.append(
            "Metaspace writes ▁ for each space, cuts before it, and puts no ▁ before a text that begins with a space; "
            "the normaliser Prepend + Replace always puts one and cuts nothing"
        )
    if _mentions_prefix_space(document.get("pre_tokenizer")):
        hints.append("add_prefix_space puts a space before a text that does not begin with one")
    return tuple(hints)


def _expressions(step: Any) -> list[str]:
    if isinstance(step, dict):
        own = [step["Regex"]] if isinstance(step.get("Regex"), str) else []
        return own + [found for value in step.values() for found in _expressions(value)]
    return [found for value in step for found in _expressions(value)] if isinstance(step, list) else []


def _mentions_prefix_space(step: Any) -> bool:
    if isinstance(step, dict):
        if step.get("type") == "ByteLevel":
            return bool(step.get("add_prefix_space", True))
        return any(_mentions_prefix_space(value) for value in step.values())
    return isinstance(step, list) and any(map(_mentions_prefix_space, step))
