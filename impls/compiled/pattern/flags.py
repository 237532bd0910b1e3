"""What the window splitters need to know of a character that is not ASCII, a byte of flags per code point."""

from __future__ import annotations

import numpy as np

from impls.compiled.pattern.classes import members

LETTER, CUT, UPPER_CASE, BOTH_CASES, MARK = 1, 2, 4, 8, 16
"""A letter (for a pattern that tells case: a mark too); not for windows; upper or title case only; taken by both
of the pattern's cases; a mark."""

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_FOLD_TO_ASCII = (0x17F, 0x212A)


def character_flags(*, with_case: bool) -> np.ndarray:
    """uint8 of shape (0x110000,)."""
    letters, upper, lower = members(r"\p{L}"), members(_UPPER), members(_LOWER)
    flags = np.zeros(len(letters), np.uint8)
    flags[members(r"\p{N}") | members(r"\s")] |= CUT
    flags[list(_FOLD_TO_ASCII)] |= CUT
    if not with_case:
        flags[letters] |= LETTER
        return flags
    flags[upper | lower] |= LETTER
    flags[upper & ~lower] |= UPPER_CASE
    flags[upper & lower] |= BOTH_CASES
    flags[upper & lower & ~letters] |= MARK
    return flags
