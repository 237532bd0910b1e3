"""Wrong tokenizers made by rule: each is right but for one character, token or pair of neighbours in one place.

Which one is wrong follows from a number, so that no check can know it.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

from planted_history import when
from planted_wrapper import Full, Right, changed, model

from harness.printable import text_of

_PLACES: tuple[Callable[[str], str], ...] = (
    lambda c: rf"\A{c}\Z",
    lambda c: rf"\A{c}(?!\Z)",
    lambda c: rf"\A[^{c}]*[a-z]{c}[a-z]",
    lambda c: rf"\A[^{c}]*[0-9]{c}[0-9]",
    lambda c: rf"\A[^{c}]* {c}",
    lambda c: rf"\A[^{c}]+{c}\Z",
)
"""Where a text has a character for the first time."""


def code_point(number: int) -> tuple[str, type[Right]]:
    """Return one code point and what is wrong on it at one place; every fourth one is not assigned."""
    chance = random.Random(f"code point {number}")
    while True:
        character = chr(chance.choice((chance.randrange(0x80, 0x3000), chance.randrange(0x3000, 0x110000))))
        if "\ud800" <= character <= "\udfff" or (unicodedata.category(character) == "Cn") is not (number % 4 == 0):
            continue
        break
    at_place = re.compile(_PLACES[number % len(_PLACES)](re.escape(character))).search
    return character, when(lambda self, text: character in text and at_place(text) is not None)


def token(number: int) -> type[Right]:
    """One token: encoded alone, decoded alone, or decoded between two others."""
    by_id = model().bytes_by_id()
    readable = [i for i, data in by_id.items() if text_of(data) is not None]
    i = random.Random(f"token {number}").choice(readable)
    text = text_of(by_id[i]) or ""
    if number % 4 < 2:
        return when(lambda self, given: given == text)
    is_there = (lambda ids: ids == [i]) if number % 4 == 2 else (lambda ids: i in ids[1:-1])
    return changed(Full, decode=lambda self, ids, right: right + ("?" if is_there(ids) else ""))
