"""Which pieces of a text the merges of a model may join into superwords; see `impls.boundless`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import regex

JoinedPieces = Literal["words", "all"]
"""`words`: pieces of letters and marks, with an apostrophe inside or before them, and a space before that; `all`: every
piece."""
JOINED_PIECES: tuple[JoinedPieces, ...] = get_args(JoinedPieces)
_WORD = regex.compile(r" ?['’]?[\p{L}\p{M}]++(?:['’][\p{L}\p{M}]++)*+")


def may_be_joined(kind: JoinedPieces) -> Callable[[str], bool]:
    """Return whether a piece may be joined with others, as a function of the piece."""
    return (lambda piece: _WORD.fullmatch(piece) is not None) if kind == "words" else (lambda piece: True)
