"""Keeps matching at Unicode 16, which tiktoken and Hugging Face follow, whatever the installed `regex` follows.

`unicode_16.txt` lists the characters of each general category in Unicode 16. Where the package `regex` has others, a
text is matched with a stand-in for each character that moved: the nearest one that is still in the category it had.

    U+A7CE, unassigned in Unicode 16, a letter in 17      ->  U+A7DE, unassigned in both
    U+0295, a small letter, without case in Unicode 17    ->  U+0296, a small letter in both

With a `regex` of Unicode 16 nothing moved, and texts are matched as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import regex

from impls.core.errors import InvalidPattern

_LETTER_OF_17 = "\ua7ce"
_NAMED = regex.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))|[^\x00-\x7f]")
"""A character beyond ASCII in an expression: escaped, or as it is."""


def as_unicode_16(text: str, *expressions: str) -> str:
    """Return `text` for matching by `expressions`: with a stand-in for each character that moved between categories.

    The result has as many characters; it is `text` itself where nothing moved.
    """
    if text.isascii():
        return text
    moved = stand_ins(*expressions)
    return text if moved.keys().isdisjoint(text) else "".join([moved.get(each, each) for each in text])


def named_codes(*expressions: str) -> np.ndarray:
    """Return the code points beyond ASCII that `expressions` name, in order: int64."""
    named = [match for expression in expressions for match in _NAMED.finditer(expression)]
    codes = (int(match[match.lastindex], 16) if match.lastindex else ord(match[0]) for match in named)
    return np.array(sorted(set(codes)), np.int64)


@lru_cache(maxsize=64)
def stand_ins(*expressions: str) -> Mapping[str, str]:
    """Return the stand-in of each character that `regex` has in another category than Unicode 16.

    No character that an expression names lies between the two, so that its ranges hold both or neither. Raise
    `InvalidPattern` where no such stand-in exists.
    """
    if not _moved():
        return {}
    bounds = named_codes(*expressions)
    stand_in_of: dict[str, str] = {}
    for kept, moved in _moved():
        above = np.searchsorted(kept, moved).clip(1, len(kept) - 1)
        low, high = kept[above - 1], kept[above]
        low_fits, high_fits = (_place(bounds, side) == _place(bounds, moved) for side in (low, high))
        if len(stuck := moved[~(low_fits | high_fits)]):
            problem = f"the pattern names U+{stuck[0]:04X} or one near it, whose category in the installed regex"
            raise InvalidPattern(f"{problem} is not that of Unicode 16; install regex==2025.7.34 to use it")
        takes_low = low_fits & (~high_fits | (moved - low <= high - moved))
        stand_in_of |= zip(map(chr, moved), map(chr, np.where(takes_low, low, high)), strict=True)
    return stand_in_of


def _place(bounds: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return where codes lie among `bounds`: an even number between two of them, an odd one on a bound."""
    return np.searchsorted(bounds, codes, "left") + np.searchsorted(bounds, codes, "right")


@cache
def _moved() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each category of which characters moved, the code points that are still in it and those that left."""
    moves: list[tuple[np.ndarray, np.ndarray]] = []
    if regex.match(r"\p{L}", _LETTER_OF_17) is None:
        return moves
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines():
        category, *ranges = line.split()
        ends = [[int(code, 16) for code in part.split("-")] for part in ranges]
        codes = np.concatenate([np.arange(part[0], part[-1] + 1) for part in ends])
        left = regex.findall(rf"\P{{{category}}}", codes.astype("<u4").tobytes().decode("utf-32-le"))
        if left:
            moved = np.array([ord(character) for character in left])
            moves.append((np.setdiff1d(codes, moved, assume_unique=True), moved))
    return moves
