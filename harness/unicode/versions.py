"""Which Unicode version a splitting engine knows, found by testing whether it treats letters of a version as letters.

One letter per version; an engine that knows it cuts around it as around a long-known letter.
"""

from __future__ import annotations

from collections.abc import Callable

LETTERS = {
    "10.0": "\u0860",
    "11.0": "\u0560",
    "12.0": "\u0e86",
    "13.0": "\u08be",
    "14.0": "\u0870",
    "15.0": "\U0001e4d0",
    "15.1": "\U0002ebf0",
    "16.0": "\u1c89",
    "17.0": "\ua7ce",
}
"""Unicode version -> a letter it added."""


def version(is_letter: Callable[[str], bool]) -> str | None:
    """Return the newest version up to which all these letters are letters; None for none."""
    newest: str | None = None
    for name, letter in LETTERS.items():
        if not is_letter(letter):
            break
        newest = name
    return newest
