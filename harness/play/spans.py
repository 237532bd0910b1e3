"""Where in a text each token comes from: spans in UTF-8 bytes and in code points. Knows models, runs no merges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from impls.core.model.model import Model
from impls.core.text.sentencepiece_rules import SPACE_MARK

_UNKNOWN = b"\xff"
"""Stands for an unknown token; no byte of UTF-8."""


class Spelling:
    """The bytes each id stands for in a text, in one array: without end-of-word marks, spaces for SentencePiece's."""

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
        n_ids = max(by_id, default=-1) + 2  # the last one for every id that is none
        self._lengths = np.zeros(n_ids, np.int64)
        self._lengths[list(by_id)] = [len(token) for token in by_id.values()]
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._bytes = np.frombuffer(b"".join(by_id[i] for i in sorted(by_id)), np.uint8)

    def joined(self, ids: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Return the bytes of all tokens, and how many are of each."""
        ids = np.minimum(ids, len(self._lengths) - 1)
        lengths = self._lengths[ids]
        places = np.repeat(self._starts[ids] - (np.cumsum(lengths) - lengths), lengths)
        return self._bytes[places + np.arange(len(places))].tobytes(), lengths


def spans_of(starts: np.ndarray, ends: np.ndarray, data: bytes) -> list[list[int]]:
    """Return first byte, end byte, first and end code point of tokens; one that cuts a character has it as a whole."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    before = np.concatenate([[0], np.cumsum(begins)])
    last = before[ends]
    within = before[np.minimum(starts + 1, len(data))] - 1
    spans: list[list[int]] = np.stack([starts, ends, np.where(starts < ends, within, last), last], axis=1).tolist()
    return spans


def piece_starts(pieces: Sequence[str], lengths: np.ndarray, model: Model) -> np.ndarray | None:
    """Return the index of the token that begins each piece, as far as one does; None where they spell another text."""
    if model.sentencepiece is not None:
        pieces = [piece.replace(SPACE_MARK, " ") for piece in pieces]
    ends = np.cumsum([0, *(len(piece.encode()) for piece in pieces)])
    borders = np.cumsum([0, *lengths])
    if ends[-1] != borders[-1]:
        return None
    found = np.minimum(np.searchsorted(borders[:-1], ends[:-1]), max(len(lengths) - 1, 0))
    return np.unique(found[borders[found] == ends[:-1]]) if len(lengths) else found[:0]


def token_hex(joined: bytes, lengths: np.ndarray) -> list[str]:
    """Return tokens in hex, the unknown one as an empty text."""
    ends = np.cumsum(lengths)
    tokens = (joined[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True))
    return ["" if token == _UNKNOWN else token.hex() for token in tokens]
