"""Long-established characters of each class a pattern may use, as references for classifying others."""

from __future__ import annotations

STAND_INS: dict[str, tuple[str, str, str]] = {
    "capital letter": ("À", "\u1e00", "\U00010400"),
    "small letter": ("à", "\u1e01", "\U00010428"),
    "letter": ("א", "\u4e00", "\U00020000"),
    "number": ("\u00bd", "\uff11", "\U0001d7d8"),
    "mark": ("\u0301", "\u20d0", "\U0001d165"),
    "symbol": ("§", "\u2603", "\U0001f600"),
}
"""Class -> a character of 2, 3 and 4 bytes that has been in it since Unicode 6 or earlier."""

SPACES = ("\u00a0", "\u2003")
"""White space of 2 and 3 bytes; there is none of 4."""


def stand_in(kind: str, character: str) -> str:
    """Return the character of a class with as many bytes as `character`, which has two or more."""
    return STAND_INS[kind][len(character.encode()) - 2]
