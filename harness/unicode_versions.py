"""Unicode as the splitting engines know it: which version an engine has, and texts without characters newer than 16.

The version is found by testing whether an engine treats letters added by it as letters: after a letter a contraction
stays whole, after a symbol it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

import regex

import impls
from harness.generators.alphabets import ALPHABETS, is_newer
from impls.core.text.patterns import NAMED

OLDER = ("字", "a", "A", "1", "€", ".", "\u0301", "\u2003", "𐐷", "𝟘", "👍", "\U000f0000")
"""One old character of each class that patterns distinguish (letters with and without case, digit, symbols, mark,
space), and some of four bytes in UTF-8, as newer characters have."""

LETTERS: dict[str, str] = ALPHABETS["letters_of_versions"]
"""Unicode version -> a letter it added."""


def with_older(text: str) -> list[str]:
    """Return the text with each of `OLDER` in the place of all characters newer than Unicode 16; none if it has none.

    Two sides that agree on all of these, and not on the text, differ in their version of Unicode.
    """
    if not any(map(is_newer, text)):
        return []
    return ["".join(old if is_newer(character) else character for character in text) for old in OLDER]


def version(is_letter: Callable[[str], bool]) -> str | None:
    """Return the newest version up to which all these letters count as letters; None if there is none."""
    known = list(takewhile(lambda name: is_letter(LETTERS[name]), LETTERS))
    return known[-1] if known else None


def version_of(engine: str) -> str | None:
    """Return the Unicode version of `regex`, or that an implementation splits by; None if it cannot run."""
    if engine == "regex":
        return version(lambda letter: bool(regex.match(r"\p{L}", letter)))
    tokens = (*(bytes([byte]) for byte in range(256)), b"'s")
    model = impls.Model(tokens=tokens, pattern=NAMED["cl100k"], merge_rule="concatenation")
    with suppress(BaseException):  # an engine may panic
        tokenizer = impls.get(engine)(model)
        return version(lambda letter: tokenizer.encode_ordinary(f"{letter}'s")[-1] == model.id_by_token[b"'s"])
    return None
