"""Sides from the command line: any form of target; a model file is run by its own library."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import impls
from harness.explain.adapters import pieces_by, seen_bytes_by_id, side_of
from harness.explain.sides import Side
from harness.failures import message_of
from harness.targets import FORMS, NotLoadable, is_target, load_object
from impls.core.errors import UnknownName
from impls.core.model.model import Model


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
        return _with_model(side_of(load_object(spec, model), spec, allow_special=allow_special), model)
    if path.is_file():
        return _of_file(path, allow_special)
    if os.sep in spec or path.suffix:
        raise NotLoadable(f"{spec}: there is no such file; give {FORMS}")
    raise UnknownName(
        "implementation", spec, [*impls.names(), "module:object", "a Python file", "a model file", "cmd:COMMAND"]
    )


def _with_model(side: Side, model: Model | None) -> Side:
    """Assume that a side which exposes nothing runs `model`, unless its answers contradict that."""
    if side.model is not None or side.token_bytes is not None or model is None:
        return side
    return replace(
        side,
        model=model,
        about=f"{side.about}; assumed to run the model given",
        split=pieces_by(model),
        normalize=model.normalize,
        whole_tokens=side.whole_tokens or model.whole_token_ids,
        is_guess=True,
    )


def _of_file(path: Path, allow_special: bool) -> Side:
    head = path.read_bytes()[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"\n\x0e\n\x05<unk>") or (path.suffix == ".model" and b"<unk>" in path.read_bytes()[:64]):
        return _sentencepiece(path)
    if head.startswith(b"{") and b'"bpebench model"' not in head[:100]:
        return side_of(_hugging_face(path), path.name)
    from harness.data import load_model

    model = load_model(path)
    by = "tiktoken" if not head.startswith(b"{") else "priority"
    return side_of(impls.load(by, model), f"{path.name} by {by}", allow_special=allow_special)


def _hugging_face(path: Path) -> object:
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a plain Exception
        raise NotLoadable(f"{path}: tokenizers does not read it: {message_of(error)[:200]}") from None


def _sentencepiece(path: Path) -> Side:
    import sentencepiece

    try:
        processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise NotLoadable(f"{path}: sentencepiece does not read it: {message_of(error)[:200]}") from None
    model = Model.load(path)
    return Side(
        name=path.name,
        encode=lambda text: list(processor.encode(text)),
        decode=lambda ids: str(processor.decode(ids)),
        about="sentencepiece.SentencePieceProcessor",
        model=model,
        algorithm="leftmost",
        normalize=model.normalize,
        split=pieces_by(model),
        token_bytes=seen_bytes_by_id(model).get,
    )
