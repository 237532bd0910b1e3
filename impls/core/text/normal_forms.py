"""Normal forms and lower case by fixed Unicode versions, those of Hugging Face's library, under every Python.

Its normal forms and marks follow Unicode 9.0, its lower case Unicode 17; Python 3.11 follows 14.0, Python 3.14 16.0. By
Unicode's stability policy a newer table normalises text of older characters as an older table does. A character the
older table does not know is not changed, and nothing is reordered or composed across it:

    "\\u32ff"  ->  "\\u32ff" (unassigned in 9.0; "令和" under NFKC from 12.1 on)
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

_NEWER_RANGES = (
    "558 58B-58C 5C8-5C9 7FD 897-89F 8CA-8D3 9FE AFA-AFF B53-B55 C04 C3C CF3 D00 D3B-D3C D81 EBA ECE 1715 180F "
    "1ABF-1AF0 1CF7 1DF6-1DFA 209D-209F 32FF A7F1-A7F4 A82C A8FF AB69 105C9 105D2 105DA 105E4 10781-10785 10787-107B0 "
    "107B2-107BF 10D24-10D27 10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFF 10F46-10F50 10F82-10F85 11070 "
    "11073-11074 110C2 11145-11146 111C9 111CE-111CF 11241 1133B 11382-11385 1138B 1138E 11390-11391 113B8-113C0 113C2 "
    "113C5 113C7-113CA 113CC-113D0 113D2 113E1-113E2 1145E 1182C-1183A 11930-11935 11937-11938 1193B-1193E 11940 "
    "11942-11943 119D1-119D7 119DA-119E0 119E4 11A01-11A0A 11A33-11A39 11A3B-11A3E 11A47 11A51-11A5B 11A8A-11A99 "
    "11B60-11B67 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47 11D8A-11D8E 11D90-11D91 11D93-11D97 11DF0 11EF3-11EF6 "
    "11F00-11F01 11F03 11F34-11F3A 11F3E-11F42 11F5A 13440 13447-13455 1611E-1612F 16D63 16D67-16D6A 16F4F 16F7F-16F87 "
    "16FE4 16FF0-16FF1 1B123-1B126 1CCD6-1CCF9 1CF00-1CF2D 1CF30-1CF46 1D127-1D128 1D250-1D252 1D25B-1D25C 1D25F "
    "1D280-1D281 1D6A6 1DF95 1DFCD-1DFFF 1E030-1E06D 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 "
    "1E6E6 1E6EE-1E6EF 1E6F5 1F16C 1FBF0-1FBF9"
)
"""Code points unassigned in 9.0 that became, up to 18.0, marks, decomposable, or part of a composed character."""


def _pairs(ranges: str) -> list[tuple[int, int]]:
    ends_of_ranges = [[int(end, 16) for end in part.split("-")] for part in ranges.split(" ")]
    return [(ends[0], ends[-1]) for ends in ends_of_ranges]


def _class(pairs: list[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in pairs)


_NEWER = _pairs(_NEWER_RANGES)
_OF_9 = re.compile(f"[^{_class(_NEWER)}]+")
# Exact up to 16 bits; more ranges would slow the search down several times.
_MAY_BE_NEWER = re.compile(
    "[" + _class([(first, last) for first, last in _NEWER if last < 1 << 16] + [(0x105C9, _NEWER[-1][1])]) + "]"
)
NEWER_CHARACTERS = frozenset(chr(code) for first, last in _NEWER for code in range(first, last + 1))
_MARKS_UNTIL_11 = "\u1cf2\u1cf3"
"""Letters since Unicode 12.0."""

_LOWER_CASE = {
    **{chr(code): chr(code + 1) for code in (0x1C89, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA)},
    "\ua7cb": "\u0264",
    "\ua7dc": "\u019b",
    **{chr(code): chr(code + 0x20) for code in range(0x10D50, 0x10D66)},
    **{chr(code): chr(code + 0x1B) for code in range(0x16EA0, 0x16EB9)},
}
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
    lowered = text.replace("Σ", "σ").lower()
    return _NEWER_CAPITAL.sub(lambda match: _LOWER_CASE[match[0]], lowered)


def is_mark(character: str) -> bool:
    """Return whether `character` is a mark (general category M) in Unicode 9.0."""
    if unicodedata.category(character)[0] == "M":
        return character not in NEWER_CHARACTERS
    return character in _MARKS_UNTIL_11
