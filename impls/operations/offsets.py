"""Encoding with offsets: the ids of a text, and the span of the text that each token comes from.

    encode_with_offsets("a😀b")                    spans [0, 1) [1, 2) [1, 2) [2, 3), if 😀 is two tokens
    encode_with_offsets("a😀b", unit="utf16")      spans [0, 1) [1, 3) [1, 3) [3, 4)

A token's span is that of all characters that one of its bytes belongs to, so tokens inside one character have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Unpack, get_args

import numpy as np

from impls.core.arguments import Special, SpecialSet, check_text
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model import Model
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.text import repair_surrogates
from impls.core.text.tracing import Traced, surrogates_repaired
from impls.operations.coder import Coder
from impls.operations.specials import is_ordinary
from impls.operations.stream_rules import stream_rules

Unit = Literal["codepoint", "byte", "utf16"]


class How(Special, total=False):
    """The arguments of `Tokenizer.encode_with_offsets`."""

    unit: Unit


def encode_with_offsets(
    tokenizer: Coder, text: str, *, unit: Unit = "codepoint", **special: Unpack[Special]
) -> tuple[list[int], np.ndarray]:
    """Return the ids of `encode`, and the start and end of each token: int64 of shape (n_tokens, 2).

    They count code points of `text`, UTF-8 bytes, or UTF-16 units, and include every character that has a byte of
    the token; in bytes, a token has its own bytes only if the model is over bytes and changes no text. Where the
    text is rewritten (a normal form, white space marks), each character counts as the characters of `text` it was
    made from, one that was inserted as an adjacent one; one that was removed is in no token. See `core.text.places`.
    A lone surrogate is one character, of three bytes. Special and added tokens include white space they absorb.
    Raise `Unsupported` where ids do not spell the text by the model's tokens, ValueError for another unit.
    """
    if unit not in get_args(Unit):
        raise ValueError(f"unit must be one of {', '.join(get_args(Unit))}, not {unit!r}")
    check_text(text)
    if tokenizer.model.derived(_spells_texts) and repair_surrogates(text) is text:
        ids = tokenizer.encode(text, **special)
        spans = _spans_of_spelled(tokenizer, ids, text, in_bytes=unit == "byte")
        return ids, spans if unit == "byte" else _in_unit(text, spans, unit)
    is_ordinary(tokenizer, text, **special)
    return _traced(tokenizer, text, unit, special.get("allowed_special", ()))


# --- models over bytes that change no text -------------------------------------------------------------------


def _spells_texts(model: Model) -> bool:
    """Return whether the bytes of the ids are those of the text."""
    changed = model.rewrites_text or model.whole_token_flags or model.splitter.drops or model.end_of_word
    return model.alphabet == "bytes" and not changed


def _spans_of_spelled(tokenizer: Coder, ids: Sequence[int], text: str, *, in_bytes: bool) -> np.ndarray:
    """Return the starts and ends, in bytes or characters, of tokens over bytes in the text they spell."""
    n_bytes, n_characters, are_within = stream_rules(tokenizer.model).sizes
    places = np.asarray(ids, np.int64)
    if len(places) and places.max() >= len(n_bytes):
        raise _not_spelled(tokenizer)
    sizes = (n_bytes if in_bytes else n_characters)[places]
    ends = np.cumsum(sizes)
    if int(sizes.sum()) != (len(text.encode()) if in_bytes else len(text)):
        raise _not_spelled(tokenizer)
    return np.stack([ends - sizes - (0 if in_bytes else are_within[places]), ends], axis=1)


def _not_spelled(tokenizer: Coder) -> Unsupported:
    return Unsupported(tokenizer.name, "its ids do not spell the text by the model's tokens: they have no places in it")


# --- all others ------------------------------------------------------------------------------------------------


def _traced(tokenizer: Coder, text: str, unit: Unit, allowed_special: SpecialSet) -> tuple[list[int], np.ndarray]:
    """Return `encode_with_offsets`, computed part by part."""
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    for raw, part, i in tokenizer.model.derived(WholeTokens).traced_parts(surrogates_repaired(text), allowed_special):
        if i is not None:
            ids.append(i)
            spans.append((part.starts[0], part.ends[-1]))
            continue
        try:
            given = raw if tokenizer.normalizes else part
            part_ids = tokenizer.encode_normalized(given.text)
        except UnknownSymbol as error:
            raise UnknownSymbol(error.character, given.starts[error.offset]) from None
        ids += part_ids
        spans += _spans_in_part(tokenizer, part_ids, part)
    return ids, _in_unit(text, np.array(spans, np.int64).reshape(-1, 2), unit)


def _spans_in_part(tokenizer: Coder, ids: list[int], part: Traced) -> list[tuple[int, int]]:
    """Return the span of each token of a rewritten text in the original one."""
    model, rules = tokenizer.model, tokenizer.model.sentencepiece
    if model.alphabet == "bytes" and model.end_of_word is None and not model.splitter.drops:
        spans = _spans_of_spelled(tokenizer, ids, part.text, in_bytes=False).tolist()
    else:
        if rules is not None and rules.byte_ids and not rules.spells_all and model.unknown_id is not None:
            why = "where bytes are missing, unknown tokens come after the bytes that follow them"
            raise Unsupported(tokenizer.name, why)
        spans = [(start, end) for _, _, start, end in spans_in_text(tokenizer, part.text, ids)]
    return [(part.starts[start], part.ends[end - 1]) for start, end in spans]


def spans_in_text(tokenizer: Coder, text: str, ids: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the index of the piece of each id of a rewritten text, the id, and its start and end in the text."""
    model, remaining = tokenizer.model, iter(ids)
    for k, (start, end) in enumerate(model.splitter.spans(text)):
        piece = text[start:end]
        for cut in [piece] if model.cuts is None else model.cuts.cut(piece):
            for i, first, last in _spans_in_piece(tokenizer, cut, remaining):
                yield k, i, start + first, start + last
            start += len(cut)
    if next(remaining, None) is not None:
        raise _not_spelled(tokenizer)


