"""Where in a text each token comes from: spans in UTF-8 bytes and in code points. Knows models, runs no merges.

Where the tokens spell the text, borders are sums of lengths. A model that rewrites texts (lower case, normal forms,
SentencePiece's marks) makes other bytes; these are matched with the text from left to right, chunk by chunk, each
rewritten by the model's own rules. Nothing is guessed: where that fails, the spans from there on are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import regex

from impls.core.model.model import Model
from impls.core.text.sentencepiece_rules import SPACE_MARK

_UNKNOWN = b"\xff"
"""Stands for an unknown token; no byte of UTF-8."""
_CHUNK = regex.compile(rf"\s|{SPACE_MARK}|(?:(?![\s{SPACE_MARK}])\X){{1,32}}")
_CLUSTER = regex.compile(r"\X")
_FIRST_BLOCK = 64


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


def borders_of(joined: bytes, lengths: np.ndarray, text: str, model: Model) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return first and end byte in `text` of each token up to the first whose place cannot be known, and whether the
    tokens spell the text.

    `joined` and `lengths` are what `Spelling` says of the ids; `text` has no surrogate.
    """
    data, ends = text.encode(), np.cumsum(lengths)
    starts = ends - lengths
    if joined == data:
        return starts, ends, True
    found = _Alignment(joined, text, data, model)
    n_known = int(np.searchsorted(ends, found.at, side="right"))
    return *found.through(starts[:n_known], ends[:n_known]), False


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


@dataclass
class _Alignment:
    """The segments of the tokens' joined bytes, each with the bytes of the text it was written from."""

    joined: bytes
    text: str
    data: bytes
    model: Model
    at: int = 0
    """Bytes of `joined` that are matched."""
    source: int = 0
    """Bytes of the text that are matched, `place` in code points."""
    place: int = 0
    segments: list[tuple[int, int, int, bool]] = field(default_factory=list)
    """(First byte in `joined`, first and end byte in the text, whether the bytes are the same)."""

    def __post_init__(self) -> None:
        rules = self.model.sentencepiece
        self._collapses = rules is not None and rules.remove_extra_spaces
        while self.place < len(self.text) and self._next():
            pass
        while self.joined.startswith(b" ", self.at):  # a space put after the text
            self._take(1, "")

    def through(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return borders in `joined` as borders in the text."""
        if not self.segments:
            return starts * 0, ends * 0
        firsts, froms, tos, same = (np.array(values) for values in zip(*self.segments, strict=True))
        k = np.searchsorted(firsts, starts, side="right") - 1
        begins = np.where(same[k], froms[k] + starts - firsts[k], froms[k])
        last = np.searchsorted(firsts, np.maximum(ends - 1, 0), side="right") - 1
        stops = np.where(same[last], froms[last] + ends - firsts[last], tos[last])
        return begins, np.where(starts < ends, stops, begins)

    def _take(self, n_bytes: int, characters: str) -> None:
        """Match the next `n_bytes` of `joined` with the next characters of the text."""
        end = self.source + len(characters.encode())
        if n_bytes:
            same = self.joined[self.at : self.at + n_bytes] == self.data[self.source : end]
            self.segments.append((self.at, self.source, end, same))
        self.at, self.source, self.place = self.at + n_bytes, end, self.place + len(characters)

    def _next(self) -> bool:
        """Match something more; return False where nothing fits."""
        if run := self._equal_run():
            self._take(len(run), run.decode())
            return True
        chunk = _CHUNK.match(self.text, self.place)[0]
        if self._collapses and self.text.startswith("  ", self.place):  # of several spaces the last is kept
            self._take(0, chunk)
        elif self.joined.startswith(chunk.encode(), self.at):
            self._take(len(chunk.encode()), chunk)
        elif borders := self._rewritten(chunk):
            start, n_before = 0, 0
            for end, n_bytes in borders:
                self._take(n_bytes - n_before, chunk[start:end])
                start, n_before = end, n_bytes
        elif self.joined.startswith((b" ", SPACE_MARK.encode()), self.at):  # a space put before a word
            self._take(1 if self.joined[self.at] == 0x20 else len(SPACE_MARK.encode()), "")
        elif self.joined.startswith(_UNKNOWN, self.at):
            self._take(1, self._unknown_run())
        elif chunk.isspace():  # left out: one of several spaces, or white space that the pattern drops
            self._take(0, chunk)
        else:
            return False
        return True

    def _equal_run(self) -> bytes:
        """Return bytes that are equal from here on, up to a space; empty where there are only a few."""
        size = _FIRST_BLOCK
        while self.source + size <= len(self.data) and (
            self.data[self.source : self.source + size] == self.joined[self.at : self.at + size]
        ):
            size *= 2
        equal = self.data[self.source : self.source + size // 2] if size > _FIRST_BLOCK else b""
        return equal[: max(0, equal.rfind(b" "))]

    def _rewritten(self, chunk: str) -> list[tuple[int, int]]:
        """Return (characters, bytes of `joined`) of the beginnings of `chunk` that are there, written by the model."""
        borders: list[tuple[int, int]] = []
        for cluster in _CLUSTER.finditer(chunk):
            written = self._written(chunk[: cluster.end()])
            if self.joined.startswith(written, self.at):
                # What adds no bytes was left out if it is nothing by itself, else it is part of what was written.
                least = len(written) + (not self._written(cluster[0]))
                while borders and borders[-1][1] >= least:
                    borders.pop()
                borders.append((cluster.end(), len(written)))
        return borders

    def _written(self, chunk: str) -> bytes:
        """Return `chunk` as the model writes it, without the space put before a text."""
        text = self.model.normalize(chunk, first=False)
        if self.model.sentencepiece is not None:
            text = text.replace(SPACE_MARK, " ")
        bare = text[1:] if text.startswith((" ", SPACE_MARK)) else text
        return (bare or text).encode()

    def _unknown_run(self) -> str:
        """Return the next character, and those after it that became the same unknown token."""
        rules, known = self.model.sentencepiece, self.model.id_by_token
        end = self.place + 1
        if rules is not None and rules.fuse_unknown:
            while end < len(self.text) and not self.text[end].isspace() and self.text[end].encode() not in known:
                end += 1
        return self.text[self.place : end]
