"""Flags of non-ASCII characters for the window splitters, one byte per code point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from impls.core.pattern.classes import members

LETTER, CUT, UPPER_CASE, BOTH_CASES, MARK = 1, 2, 4, 8, 16
"""A letter (or a mark, in patterns with case and deepseek's); ends a window early; upper or title case only; matched by
both of the pattern's cases; a mark."""

Kind = Literal["without case", "with case", "deepseek"]

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_FOLD_TO_ASCII = (0x17F, 0x212A)


_IDEOGRAPHS_AND_KANA = ((0x3040, 0x3100), (0x4E00, 0x9FA6))


def character_flags(kind: Kind) -> np.ndarray:
    """Return the flags of every code point: uint8 of shape (0x110000,)."""
    letters = members(r"\p{L}")
    flags = np.zeros(len(letters), np.uint8)
    if kind == "deepseek":
        words, signs = members(r"[\p{L}\p{M}]"), members(r"[\p{P}\p{S}]")
        flags[words] = LETTER
        flags[~(words | signs)] = CUT
        for start, end in _IDEOGRAPHS_AND_KANA:
            flags[start:end] = CUT
        return flags
    flags[members(r"\p{N}") | members(r"\s")] |= CUT
    flags[list(_FOLD_TO_ASCII)] |= CUT
    if kind == "without case":
        flags[letters] |= LETTER
        return flags
    upper, lower = members(_UPPER), members(_LOWER)
    flags[upper | lower] |= LETTER
    flags[upper & ~lower] |= UPPER_CASE
    flags[upper & lower] |= BOTH_CASES
    flags[upper & lower & ~letters] |= MARK
    return flags