def _spans_in_piece(tokenizer: Coder, piece: str, ids: Iterator[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the next of `ids` that spell a piece, with the start and the end of each in its characters."""
    model = tokenizer.model
    is_token = model.whole_piece(piece) is not None or (model.cuts is not None and piece in model.cuts.user_defined)
    if is_token and (i := next(ids, None)) is not None:
        yield i, 0, len(piece)
        return
    places = [k for k, character in enumerate(piece) for _ in character.encode()]
    symbols = zip(*model.symbols_of_parts(piece), strict=True)
    at = 0
    for symbol, part in symbols:
        if (i := next(ids, None)) is None:
            raise _not_spelled(tokenizer)
        start, n_left, at = at, _n_bytes(model, i) - _n_bytes(model, symbol), at + _n_written(part)
        while n_left > 0 and (following := next(symbols, None)) is not None:
            n_left, at = n_left - _n_bytes(model, following[0]), at + _n_written(following[1])
        yield i, places[start], places[at - 1] + 1


def _n_written(part: str | None) -> int:
    return 1 if part is None else len(part.encode())


def _n_bytes(model: Model, i: int) -> int:
    return len((model.tokens[i] if i < len(model.tokens) else None) or b"")


# --- units -----------------------------------------------------------------------------------------------------


def _in_unit(text: str, spans: np.ndarray, unit: Unit) -> np.ndarray:
    """Return spans in code points of `text` in another unit."""
    if unit == "codepoint":
        return spans
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    steps = (0x80, 0x800, 0x10000) if unit == "byte" else (0x10000,)
    sizes = 1 + sum((codes >= step).astype(np.int64) for step in steps)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]).take(spans)
