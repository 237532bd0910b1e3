"""How new a character is, by the tables at hand: the package regex (Unicode 16 where it is pinned) and Python's own."""

from __future__ import annotations

import unicodedata

import regex

_UNASSIGNED = regex.compile(r"\p{Cn}")


def newer_than(character: str) -> str | None:
    """How new a character is, in words; None for one that all tables at hand have."""
    if _UNASSIGNED.match(character):
        return "is not assigned in the tables of the package regex (Unicode 16 where it is pinned)"
    if unicodedata.category(character) == "Cn":
        return f"is newer than Unicode {unicodedata.unidata_version}, the version of this Python"
    return None


def is_of_a_version(character: str, a_version: str | None, b_version: str | None) -> bool:
    """Whether two engines may class `character` otherwise because one of them is older than it.

    So it is for a character the tables at hand do not have; for one that came after Unicode 3.2, where the versions
    the engines are known to have are not the same.
    """
    if newer_than(character) is not None:
        return True
    apart = a_version is not None and b_version is not None and a_version != b_version
    return apart and unicodedata.ucd_3_2_0.category(character) == "Cn"
