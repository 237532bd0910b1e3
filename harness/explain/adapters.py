"""Adapters from tokenizers to sides: our own with their model and algorithm, library objects with what they expose.

Anything else is a black box with `encode` and `decode`, and the rest is found by probing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.explain.algorithms import ALGORITHM_OF
from harness.explain.library_sides import hugging_face_side, pieces_of, tiktoken_side
from harness.explain.rules import Rules
from harness.explain.sides import Side, black_box
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.sentencepiece_rules import Cuts
from impls.interface import Tokenizer


def side_of(target: object, name: str, *, allow_special: bool = False) -> Side:
    """Return a side for one of our tokenizers, an object of a library, or anything that encodes and decodes.

    With `allow_special` special tokens in a text become their id, where the side supports it; otherwise they are
    ordinary text, again where it does (tokenizers always parses them).
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
    return _black_box(target, name)


_EXPOSE_PIECES = ("tokenizers", "sentencepiece")
"""Libraries whose pieces our implementations know: the library exposes them, or we pass them in."""


_KINDS = {
    "pure": "our pure implementation",
    "compiled": "our compiled implementation",
    "production": "library",
    "peer": "peer library",
    "third-party": "plug-in",
}


def _own(tokenizer: Tokenizer, name: str, allow_special: bool) -> Side:
    model = tokenizer.model

    def encode(text: str) -> list[int]:
        return tokenizer.encode(text, allowed_special="all" if allow_special else (), disallowed_special=())

    ours = tokenizer.kind in ("pure", "compiled")
    inner = getattr(tokenizer, "_tokenizer", None) if tokenizer.name == "tokenizers" else None
    return Side(
        name=name,
        encode=encode,
        decode=lambda ids: tokenizer.decode(ids),
        about=f"{_KINDS[tokenizer.kind]}, over {_about_model(model)}",
        model=model,
        algorithm=ALGORITHM_OF.get(tokenizer.name, "leftmost"),
        algorithm_is_known=ours,
        normalize=model.normalize,
        split=pieces_by(model) if inner is None else pieces_of(inner, model.alphabet == "bytes"),
        split_by="told" if tokenizer.kind == "pure" or tokenizer.name in _EXPOSE_PIECES else "pattern",
        token_bytes=seen_bytes_by_id(model).get,
        whole_tokens=model.whole_token_ids,
        hints=_hints_of_model(model),
    )


def pieces_by(model: Model) -> Callable[[str], list[str]]:
    """Return a function from a normalised text to its pieces by the model's pattern and SentencePiece's rules."""
    split = Splitter(model.pattern).split
    if model.sentencepiece is None:
        return split
    cut = Cuts(model).cut
    return lambda text: [part for piece in split(text) for part in cut(piece)]


def seen_bytes_by_id(model: Model) -> dict[int, bytes]:
    """Return the bytes of each id in the text the merges see: without end-of-word marks, with those for spaces."""
    by_id = model.bytes_by_id() | {i: token for i, token in enumerate(model.tokens) if token is not None}
    if model.end_of_word is not None:
        by_id = {i: token.removesuffix(model.end_of_word.encode()) for i, token in by_id.items()}
    if model.sentencepiece is not None:
        by_id |= {i: bytes([byte]) for byte, i in enumerate(model.sentencepiece.byte_ids)}
    return by_id


def _about_model(model: Model) -> str:
    n_merges = len(model.merges)
    rule = (
        "a model that looks joined bytes up" if model.merge_rule == "concatenation" else f"{n_merges:,} listed merges"
    )
    extras = [
        *(["whole pieces in the vocabulary are one token"] if model.ignore_merges else []),
        *([f"normalisation {model.normalization}"] if model.normalization else []),
    ]
    return "; ".join([rule, *extras])


def _hints_of_model(model: Model) -> tuple[str, ...]:
    """Return a hint for each pair that is listed twice: which of its ranks counts is a convention."""
    if len(set(model.merges)) == len(model.merges):
        return ()
    listed: dict[tuple[int, int], list[int]] = {}
    for rank, pair in enumerate(model.merges):
        listed.setdefault(pair, []).append(rank)
    text = Rules(model).texts
    return tuple(
        f"the merge {'+'.join(text(pair))} is listed {len(ranks)} times (ranks {', '.join(map(str, ranks))}); "
        "the later rank counts, as in Hugging Face's library"
        for pair, ranks in listed.items()
        if len(ranks) > 1
    )


def _black_box(target: object, name: str) -> Side:
    found: Any = target
    special = getattr(found, "special_tokens", None)
    return black_box(
        name,
        lambda text: [int(i) for i in found.encode(text)],
        lambda ids: str(found.decode(ids)),
        token_bytes=found.token_bytes if callable(getattr(found, "token_bytes", None)) else None,
        special_tokens=special if isinstance(special, Mapping) else {},
    )
