"""How new a character is, by the tables of the package regex (Unicode 16 where it is pinned) and of Python."""

from __future__ import annotations

import unicodedata

import regex

_UNASSIGNED = regex.compile(r"\p{Cn}")


def newer_than(character: str) -> str | None:
    """Describe how new a character is; None for one that all available tables have."""
    if _UNASSIGNED.match(character):
        return "is not assigned in the tables of the package regex (Unicode 16 where it is pinned)"
    if unicodedata.category(character) == "Cn":
        return f"is newer than Unicode {unicodedata.unidata_version}, the version of this Python"
    return None


def is_of_a_version(character: str, a_version: str | None, b_version: str | None) -> bool:
    """Whether two engines may classify `character` differently because one of them is older than it.

    True for a character the available tables do not have. For others only where the engines are known to differ in
    version, the older one is older than this Python's tables, and the character came after Unicode 3.2.
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
