"""The sides a command line names: an implementation, `module:object`, or a model file run by its own library."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import impls
from harness.explain.making import pieces_by, seen_bytes_by_id, side_of
from harness.explain.sides import Side
from harness.factories import needs_argument
from impls.errors import BPEError, UnknownName, Unsupported
from impls.model import Model

_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class BadTarget(BPEError):
    """A side that cannot be loaded; the message says why and what can be."""


def load_side(spec: str, model: Model | None, *, allow_special: bool = False) -> Side:
    """The side `spec` names: an implementation (over `model`), `module:object`, or a file of a model.

    `module:object` is imported with the current folder on the path: something with `encode` and `decode`, or a class or
    function that gives it, called without arguments or with `model`. A tokenizer.json runs by tokenizers, a
    SentencePiece model by sentencepiece, a rank file by tiktoken. Raises `BadTarget`, or what loading a model raises.
    """
    if spec in impls.names():
        if model is None:
            raise BadTarget(f"{spec}: give the model it shall run with -m")
        return side_of(impls.load(spec, model), spec, allow_special=allow_special)
    if _OBJECT.fullmatch(spec):
        return _with_model(side_of(imported(spec, model), spec, allow_special=allow_special), model)
    path = Path(spec)
    if path.is_file():
        return _of_file(path, allow_special)
    if os.sep in spec or path.suffix:
        raise BadTarget(f"{spec}: there is no such file; give an implementation, module:object or a model file")
    raise UnknownName("implementation", spec, [*impls.names(), "module:object", "a model file"])


def _with_model(side: Side, model: Model | None) -> Side:
    """A side that tells nothing of itself is taken to run `model`, as long as its answers do not say otherwise."""
    if side.model is not None or side.token_bytes is not None or model is None:
        return side
    return replace(
        side,
        model=model,
        about=f"{side.about}; taken to run the model given",
        split=pieces_by(model),
        normalize=model.normalize,
        whole_tokens=side.whole_tokens or model.whole_token_ids,
        is_guess=True,
    )


def imported(spec: str, model: Model | None) -> object:
    """What `module:object` stands for, made with `model` where it needs one; raises `BadTarget`, or `Unsupported`."""
    module, _, attribute = spec.partition(":")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 - what Python itself puts there
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BadTarget(f"{spec}: the module {module!r} cannot be imported: {_told(error)}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise BadTarget(f"{spec}: {module!r} has no {attribute!r}")
        found = getattr(found, part)
    if not isinstance(found, type) and hasattr(found, "encode") and hasattr(found, "decode"):
        return found
    if not callable(found):
        raise BadTarget(f"{spec}: it has no encode and decode, and is nothing to call")
    try:
        made: object = found(model) if model is not None and needs_argument(found) else found()
    except (KeyboardInterrupt, Unsupported):
        raise
    except BaseException as error:
        raise BadTarget(f"{spec}: making it raised {_told(error)}") from None
    if not (hasattr(made, "encode") and hasattr(made, "decode")):
        raise BadTarget(f"{spec}: it gives {type(made).__name__}, which has no encode and decode")
    return made


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


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
    except Exception as error:  # what the library raises is a plain Exception
        raise BadTarget(f"{path}: tokenizers does not read it: {' '.join(str(error).split())[:200]}") from None


def _sentencepiece(path: Path) -> Side:
    import sentencepiece

    try:
        processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise BadTarget(f"{path}: sentencepiece does not read it: {' '.join(str(error).split())[:200]}") from None
    model = Model.load(path)
    return Side(
        name=path.name,
        encode=lambda text: list(processor.encode(text)),
        decode=lambda ids: str(processor.decode(ids)),
        about="sentencepiece.SentencePieceProcessor",
        model=model,
        way="leftmost",
        normalize=model.normalize,
        split=pieces_by(model),
        token_bytes=seen_bytes_by_id(model).get,
    )
