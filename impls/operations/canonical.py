"""Ids that `encode` would give, and the first place where others are not.

    qwen    [53122, 316] and [393, 30002] decode to " Pantom"; only the second is what `encode` gives

A model that samples its tokens one by one may produce the first. Special ids delimit: what lies between two of them is
decoded and encoded as ordinary text, so the time is linear in the ids as far as encoding is in the text. Uses the
methods of a tokenizer, and knows no algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from impls.core.arguments import checked_ids
from impls.operations.coder import Coder


class Drift(NamedTuple):
    """Where ids stop being those that `encode` gives, and what it gives instead."""

    position: int
    """Index of the first id that differs."""
    ids: list[int]
    """Those that `encode` gives from there on, up to the next special id or the end."""


def first_drift(tokenizer: Coder, ids: Iterable[int]) -> Drift | None:
    """Return the first drift of `ids`, or None if they are canonical.

    Ids of bytes that are not UTF-8 drift at the first of them at the latest: their text has U+FFFD instead. Raise
    `UnknownId(id, position)`.
    """
    ids = checked_ids(ids)
    if tokenizer.model.rewrites_text:  # how a segment is written may depend on what is before it
        return _compared(0, ids, tokenizer.encode(tokenizer.decode(ids), allowed_special="all"))
    tokenizer.decode_bytes(ids)  # raises for an unknown id, with its position
    special = frozenset(tokenizer.model.whole_token_ids.values())
    start = 0
    for end in [at for at, i in enumerate(ids) if i in special] + [len(ids)]:
        segment = ids[start:end]
        drift = _compared(start, segment, tokenizer.encode_ordinary(tokenizer.decode(segment)))
        if drift is not None:
            return drift
        start = end + 1
    return None


def _compared(start: int, ids: list[int], encoded: list[int]) -> Drift | None:
    if ids == encoded:
        return None
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ids, encoded, strict=False)))
    return Drift(start + same, encoded[same:])
