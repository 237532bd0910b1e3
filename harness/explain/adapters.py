"""Sides for tokenizers: our own with their model and algorithm, library objects with what they expose, model files.

Anything else is a black box with `encode` and `decode`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import impls
from harness.explain.algorithms import algorithm_of
from harness.explain.library_sides import hugging_face_side, pieces_of, tiktoken_side
from harness.explain.rules import merge_input_bytes
from harness.explain.sides import Side, black_box
from harness.failures import message_of
from harness.targets import FORMS, NotLoadable, TargetSpec, is_target, load_object
from harness.targets.published import published
from impls.core.errors import UnknownName
from impls.core.model.cuts import Cuts
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.interface import SpecialSet, Tokenizer

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
    if isinstance(target, Side):
        return target
    if isinstance(target, Tokenizer):
        return _own(target, name, allow_special)
    module = type(target).__module__.partition(".")[0]
    if module == "tiktoken" and hasattr(target, "_mergeable_ranks"):
        return tiktoken_side(target, name, allow_special)
    if module == "tokenizers" and hasattr(target, "pre_tokenizer"):
        return hugging_face_side(target, name)
    found: Any = target
    special = getattr(found, "special_tokens", None)
    return black_box(
        name,
        lambda text: [int(i) for i in found.encode(text)],
        lambda ids: str(found.decode(ids)),
        token_bytes=found.token_bytes if callable(getattr(found, "token_bytes", None)) else None,
        special_tokens=special if isinstance(special, Mapping) else {},
    )


def load_side(spec: str, model: Model | None, *, allow_special: bool = False) -> Side:
    """Load the side `spec` names: an implementation (over `model`), an object, a command, or a model file.

    A tokenizer.json is run by tokenizers, a SentencePiece model by sentencepiece, a rank file by tiktoken. Raises
    `NotLoadable`, or what loading a model raises.
    """
    if spec in impls.names():
        if model is None:
            raise NotLoadable(f"{spec}: give the model to run with -m")
        return side_of(impls.load(spec, model), spec, allow_special=allow_special)
    path = Path(spec)
    if is_target(spec) and (path.suffix == ".py" or not path.is_file()):
        side = side_of(load_object(spec, model), spec, allow_special=allow_special)
        return replace(side, whole_tokens=model.whole_token_ids) if model and not side.whole_tokens else side
    if path.is_file():
        return _of_file(path, allow_special)
    if os.sep in spec or path.suffix:
        raise NotLoadable(f"{spec}: there is no such file; give {FORMS}")
    known = [*impls.names(), "module:object", "a Python file", "a model file", "cmd:COMMAND"]
    raise UnknownName("implementation", spec, known)


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
        split=_pieces_by(model) if inner is None else pieces_of(inner, model.alphabet == "bytes"),
    )


def _of_file(path: Path, allow_special: bool) -> Side:
    by = TargetSpec.parse(str(path)).words[0]
    if by == "sentencepiece":
        return replace(_own(published(path), path.name, allow_special), about="sentencepiece.SentencePieceProcessor")
    if by != "tokenizers":
        return side_of(impls.load(by, Model.load(path)), f"{path.name} by {by}", allow_special=allow_special)
    import tokenizers

    try:  # by the library alone: it also reads what we refuse
        return side_of(tokenizers.Tokenizer.from_file(str(path)), path.name)
    except Exception as error:  # tokenizers raises a plain Exception
        raise NotLoadable(f"{path}: tokenizers does not read it: {message_of(error)[:200]}") from None


def _pieces_by(model: Model) -> Callable[[str], list[str]]:
    """Return a function from a normalised text to its pieces by the model's pattern and SentencePiece's rules."""
    split = Splitter(model.pattern).split
    if model.sentencepiece is None:
        return split
    cut = Cuts(model).cut
    return lambda text: [part for piece in split(text) for part in cut(piece)]


def _about_model(model: Model) -> str:
    listed = f"{len(model.merges):,} listed merges"
    looked_up = "merges two tokens if their joined bytes are in the vocabulary"
    about = [looked_up if model.merge_rule == "concatenation" else listed]
    if model.ignore_merges:
        about.append("whole pieces in the vocabulary are one token")
    if model.normalization:
        about.append(f"normalisation {model.normalization}")
    return "; ".join(about)
