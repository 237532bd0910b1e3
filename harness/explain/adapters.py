"""Sides for tokenizers: our own with their model and algorithm, library objects with what they expose, model files.

Anything else is a black box with `encode` and `decode`.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import impls
from harness.explain.algorithms import algorithm_of
from harness.explain.rules import merge_input_bytes
from harness.explain.sides import Side
from harness.failures import message_of
from harness.targets import FORMS, NotLoadable, TargetSpec, is_target, load_object
from harness.targets.published import published
from impls.core.errors import BPEError
from impls.core.model.model import Model
from impls.core.text.byte_alphabet import from_printable
from impls.formats import load
from impls.interface import SpecialSet, Tokenizer


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


_EXPOSE_PIECES = ("tokenizers", "sentencepiece")
"""Libraries whose pieces our implementations know, because the library exposes them or we pass them in."""
_KINDS = {
    "pure": "pure Python",
    "compiled": "our compiled implementation",
    "production": "library",
    "peer": "peer library",
    "third-party": "plug-in",
}


def side_of(target: object, name: str, *, allow_special: bool = False) -> Side:
    """Return a side for one of our tokenizers, an object of a library, or anything that encodes and decodes.

    With `allow_special` special tokens in a text become their id, otherwise they are ordinary text, as far as the side
    supports either (tokenizers always parses them).
    """
    if isinstance(target, Tokenizer):
        return _own(target, name, allow_special)
    module = type(target).__module__.partition(".")[0]
    if module == "tiktoken" and hasattr(target, "_mergeable_ranks"):
        return tiktoken_side(target, name, allow_special)
    if module == "tokenizers" and hasattr(target, "pre_tokenizer"):
        return hugging_face_side(target, name)
    tokenizer: Any = target
    special = getattr(tokenizer, "special_tokens", None)
    return Side(
        name=name,
        encode=tokenizer.encode,
        decode=lambda ids: str(tokenizer.decode(ids)),
        token_bytes=tokenizer.token_bytes if callable(getattr(tokenizer, "token_bytes", None)) else None,
        whole_tokens=special if isinstance(special, Mapping) else {},
    )


def load_side(spec: str, model: Model | None, *, allow_special: bool = False) -> Side:
    """Load the side `spec` names: an implementation (over `model`), an object, a command, or a model file.

    A tokenizer.json is run by tokenizers, a SentencePiece model by sentencepiece, a rank file by tiktoken. Raises
    `NotLoadable`, or what loading a model raises.
    """
    path = Path(spec)
    if is_target(spec):
        target = TargetSpec.parse(spec)
        if target.kind == "file":
            return _of_file(path, target.words[0], allow_special)
        side = side_of(load_object(spec, model), spec, allow_special=allow_special)
        return replace(side, whole_tokens=model.whole_token_ids) if model and not side.whole_tokens else side
    if os.sep in spec or path.suffix:
        raise NotLoadable(f"{spec}: no such file; give {FORMS}")
    if model is None:
        raise NotLoadable(f"{spec}: give the model to run with -m")
    return side_of(impls.load(spec, model), spec, allow_special=allow_special)


def _own(tokenizer: Tokenizer, name: str, allow_special: bool) -> Side:
    model = tokenizer.model
    allowed: SpecialSet = "all" if allow_special else ()
    inner = getattr(tokenizer, "_tokenizer", None) if tokenizer.name == "tokenizers" else None
    return Side(
        name=name,
        encode=lambda text: tokenizer.encode(text, allowed_special=allowed, disallowed_special=()),
        decode=lambda ids: tokenizer.decode(ids),
        about=f"{_KINDS[tokenizer.kind]}; {_about_model(model) if tokenizer.exact else tokenizer.summary}",
        algorithm=algorithm_of(tokenizer.name),
        split_by="reported" if tokenizer.kind == "pure" or tokenizer.name in _EXPOSE_PIECES else "pattern",
        token_bytes=merge_input_bytes(model).get,
        whole_tokens=model.whole_token_ids,
        model=model,
        normalize=model.normalize,
        split=model.split if inner is None else partial(pieces_of, inner, model.alphabet == "bytes"),
    )


def _of_file(path: Path, library: str, allow_special: bool) -> Side:
    if library == "sentencepiece":
        return replace(_own(published(path), path.name, allow_special), about="sentencepiece.SentencePieceProcessor")
    if library != "tokenizers":
        return side_of(impls.load(library, Model.load(path)), f"{path.name} by {library}", allow_special=allow_special)
    import tokenizers

    try:  # by the library alone: it also reads what we refuse
        return side_of(tokenizers.Tokenizer.from_file(str(path)), path.name)
    except Exception as error:  # tokenizers raises a plain Exception
        raise NotLoadable(f"{path}: tokenizers does not read it: {message_of(error)[:200]}") from None


def _about_model(model: Model) -> str:
    looked_up = model.merge_rule == "concatenation"
    listed = f"{len(model.merges):,} listed merges"
    about = ["merges two tokens if their joined bytes are in the vocabulary" if looked_up else listed]
    about += ["whole pieces in the vocabulary are one token"] if model.ignore_merges else []
    about += [f"normalisation {model.normalization}"] if model.normalization else []
    return "; ".join(about)
