"""Flags of non-ASCII characters for the window splitters, one byte per code point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from impls.core.pattern.classes import members

LETTER, CUT, UPPER_CASE, BOTH_CASES, MARK = 1, 2, 4, 8, 16
"""A letter (or a mark, in patterns with case and deepseek's); ends a window early; upper or title case only; matched by
both of the pattern's cases; a mark."""

Kind = Literal["without case", "with case", "deepseek"]


def character_flags(kind: Kind) -> np.ndarray:
    """Return the flags of every code point: uint8 of shape (0x110000,)."""
    letters = members(r"\p{L}")
    flags = np.zeros(len(letters), np.uint8)
    if kind == "deepseek":
        words, signs = members(r"[\p{L}\p{M}]"), members(r"[\p{P}\p{S}]")
        flags[words] = LETTER
        flags[~(words | signs)] = CUT
        flags[0x3040:0x3100] = flags[0x4E00:0x9FA6] = CUT  # kana and ideographs
        return flags
    flags[members(r"\p{N}") | members(r"\s")] |= CUT
    flags[[0x17F, 0x212A]] |= CUT  # they fold to ASCII
    if kind == "without case":
        flags[letters] |= LETTER
        return flags
    upper, lower = members(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"), members(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]")
    flags[upper | lower] |= LETTER
    flags[upper & ~lower] |= UPPER_CASE
    flags[upper & lower] |= BOTH_CASES
    flags[upper & lower & ~letters] |= MARK
    return flags
