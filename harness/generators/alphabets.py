"""The alphabets of fuzzed text: code points by general category and by script, and the oddities of `alphabets.toml`.

Categories and scripts are those of Unicode 16 on every Python and with every `regex`.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import regex

from impls.core.text.unicode_16 import as_unicode_16

ALPHABETS: dict[str, Any] = tomllib.loads((files("harness.generators") / "alphabets.toml").read_text(encoding="utf-8"))
"""Name -> characters, or strings, or lengths of runs."""
LONE_SURROGATES = ("\ud800", "\udbff", "\udc00", "\udfff", "\ud83d", "\udc4d", "\ud83d\udc4d", "\udc4d\ud83d")

_NON_CHARACTERS = {*range(0xFDD0, 0xFDF0), *(plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF))}
_UNASSIGNED = regex.compile(r"\p{Cn}")


@cache
def _every_character() -> str:
    return "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))


@cache
def _every_character_of_16() -> str:
    return as_unicode_16(_every_character())


@cache
def of_property(name: str) -> str:
    """Return every code point of a general category (`Lu`) or script (`Script=Greek`), in order."""
    matched = regex.finditer(rf"\p{{{name}}}+", _every_character_of_16())
    return "".join([_every_character()[match.start() : match.end()] for match in matched])


@cache
def unassigned() -> tuple[str, ...]:
    """Return, for each of the first four planes, the code points that Unicode 16 leaves unassigned."""
    planes = ("".join(map(chr, range(plane << 16, (plane + 1) << 16))) for plane in range(1, 4))
    texts = [_every_character()[:0xF800], *planes]  # the first plane has no surrogates there
    return tuple("".join(filter(is_newer, text)) for text in texts)


def is_newer(character: str) -> bool:
    """Return whether Unicode 16 does not assign the character, so that only a newer version may classify it."""
    return not is_assigned(character) and ord(character) not in _NON_CHARACTERS


def is_assigned(character: str) -> bool:
    """Return whether Unicode 16 assigns the character."""
    return _UNASSIGNED.match(as_unicode_16(character)) is None
