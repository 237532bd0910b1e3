"""Text around special and added tokens: which are recognised, which are refused, and what lies between is ordinary.

    encode("a<s>b", allowed_special={"<s>"})      ids of "a", the id of <s>, ids of "b"

Ordinary text is prepared for an implementation: surrogates repaired, and in the model's normal form. An implementation
that raises `refusals` for a text that needs it gets the text as it is first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from random import Random
from typing import Any, TypeVar, Unpack

import numpy as np

from impls.core.arguments import (
    Special,
    SpecialSet,
    check_special_sets,
    check_text,
    check_texts,
    whole_number,
    wrong_type,
)
from impls.core.errors import UnknownSymbol
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.text import repair_surrogates
from impls.operations import pieces
from impls.operations.coder import Coder

Ids = TypeVar("Ids")
Write = Callable[[Coder, Any], Any]
Encode = Callable[[str], list[int]]
Normalize = Callable[[str, bool], str]


def encode(tokenizer: Coder, text: str, **special: Unpack[Special]) -> list[int]:
    """Return `Tokenizer.encode`."""
    if is_ordinary(tokenizer, text, **special):
        return prepared(tokenizer, tokenizer.encode_normalized, written, text)
    return encode_parts(tokenizer, text, special)


def encode_array(tokenizer: Coder, text: str, **special: Unpack[Special]) -> np.ndarray:
    """Return `Tokenizer.encode_array`."""
    if is_ordinary(tokenizer, text, **special):
        return prepared(tokenizer, tokenizer.encode_normalized_array, written, text)
    return np.array(encode_parts(tokenizer, text, special), dtype=np.uint32)


def encode_with_dropout(
    tokenizer: Coder, text: str, *, probability: float, seed: int, **special: Unpack[Special]
) -> list[int]:
    """Return the ids of `text` with each possible merge dropped with `probability`; deterministic in `seed`.

    In each step the possible merges of a piece are tried by rank, then from left to right, each with the next number of
    one generator, until one is not dropped; a piece is done when none is left (BPE-dropout: Provilkov, Emelianenko and
    Voita 2020). So all implementations give the same ids. With 0 they are those of `encode`, with 1 those of the base
    symbols; in between, whole pieces are not looked up in the vocabulary. Raise `Unsupported`, or ValueError for an
    out-of-range probability.
    """
    if not isinstance(probability, Real):
        raise wrong_type("probability", "a number", probability)
    if not 0 <= probability <= 1:
        raise ValueError(f"the probability of leaving a merge out must be from 0 to 1, not {probability!r}")
    draw = Random(whole_number("seed", seed)).random
    drops = iter(lambda: draw() < probability, None)
    if probability == 0:
        return tokenizer.encode(text, **special)

    def encode_normalized(given: str) -> list[int]:
        return pieces.encode(tokenizer.model, given, lambda piece: tokenizer.encode_piece_with_dropout(piece, drops))

    if is_ordinary(tokenizer, text, **special):
        return encode_normalized(written(tokenizer, text))
    return encode_parts(tokenizer, text, special, encode_normalized)


def is_ordinary(tokenizer: Coder, text: str, **special: Unpack[Special]) -> bool:
    """Return whether `text` contains no special or added token to encode; raise `SpecialToken` for a disallowed one."""
    check_text(text)
    return are_ordinary(tokenizer, (text,), **special)


def are_ordinary(
    tokenizer: Coder, texts: Sequence[str], *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
) -> bool:
    """Return whether no text contains a special or added token to encode."""
    if not (allowed_special or disallowed_special or tokenizer.model.added_tokens):
        return True
    check_texts(texts)
    check_special_sets(allowed_special, disallowed_special)
    occur = tokenizer.model.derived(WholeTokens).occur
    return not any(occur(text, allowed_special, disallowed_special) for text in texts)


def prepared(tokenizer: Coder, encode: Callable[..., Ids], write: Write, given: Any, *arguments: int) -> Ids:
    """Return `encode(given, *arguments)`; what is given, a text or several, is repaired and normalised if needed."""
    if tokenizer.refusals:
        try:
            return encode(given, *arguments)
        except tokenizer.refusals:
            pass
    return encode(write(tokenizer, given), *arguments)


def written(tokenizer: Coder, text: str) -> str:
    """Return a text without surrogates, in normal form unless the implementation normalises itself."""
    check_text(text)
    text = repair_surrogates(text)
    return text if tokenizer.normalizes else tokenizer.model.normalize(text)


def encode_parts(
    tokenizer: Coder, text: str, special: Special, encode: Encode | None = None, normalize: Normalize | None = None
) -> list[int]:
    """Return the ids of allowed special tokens, of added tokens, and of the text between, which is normalised by
    `normalize`, a function of a segment and whether it begins the text, and encoded by `encode`."""
    model, encode = tokenizer.model, encode or tokenizer.encode_normalized

    def normal_form(segment: str, begins: bool) -> str:
        return segment if tokenizer.normalizes else model.normalize(segment, first=begins)

    allowed = special.get("allowed_special", ())
    ids: list[int] = []
    for part, i, offset in model.derived(WholeTokens).parts(repair_surrogates(text), allowed, normalize or normal_form):
        try:
            ids += encode(part) if i is None else [i]
        except UnknownSymbol as error:
            raise UnknownSymbol(error.character, offset + error.offset) from None
    return ids
