"""Patterns of our own that keep scripts and digits apart, so that no token mixes two alphabets or holds a long number.

A word is letters of one script with their combining marks and at most one space before; `SCRIPTS_3` cuts digits in
threes from the left, `SCRIPTS_1` one by one. Letters of scripts not listed in `SCRIPTS` are one group, apart from the
listed ones. An apostrophe is a sign, so `don't` is three pieces. The rest is cut as by GPT-2's pattern.
"""

from __future__ import annotations

SCRIPTS = (
    "Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Devanagari", "Bengali", "Tamil",
    "Telugu", "Thai", "Hangul", "Hiragana", "Katakana", "Han",
)  # fmt: skip
"""Scripts that are kept separate, by their Unicode names."""
_INSIDE = {"Arabic": "\u0640", "Hiragana": "\u30fc\uff70", "Katakana": "\u30fc\uff70"}
"""Letters without a script of their own that lengthen a word: tatweel, and the marks of a long vowel."""


def _word(letter: str, inside: str = "") -> str:
    return rf" ?{letter}(?:{letter}|[\p{{M}}{inside}])*"


_OF_LISTED = "".join(rf"\p{{{script}}}" for script in SCRIPTS)
SCRIPTS_3 = "|".join(
    [
        # A set cannot intersect two others; what is outside "no letter, or not Latin" is the Latin letters.
        *(_word(rf"[^\P{{L}}\P{{{script}}}]", _INSIDE.get(script, "")) for script in SCRIPTS),
        _word(rf"[^\P{{L}}{_OF_LISTED}]"),
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
SCRIPTS_1 = SCRIPTS_3.replace(r"\p{N}{1,3}", r"\p{N}")
