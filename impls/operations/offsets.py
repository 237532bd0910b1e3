"""Encoding with offsets: the ids of a text, and the span of the text that each token comes from.

    encode_with_offsets("a😀b")                    spans [0, 1) [1, 2) [1, 2) [2, 3), if 😀 is two tokens
    encode_with_offsets("a😀b", unit="utf16")      spans [0, 1) [1, 3) [1, 3) [3, 4)

A token's span is that of all characters that one of its bytes belongs to, so tokens inside one character have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from impls.core.arguments import Special, SpecialSet, check_text
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.model.whole_tokens import WholeTokens
from impls.core.text.tracing import Traced, surrogates_repaired
from impls.operations.coder import Coder
from impls.operations.specials import is_ordinary

if TYPE_CHECKING:
    import numpy as np

    from impls.core.model import Model

Unit = Literal["codepoint", "byte", "utf16"]


class How(Special, total=False):
    """The arguments of `Tokenizer.encode_with_offsets`."""

    unit: Unit


def encode_with_offsets(
    tokenizer: Coder,
    text: str,
    *,
    unit: Unit = "codepoint",
    allowed_special: SpecialSet = (),
    disallowed_special: SpecialSet = "all",
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
    if tokenizer.model.derived(_spells_texts):
        try:
            data = text.encode()
        except UnicodeEncodeError:
            pass
        else:
            ids = tokenizer.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
            return ids, in_unit(data, *_byte_spans(tokenizer, ids, len(data)), unit)
    is_ordinary(tokenizer, text, allowed_special, disallowed_special)
    return _traced(tokenizer, text, unit, allowed_special)


# --- models over bytes that change no text -------------------------------------------------------------------


def _spells_texts(model: Model) -> bool:
    """Return whether the bytes of the ids are those of the text."""
    changed = model.rewrites_text or model.whole_token_flags or model.splitter.drops or model.end_of_word
    return model.alphabet == "bytes" and not changed


def _n_bytes_by_id(model: Model) -> np.ndarray:
    import numpy as np

    sizes = np.zeros(model.vocab_size, np.int64)
    for i, token in model.bytes_by_id().items():
        sizes[i] = len(token)
    return sizes


def _byte_spans(tokenizer: Coder, ids: Sequence[int], n_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and the ends of tokens over bytes in the text they spell, which has `n_bytes`."""
    import numpy as np

    places = np.asarray(ids, np.int64)
    by_id = tokenizer.model.derived(_n_bytes_by_id)
    sizes = by_id[places[places < len(by_id)]]
    ends = np.cumsum(sizes)
    if (int(ends[-1]) if len(ends) else 0) != n_bytes or len(sizes) != len(ids):
        raise _not_spelled(tokenizer)
    return ends - sizes, ends


def _not_spelled(tokenizer: Coder) -> Unsupported:
    return Unsupported(
        tokenizer.name, "its ids do not spell the text by the model's tokens, so they have no places in it"
    )


# --- all others ------------------------------------------------------------------------------------------------


def _traced(tokenizer: Coder, text: str, unit: Unit, allowed_special: SpecialSet) -> tuple[list[int], np.ndarray]:
    """Return `encode_with_offsets`, computed part by part."""
    import numpy as np

    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    source = surrogates_repaired(text)
    for raw, part, i in tokenizer.model.derived(WholeTokens).traced_parts(source, allowed_special):
        if i is not None:
            ids.append(i)
            spans.append((part.starts[0], part.ends[-1]))
            continue
        try:
            given = raw if tokenizer.normalizes else part
            found = tokenizer.encode_normalized(given.text)
        except UnknownSymbol as error:
            raise UnknownSymbol(error.character, given.starts[error.offset]) from None
        ids += found
        spans += _spans_in_part(tokenizer, found, part)
    places = np.array(spans, np.int64).reshape(-1, 2)
    if unit == "codepoint":
        return ids, places
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    steps = (0x80, 0x800, 0x10000) if unit == "byte" else (0x10000,)
    sizes = 1 + sum((codes >= step).astype(np.int64) for step in steps)
    return ids, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])[places]


def _spans_in_part(tokenizer: Coder, ids: list[int], part: Traced) -> list[tuple[int, int]]:
    """Return the span of each token of a rewritten text in the original one."""
    model, rules = tokenizer.model, tokenizer.model.sentencepiece
    if model.alphabet == "bytes" and model.end_of_word is None and not model.splitter.drops:
        data = part.text.encode()
        spans = in_unit(data, *_byte_spans(tokenizer, ids, len(data)), "codepoint").tolist()
    else:
        if rules is not None and rules.byte_ids and not rules.spells_all and model.unknown_id is not None:
            raise Unsupported(
                tokenizer.name, "where bytes are missing, unknown tokens come after the bytes that follow them"
            )
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
    if tokenizer.model.whole_piece(piece) is not None and (i := next(ids, None)) is not None:
        yield i, 0, len(piece)
        return
    places = [k for k, character in enumerate(piece) for _ in character.encode()]
    unknown = _unknown_sizes(tokenizer.model, piece)
    at = 0
    while at < len(places):
        if (i := next(ids, None)) is None:
            raise _not_spelled(tokenizer)
        size = _n_bytes_in_piece(tokenizer.model, i, len(places) - at, unknown)
        yield i, places[at], places[min(at + max(size, 1), len(places)) - 1] + 1
        at += size


def _n_bytes_in_piece(model: Model, i: int, n_left: int, unknown: Iterator[int]) -> int:
    """Return how many of the `n_left` bytes of its piece a token has."""
    if i in model.derived(_byte_ids):
        return 1
    if i == model.unknown_id and model.alphabet == "chars":
        return next(unknown)
    size = len((model.tokens[i] if i < len(model.tokens) else None) or b"")
    if model.end_of_word is not None and size > n_left:
        size -= len(model.end_of_word.encode())
    return size


def _byte_ids(model: Model) -> frozenset[int]:
    return frozenset() if model.sentencepiece is None else frozenset(model.sentencepiece.byte_ids) - {-1}


def _unknown_sizes(model: Model, piece: str) -> Iterator[int]:
    """Yield the bytes each unknown token of a piece represents: those of one character, or of several
    fused ones."""
    rules = model.sentencepiece
    fused = 0
    for k, character in enumerate(piece):
        symbol = character + ((model.end_of_word or "") if k == len(piece) - 1 else "")
        is_known = symbol.encode() in model.id_by_token
        if is_known and fused:
            yield fused
            fused = 0
        if is_known and model.id_by_token[symbol.encode()] == model.unknown_id:  # a symbol like any other
            yield len(character.encode())
        if not (is_known or (rules is not None and rules.spelled(character))):
            fused += len(character.encode())
        if fused and not (rules is not None and rules.fuse_unknown):
            yield fused
            fused = 0
    if fused:
        yield fused


def in_unit(data: bytes, starts: np.ndarray, ends: np.ndarray, unit: Unit) -> np.ndarray:
    """Return spans in UTF-8 `data` (bytes) in another unit, widened to whole characters: int64 of shape (n, 2)."""
    import numpy as np

    if unit != "byte" and not data.isascii():
        codes = np.frombuffer(data, np.uint8)
        begins = (codes & 0xC0) != 0x80
        number = np.cumsum(begins)  # number of the character that a byte belongs to, from 1
        starts, ends = number[starts] - 1, number[ends - 1]
        if unit == "utf16":
            units = np.concatenate([[0], np.cumsum(1 + (codes[begins] >= 0xF0))])
            starts, ends = units[starts], units[ends]
    return np.stack([starts, ends], axis=1).astype(np.int64)
