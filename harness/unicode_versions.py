"""Unicode as the splitting engines know it: long-established characters of each class, and which version an engine has.

The version is found by testing whether an engine treats letters added by it as letters: after a letter a contraction
stays whole, after a symbol it does not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial

import regex

import impls
from impls.core.text.patterns import NAMED
from impls.core.text.unicode_16 import as_unicode_16

STAND_INS: dict[str, tuple[str, str, str]] = {
    "capital letter": ("À", "\u1e00", "\U00010400"),
    "small letter": ("à", "\u1e01", "\U00010428"),
    "letter": ("א", "\u4e00", "\U00020000"),
    "number": ("\u00bd", "\uff11", "\U0001d7d8"),
    "mark": ("\u0301", "\u20d0", "\U0001d165"),
    "symbol": ("§", "\u2603", "\U0001f600"),
}
"""Class -> characters of 2, 3 and 4 bytes that have been in it since Unicode 6 or earlier."""

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
_UNASSIGNED = regex.compile(r"\p{Cn}")


def stand_in(kind: str, character: str) -> str:
    """Return the reference character of a class with as many bytes as `character`, which has two or more."""
    return STAND_INS[kind][len(character.encode()) - 2]


def version(is_letter: Callable[[str], bool]) -> str | None:
    """Return the newest version up to which all these letters count as letters; None if there is none."""
    newest: str | None = None
    for name, letter in LETTERS.items():
        if not is_letter(letter):
            break
        newest = name
    return newest


def versions(implementations: Iterable[str]) -> dict[str, str | None]:
    """Return the Unicode version of each implementation's splitting engine (None if it cannot run), and `regex`'s."""
    known: dict[str, str | None] = {"regex": version(lambda letter: bool(regex.match(r"\p{L}", letter)))}
    contraction = 256
    tokens = (*(bytes([byte]) for byte in range(256)), b"'s")
    model = impls.Model(tokens=tokens, pattern=NAMED["cl100k"], merge_rule="concatenation")

    def keeps_contraction(tokenizer: impls.Tokenizer, letter: str) -> bool:
        return tokenizer.encode_ordinary(f"{letter}'s")[-1] == contraction

    for name in implementations:
        try:
            known[name] = version(partial(keeps_contraction, impls.get(name)(model)))
        except BaseException:  # an engine may panic
            known[name] = None
    return known


def newer_than(character: str) -> str | None:
    """Describe how new a character is; None for one that all available tables have."""
    if _UNASSIGNED.match(as_unicode_16(character)):
        return "is not assigned in Unicode 16"
    if unicodedata.category(character) == "Cn":
        return f"is newer than Unicode {unicodedata.unidata_version}, the version of this Python"
    return None


def is_of_a_version(character: str, a_version: str | None, b_version: str | None) -> bool:
    """Return whether two engines may classify `character` differently because one of them is older than it.

    True for a character that the available tables do not have. For others only if the engines are known to differ in
    version, the older one is older than this Python's tables, and the character was added after Unicode 3.2.
    """
    if newer_than(character) is not None:
        return True
    if a_version is None or b_version is None or a_version == b_version:
        return False
    older = min(map(_number, (a_version, b_version)))
    return older < _number(unicodedata.unidata_version) and unicodedata.ucd_3_2_0.category(character) == "Cn"


def _number(version: str) -> tuple[int, ...]:
    """Return the first two parts of a version: "15.1.0" -> (15, 1)."""
    return tuple(int(part) for part in version.split(".")[:2])
