"""The tokens of a text, and where in it they come from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import numpy as np

import impls
from harness.measure.token_use import TokenArray
from impls.core.arguments import SpecialSet
from impls.core.errors import BPEError
from impls.core.model.model import Model
from impls.core.text.sentencepiece_rules import SPACE_MARK

_UNKNOWN = b"\xff"
"""Represents an unknown token; a byte that UTF-8 never has."""


def spelling(model: Model) -> TokenArray:
    """Return the bytes of each id as in a text: without end-of-word marks, with spaces for SentencePiece's."""
    by_id = model.bytes_by_id()
    if model.end_of_word is not None:
        end = model.end_of_word.encode()
        marked = ((i, token) for i, token in enumerate(model.tokens) if token is not None and token.endswith(end))
        by_id |= {i: token.removesuffix(end) for i, token in marked}
    by_id |= {i: text.encode() for text, i in model.special_tokens.items()}
    if model.unknown_id is not None:
        by_id[model.unknown_id] = _UNKNOWN
    return TokenArray(by_id)


def spans_of(starts: np.ndarray, ends: np.ndarray, data: bytes) -> list[list[int]]:
    """Return first byte, end byte, first and end code point of tokens; a character cut by a token counts whole."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    before = np.concatenate([[0], np.cumsum(begins)])
    last = before[ends]
    within = before[np.minimum(starts + 1, len(data))] - 1
    spans: list[list[int]] = np.stack([starts, ends, np.where(starts < ends, within, last), last], axis=1).tolist()
    return spans


def piece_starts(pieces: Sequence[str], lengths: np.ndarray, model: Model) -> np.ndarray | None:
    """Return the index of the token that begins each piece, as far as one does; None if they spell another text."""
    if model.sentencepiece is not None:
        pieces = [piece.replace(SPACE_MARK, " ") for piece in pieces]
    ends = np.cumsum([0, *(len(piece.encode()) for piece in pieces)])
    borders = np.cumsum([0, *lengths])
    if ends[-1] != borders[-1]:
        return None
    first = np.minimum(np.searchsorted(borders[:-1], ends[:-1]), max(len(lengths) - 1, 0))
    return np.unique(first[borders[first] == ends[:-1]]) if len(lengths) else first[:0]


MOST_SPLIT_BYTES = 256 << 10
"""Longest text whose pieces are found without being requested, since splitting takes time."""


class Tokens:
    """The tokens of a text, and the bytes of it that each comes from."""

    def __init__(
        self, tokenizer: impls.Tokenizer, spelled: TokenArray, text: str, ids: list[int], allowed: SpecialSet = ()
    ) -> None:
        """Find the borders of `ids`, those of `text` with tokens `allowed`; raise `BPEError` for invalid ids."""
        self.tokenizer, self.text, self.data = tokenizer, text, text.encode()
        self.ids = np.array(ids) if ids else np.zeros(0, np.int64)
        if self.ids.dtype.kind != "i" or self.ids.ndim != 1 or self.ids.min(initial=0) < 0:
            raise BPEError(f"{tokenizer.name}: gave something other than a list of token ids")
        self.joined, self.lengths = spelled.joined(self.ids), spelled.lengths(self.ids)
        self.ends = np.cumsum(self.lengths)
        self.starts = self.ends - self.lengths
        self.spell, self.note = self.joined == self.data, ""
        if not self.spell:
            self._trace(allowed)

    def _trace(self, allowed: SpecialSet) -> None:
        """Find the borders in a text that the model rewrites; leave none if the ids do not spell it."""
        ids: list[int] | None = None
        encode = self.tokenizer.encode_with_offsets
        with suppress(BPEError):
            ids, spans = encode(self.text, unit="byte", allowed_special=allowed, disallowed_special=())
        if ids != self.ids.tolist():
            spans = np.zeros((0, 2), np.int64)
            self.note = "the tokens do not spell the text, so their places in it are unknown"
        self.starts, self.ends = spans.T

    def pieces(self) -> np.ndarray | None:
        """Return the tokens that begin pieces; None if there are special tokens, which are in no piece."""
        model = self.tokenizer.model
        if np.isin(list(model.whole_token_ids.values()), self.ids).any():
            return None
        return piece_starts(self.tokenizer.pieces(self.text), self.lengths, model)

    def tokens(self) -> list[str] | None:
        """Return the bytes of each token in hex, the unknown one empty; None if they equal the bytes of their spans."""
        borders = pairwise([0, *np.cumsum(self.lengths).tolist()])
        tokens = (self.joined[start:end] for start, end in borders)
        return None if self.spell else ["" if token == _UNKNOWN else token.hex() for token in tokens]
