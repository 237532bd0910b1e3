"""Normal forms and lower case by fixed Unicode versions, those of Hugging Face's library, under every Python.

Its normal forms and marks follow Unicode 9.0, its lower case Unicode 17; Python 3.11 follows 14.0, Python 3.14 16.0. By
Unicode's stability policy a newer table normalises text of older characters as an older table does. A character the
older table does not know is not changed, and nothing is reordered or composed across it:

    "\\u32ff"  ->  "\\u32ff" (unassigned in 9.0; "令和" under NFKC from 12.1 on)

`normal_forms.txt` lists these characters, `lower_case.txt` the capital letters of newer versions with their small ones.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Literal, get_args

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)


def _class(pairs: list[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in pairs)


_RANGES = Path(__file__).with_suffix(".txt").read_text(encoding="ascii").split()
_NEWER = [(int(ends[0], 16), int(ends[-1], 16)) for ends in (part.split("-") for part in _RANGES)]
"""Code points unassigned in 9.0 that became, up to 18.0, marks, decomposable, or part of a composed character."""
_OF_9 = re.compile(f"[^{_class(_NEWER)}]+")
# Exact up to 16 bits; more ranges would slow the search down several times.
_SMALL = [(first, last) for first, last in _NEWER if last < 1 << 16]
_MAY_BE_NEWER = re.compile(f"[{_class([*_SMALL, (0x105C9, _NEWER[-1][1])])}]")
NEWER_CHARACTERS = frozenset(chr(code) for first, last in _NEWER for code in range(first, last + 1))
_MARKS_UNTIL_11 = "\u1cf2\u1cf3"
"""Letters since Unicode 12.0."""

_PAIRS = Path(__file__).with_name("lower_case.txt").read_text(encoding="ascii").split()
_LOWER_CASE = {chr(int(capital, 16)): chr(int(small, 16)) for capital, small in (pair.split("-") for pair in _PAIRS)}
"""Capital letters added by Unicode 15.0 to 17.0."""
_NEWER_CAPITAL = re.compile("[" + "".join(_LOWER_CASE) + "]")


def normal_form(form: Form, text: str) -> str:
    """Return `text` in a normal form of Unicode 9.0.

    >>> ascii(normal_form("NFKC", "\\u32ff \\u32fe"))
    "'\\\\u32ff \\\\u30f2'"
    """
    written = unicodedata.normalize(form, text)
    # A part of a normal text is normal, so what a newer table leaves unchanged the older one does as well.
    if written == text or not _MAY_BE_NEWER.search(text) or NEWER_CHARACTERS.isdisjoint(text):
        return written
    return _OF_9.sub(lambda run: unicodedata.normalize(form, run[0]), text)


def lower_case(text: str) -> str:
    """Return `text` in the lower case of Unicode 17, letter by letter: no final sigma at the end of a word."""
    return _NEWER_CAPITAL.sub(lambda match: _LOWER_CASE[match[0]], text.replace("Σ", "σ").lower())


def is_mark(character: str) -> bool:
    """Return whether `character` is a mark (general category M) in Unicode 9.0."""
    if unicodedata.category(character)[0] == "M":
        return character not in NEWER_CHARACTERS
    return character in _MARKS_UNTIL_11
