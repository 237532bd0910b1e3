"""The tokens of a text in one column; and as it is typed, what each edit changes of them, as arrays.

The first answers hold all tokens. After that the ids are followed by `Tokenizer.incremental`, and where the tokens
spell the text an answer holds only those that are new; a text the model rewrites is aligned anew each time.
"""

from __future__ import annotations

from struct import pack
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

import impls
from harness.play.messages import MAX_TEXT_BYTES
from harness.play.spans import Spelling, piece_starts, token_hex
from impls.core.arguments import SpecialSet
from impls.core.errors import BPEError
from impls.core.incremental import Incremental

MOST_SPLIT_BYTES = 256 << 10
"""Of a text whose pieces are found unasked, as splitting takes time."""


class Tokens:
    """The tokens of a text, and which bytes of it each comes from."""

    def __init__(
        self, tokenizer: impls.Tokenizer, spelling: Spelling, text: str, ids: list[int], allowed: SpecialSet = ()
    ) -> None:
        """Find the borders of `ids`, which `text` has with special tokens `allowed`; raise `BPEError` for no ids."""
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
        """Find the borders in a text that the model rewrites; none where the ids do not spell it."""
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
        """Return the tokens that begin pieces; None beside special tokens, which the pieces of a text do not know."""
        model = self.tokenizer.model
        if model.belongs_to is not None or np.isin(list(model.whole_token_ids.values()), self.ids).any():
            return None
        return piece_starts(self.tokenizer.pieces(self.text), self.lengths, model)

    def tokens(self) -> list[str] | None:
        """Return the bytes of each token in hex; None where they are the bytes of their spans."""
        return None if self.spell else token_hex(self.joined, self.lengths)


class Followed:
    """A text that is edited in a page."""

    def __init__(self, tokenizer: impls.Tokenizer, spelling: Spelling) -> None:
        """Begin with no text."""
        self.version = 0
        self._tokenizer, self._spelling = tokenizer, spelling
        self._text = ""
        self._ids: Incremental | None = None
        self._spelled: tuple[bytes, np.ndarray] | None = None
        """The bytes of the text and of each token, where the page has all tokens and they spell the text."""

    def change(self, start: int, stop: int, text: str) -> bytes:
        """Put `text` in place of code points; return the tokens that are new, packed; raise as encoding does."""
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
        # A text that is split is answered as a whole each time, and one whose ids are not followed yet.
        follows = found.spell and not splits and self._ids is not None
        self._spelled = (found.data, found.lengths) if follows else None
        arrays = {"ids": found.ids, "starts": found.starts, "ends": found.ends}
        if splits and (pieces := found.pieces()) is not None:
            arrays["pieces"] = pieces
        head = {"n_kept": 0, "n_removed": None, "tokens": found.tokens(), "note": found.note}
        return self._packed(head, seconds, arrays)

    def _part(self, n_kept: int, n_removed: int, new: list[int], seconds: float) -> bytes | None:
        """Return the answer of the tokens that are new; None where that of all must be given."""
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
    """Return the length of the head, the head as JSON (`arrays`: how long each is), and arrays of uint32."""
    arrays = arrays or {}
    sizes = {"arrays": {name: len(values) for name, values in arrays.items()}}
    text = msgspec.json.encode({"error": None, "verdict": "ok"} | head | sizes)
    text += b" " * (-len(text) % 4)
    return pack("<I", len(text)) + text + b"".join(values.astype("<u4").tobytes() for values in arrays.values())
