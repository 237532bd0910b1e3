"""Sides for objects of libraries: tiktoken exposes its pattern and ranks, tokenizers its normaliser and pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
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
    try:
        return Model(tokens=_tokens(ranks), pattern=(pattern,), merge_rule="concatenation")
    except BPEError:  # a capturing pattern or a missing byte, which tiktoken accepts
        return None


def _tokens(ids: Mapping[bytes, int]) -> tuple[bytes | None, ...]:
    """Return the tokens by id; None for an id without a token."""
    by_id = {i: token for token, i in ids.items()}
    return tuple(map(by_id.get, range(max(by_id, default=-1) + 1)))


def hugging_face_side(tokenizer: Any, name: str) -> Side:
    """Return a side for a `tokenizers.Tokenizer`, which always recognises its special and added tokens."""
    document = json.loads(tokenizer.to_str())
    bpe = document["model"]
    byte_level = any(
        step["type"] == "ByteLevel" for step in _steps([document.get("pre_tokenizer"), document.get("decoder")])
    )
    vocab: dict[str, int] = bpe.get("vocab") if isinstance(bpe.get("vocab"), dict) else {}
    added = {entry["content"]: entry["id"] for entry in document.get("added_tokens") or []}
    by_id = {i: _bytes_of(text, byte_level, bool(bpe.get("byte_fallback"))) for text, i in vocab.items()}
    by_id |= {i: text.encode() for text, i in added.items()}

    normalizer = tokenizer.normalizer
    return Side(
        name=name,
        encode=lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        decode=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)),
        about=f"tokenizers.Tokenizer, {bpe.get('type', 'BPE')}{', byte level' if byte_level else ''}",
        model=_model_of_document(bpe, byte_level),
        algorithm="leftmost",
        normalize=str if normalizer is None else lambda segment: str(normalizer.normalize_str(segment)),
        split=pieces_of(tokenizer, byte_level),
        split_by="reported",
        token_bytes=by_id.get,
        whole_tokens=added,
        hints=tuple(_hints(document.get("pre_tokenizer"))),
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


def _bytes_of(text: str, byte_level: bool, byte_fallback: bool) -> bytes:
    if byte_level and set(text) <= CHARACTER_TO_BYTE.keys():
        return from_printable(text)
    if byte_fallback and len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        return bytes([int(text[3:5], 16)])
    return text.encode("utf-8", "surrogatepass")


def _model_of_document(bpe: Mapping[str, Any], byte_level: bool) -> Model | None:
    """Return the vocabulary and merges of a tokenizer.json; None if the model is not defined by merges."""
    if bpe.get("type", "BPE") != "BPE" or bpe.get("dropout") or bpe.get("continuing_subword_prefix"):
        return None
    try:
        ids = {
            _bytes_of(text, byte_level, byte_fallback=False): i
            for text, i in bpe["vocab"].items()
            if not byte_level or set(text) <= CHARACTER_TO_BYTE.keys()
        }
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in bpe["merges"]]
        merges = [tuple(ids[_bytes_of(part, byte_level, False)] for part in pair) for pair in pairs]
        unknown = bpe.get("unk_token")
        return Model(
            tokens=_tokens(ids),
            merges=tuple(merges),
            alphabet="bytes" if byte_level else "chars",
            ignore_merges=bool(bpe.get("ignore_merges")),
            end_of_word=bpe.get("end_of_word_suffix") or None,
            unknown=unknown if unknown in bpe["vocab"] else None,
            unknown_id=bpe["vocab"].get(unknown),
        )
    except (BPEError, KeyError, ValueError, TypeError):
        return None


_COUNTED_AND_PLUS = re.compile(r"(?<!\\p)(?<!\\P)\{\d+(?:,\d*)?\}\+")


def _hints(pre_tokenizer: Any) -> Iterator[str]:
    """Yield known pitfalls of the steps of a pre-tokenizer."""
    steps = list(_steps(pre_tokenizer))
    for step in steps:
        pattern = step.get("pattern")
        expression = pattern.get("Regex") if isinstance(pattern, dict) else None
        if isinstance(expression, str) and _COUNTED_AND_PLUS.search(expression):
            yield (
                "its pattern has a counted repeat followed by +, which the engine of tokenizers (Oniguruma) reads as a "
                "repeat of the repeat, where tiktoken and the package regex read it as possessive: \\p{N}{1,3}+ takes "
                "any number of digits as one piece; give it the pattern without that +"
            )
    if any(step["type"] == "Metaspace" for step in steps):
        yield (
            "Metaspace writes ▁ for each space, cuts before it, and puts no ▁ before a text that begins with a space; "
            "the normaliser Prepend + Replace always puts one and cuts nothing"
        )
    if any(step["type"] == "ByteLevel" and step.get("add_prefix_space", True) for step in steps):
        yield "add_prefix_space puts a space before a text that does not begin with one"
