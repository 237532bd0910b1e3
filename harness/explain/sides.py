"""A side of a comparison: something that encodes and decodes, and whatever it lets be known about itself.

A side made of one of our implementations knows its model and its way; one made of a library's own object tells what
the library exposes (tokenizers its normaliser and its pieces, tiktoken its pattern and ranks). Anything else is a
black box with `encode` and `decode`, and the rest is found by asking it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from harness.explain.ways import OWN_WAY, Rules, Way
from impls.byte_alphabet import CHARACTER_TO_BYTE, from_printable
from impls.errors import BPEError
from impls.interface import Tokenizer
from impls.model import Model
from impls.patterns import Splitter
from impls.sentencepiece_rules import Cuts

SplitBy = Literal["told", "pattern"]


@dataclass(kw_only=True)
class Side:
    """What is asked (`encode`, `decode`), and what is known beforehand; None for what is not."""

    name: str
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    about: str = ""
    model: Model | None = None
    """The merges its ids are derived by."""
    way: Way | None = None
    way_is_sure: bool = False
    """Whether `way` is how it works (our own implementations); else it is believed until its ids say otherwise."""
    normalize: Callable[[str], str] | None = None
    """A segment without special tokens -> the text that is cut into pieces."""
    split: Callable[[str], list[str]] | None = None
    """A normalised segment -> the pieces as the merges see them."""
    split_by: SplitBy = "pattern"
    token_bytes: Callable[[int], bytes | None] | None = None
    whole_tokens: Mapping[str, int] = field(default_factory=dict)
    """Special and added tokens it has."""
    hints: tuple[str, ...] = ()
    """What is known to go wrong with such a side, for the evidence."""

    @cached_property
    def rules(self) -> Rules | None:
        """The merges as the ways look them up."""
        return None if self.model is None else Rules(self.model)

    def token(self, i: int) -> bytes | None:
        """The bytes of an id, or None where they are not known."""
        if self.token_bytes is not None:
            return self.token_bytes(i)
        text = self.decode([i])
        return None if not text or "\ufffd" in text else text.encode("utf-8", "surrogatepass")


def side_of(target: object, name: str, *, allow_special: bool = False) -> Side:
    """A side of one of our tokenizers, an object of tiktoken or tokenizers, or anything that encodes and decodes.

    With `allow_special` special tokens in a text become their id, as far as the side can; else they are ordinary
    text, where the side can do that (tokenizers parses them always).
    """
    if isinstance(target, Side):
        return target
    if isinstance(target, Tokenizer):
        return _own(target, name, allow_special)
    module = type(target).__module__.partition(".")[0]
    if module == "tiktoken" and hasattr(target, "_mergeable_ranks"):
        return _tiktoken(target, name, allow_special)
    if module == "tokenizers" and hasattr(target, "pre_tokenizer"):
        return _hugging_face(target, name)
    return _black_box(target, name)


_TELLING = ("tokenizers", "sentencepiece")
"""Libraries behind our adapters that tell their pieces, or are given them by us."""

# --- our own, and the libraries over our models --------------------------------------------------------------


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
        about=f"{tokenizer.summary or tokenizer.kind}; {_about_model(model)}",
        model=model,
        way=OWN_WAY.get(tokenizer.name, "leftmost"),
        way_is_sure=ours,
        normalize=model.normalize,
        split=pieces_by(model) if inner is None else _pieces_of(inner, model.alphabet == "bytes"),
        split_by="told" if tokenizer.kind == "pure" or tokenizer.name in _TELLING else "pattern",
        token_bytes=seen_bytes_by_id(model).get,
        whole_tokens=model.whole_token_ids,
        hints=_hints_of_model(model),
    )


def pieces_by(model: Model) -> Callable[[str], list[str]]:
    """A normalised text -> its pieces by the model: its pattern, and the cuts of SentencePiece's rules."""
    split = Splitter(model.pattern).split
    if model.sentencepiece is None:
        return split
    cut = Cuts(model).cut
    return lambda text: [part for piece in split(text) for part in cut(piece)]


def seen_bytes_by_id(model: Model) -> dict[int, bytes]:
    """What each id stands for in the text the merges see: no marks for the end of a word, but those for spaces."""
    by_id = model.bytes_by_id() | {i: token for i, token in enumerate(model.tokens) if token is not None}
    if model.end_of_word is not None:
        by_id = {i: token.removesuffix(model.end_of_word.encode()) for i, token in by_id.items()}
    if model.sentencepiece is not None:
        by_id |= {i: bytes([byte]) for byte, i in enumerate(model.sentencepiece.byte_ids)}
    return by_id


def _about_model(model: Model) -> str:
    rule = "joined bytes are looked up" if model.merge_rule == "concatenation" else f"{len(model.merges)} listed merges"
    extras = [
        *(["whole pieces in the vocabulary are one token"] if model.ignore_merges else []),
        *([f"normalisation {model.normalization}"] if model.normalization else []),
    ]
    return "; ".join([rule, *extras])


def _hints_of_model(model: Model) -> tuple[str, ...]:
    """Pairs that are listed twice: which of their ranks counts is a convention."""
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


# --- tiktoken ------------------------------------------------------------------------------------------------


def _tiktoken(encoding: Any, name: str, allow_special: bool) -> Side:
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
        way="leftmost",
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
    except BPEError:  # a pattern that captures, a missing byte: it runs there all the same
        return None


# --- Hugging Face's library ------------------------------------------------------------------------------------


def _hugging_face(tokenizer: Any, name: str) -> Side:
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
        way="leftmost",
        normalize=(lambda segment: segment)
        if tokenizer.normalizer is None
        else lambda segment: str(tokenizer.normalizer.normalize_str(segment)),
        split=_pieces_of(tokenizer, byte_level),
        split_by="told",
        token_bytes=by_id.get,
        whole_tokens=added,
        hints=_hints_of_document(document),
    )


def _pieces_of(tokenizer: Any, byte_level: bool) -> Callable[[str], list[str]]:
    """The pieces the library itself tells, its printable bytes read back."""

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
    """The vocabulary and merges of a tokenizer.json; None for what no list of merges tells (other kinds, dropout)."""
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


# --- anything else ---------------------------------------------------------------------------------------------


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


def black_box(
    name: str,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[list[int]], str],
    *,
    token_bytes: Callable[[int], bytes | None] | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Side:
    """A side known by `encode` and `decode` only; the bytes of an id and its special tokens where it tells."""
    return Side(
        name=name,
        encode=lambda text: list(encode(text)),
        decode=decode,
        about="known by its answers only",
        token_bytes=token_bytes,
        whole_tokens=special_tokens or {},
    )
