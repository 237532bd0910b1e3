"""The tokens of a text and where in it they come from and, while it is typed, what each edit changes, as arrays.

The first answers hold all tokens. After that `Tokenizer.incremental` updates the ids; if the tokens spell the text, an
answer holds only the new ones. A text that the model rewrites is aligned again each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

import impls
from harness.play.messages import MAX_TEXT_BYTES
from impls.core.arguments import SpecialSet
from impls.core.errors import BPEError
from impls.core.incremental import Incremental
from impls.core.model.model import Model
from impls.core.text.sentencepiece_rules import SPACE_MARK

_UNKNOWN = b"\xff"
"""Represents an unknown token; a byte that UTF-8 never has."""


class Spelling:
    """The bytes of each id as in a text, in one array: without end-of-word marks, with spaces for SentencePiece's."""

    def __init__(self, model: Model) -> None:
        """Take the tokens of `model`."""
        by_id = model.bytes_by_id()
        if model.end_of_word is not None:
            end = model.end_of_word.encode()
            marked = ((i, token) for i, token in enumerate(model.tokens) if token is not None and token.endswith(end))
            by_id |= {i: token.removesuffix(end) for i, token in marked}
        by_id |= {i: text.encode() for text, i in model.special_tokens.items()}
        if model.unknown_id is not None:
            by_id[model.unknown_id] = _UNKNOWN
        n_ids = max(by_id, default=-1) + 2  # the last entry is for every invalid id
        self._lengths = np.zeros(n_ids, np.int64)
        self._lengths[list(by_id)] = [len(token) for token in by_id.values()]
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._bytes = np.frombuffer(b"".join(by_id[i] for i in sorted(by_id)), np.uint8)

    def joined(self, ids: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Return the bytes of all tokens joined, and the number of bytes of each."""
        ids = np.minimum(ids, len(self._lengths) - 1)
        lengths = self._lengths[ids]
        places = np.repeat(self._starts[ids] - (np.cumsum(lengths) - lengths), lengths)
        return self._bytes[places + np.arange(len(places))].tobytes(), lengths


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
    found = np.minimum(np.searchsorted(borders[:-1], ends[:-1]), max(len(lengths) - 1, 0))
    return np.unique(found[borders[found] == ends[:-1]]) if len(lengths) else found[:0]


def token_hex(joined: bytes, lengths: np.ndarray) -> list[str]:
    """Return tokens in hex, the unknown token as an empty string."""
    ends = np.cumsum(lengths)
    tokens = (joined[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True))
    return ["" if token == _UNKNOWN else token.hex() for token in tokens]


MOST_SPLIT_BYTES = 256 << 10
"""Longest text whose pieces are found without being requested, since splitting takes time."""


class Tokens:
    """The tokens of a text, and the bytes of it that each comes from."""

    def __init__(
        self, tokenizer: impls.Tokenizer, spelling: Spelling, text: str, ids: list[int], allowed: SpecialSet = ()
    ) -> None:
        """Find the borders of `ids`, those of `text` with tokens `allowed`; raise `BPEError` for invalid ids."""
        self.tokenizer, self.text, self.data = tokenizer, text, text.encode()
        self.ids = np.array(ids) if ids else np.zeros(0, np.int64)
        if self.ids.dtype.kind != "i" or self.ids.ndim != 1 or self.ids.min(initial=0) < 0:
            raise BPEError(f"{tokenizer.name}: gave something other than a list of token ids")
        self.joined, self.lengths = spelling.joined(self.ids)
        self.ends = np.cumsum(self.lengths)
        self.starts = self.ends - self.lengths
        self.spell, self.note = self.joined == self.data, ""
        if not self.spell:
            self._trace(allowed)

    def _trace(self, allowed: SpecialSet) -> None:
        """Find the borders in a text that the model rewrites; leave none if the ids do not spell it."""
        try:
            ids, spans = self.tokenizer.encode_with_offsets(
                self.text, unit="byte", allowed_special=allowed, disallowed_special=()
            )
        except BPEError:
            ids = None
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
        """Return the bytes of each token in hex; None if they equal the bytes of their spans."""
        return None if self.spell else token_hex(self.joined, self.lengths)


class Followed:
    """A text that is edited in a page, and its tokens."""

    def __init__(self, tokenizer: impls.Tokenizer, spelling: Spelling) -> None:
        """Begin with an empty text."""
        self.version = 0
        self._tokenizer, self._spelling = tokenizer, spelling
        self._text = ""
        self._ids: Incremental | None = None
        self._spelled: tuple[bytes, np.ndarray] | None = None
        """The bytes of the text and of each token, if the page has all tokens and they spell the text."""

    def change(self, start: int, stop: int, text: str) -> bytes:
        """Replace code points by `text` and return the new tokens, packed; let exceptions of encoding through."""
        before, self._text = self._text, self._text[:start] + text + self._text[stop:]
        n_bytes = len(self._text.encode())
        if n_bytes > MAX_TEXT_BYTES:
            raise BPEError(f"the text has {n_bytes:,} bytes; at most {MAX_TEXT_BYTES:,} are taken here")
        self.version += 1
        began = perf_counter()
        if self.version == 1:
            ids = self._tokenizer.encode(text, disallowed_special=())
            return self._whole(ids, perf_counter() - began)
        if self._ids is None:
            self._ids = self._tokenizer.incremental(before, disallowed_special=())
            began = perf_counter()
        change = self._ids.replace(start, stop, text)
        seconds = perf_counter() - began
        return self._part(*change, seconds) or self._whole(self._ids.ids, seconds)

    def _whole(self, ids: list[int], seconds: float) -> bytes:
        found = Tokens(self._tokenizer, self._spelling, self._text, ids)
        splits = len(found.data) <= MOST_SPLIT_BYTES
        # Answer with all tokens if the text is split, or its ids are not followed yet.
        follows = found.spell and not splits and self._ids is not None
        self._spelled = (found.data, found.lengths) if follows else None
        arrays = {"ids": found.ids, "starts": found.starts, "ends": found.ends}
        if splits and (pieces := found.pieces()) is not None:
            arrays["pieces"] = pieces
        head = {"n_kept": 0, "n_removed": None, "tokens": found.tokens(), "note": found.note}
        return self._packed(head, seconds, arrays)

    def _part(self, n_kept: int, n_removed: int, new: list[int], seconds: float) -> bytes | None:
        """Return the answer with only the new tokens; None if all must be sent."""
        if self._spelled is None:
            return None
        data, lengths = self._spelled
        ids = np.array(new, np.int64)
        joined, new_lengths = self._spelling.joined(ids)
        after = n_kept + n_removed
        first = int(lengths[:n_kept].sum())
        data = data[:first] + joined + data[first + int(lengths[n_kept:after].sum()) :]
        if data != self._text.encode():
            return None
        self._spelled = data, np.concatenate([lengths[:n_kept], new_lengths, lengths[after:]])
        ends = first + np.cumsum(new_lengths)
        head = {"n_kept": n_kept, "n_removed": n_removed, "tokens": None, "note": ""}
        return self._packed(head, seconds, {"ids": ids, "starts": ends - new_lengths, "ends": ends})

    def _packed(self, head: dict[str, Any], seconds: float, arrays: dict[str, np.ndarray]) -> bytes:
        return packed(head | {"version": self.version, "seconds": seconds, "edited": self.version > 1}, arrays)


def packed(head: dict[str, Any], arrays: dict[str, np.ndarray] | None = None) -> bytes:
    """Return the length of the head, the head as JSON (`arrays`: their lengths), and the arrays as uint32."""
    arrays = arrays or {}
    sizes = {"arrays": {name: len(values) for name, values in arrays.items()}}
    text = msgspec.json.encode({"error": None, "verdict": "ok"} | head | sizes)
    text += b" " * (-len(text) % 4)
    return pack("<I", len(text)) + text + b"".join(values.astype("<u4").tobytes() for values in arrays.values())
