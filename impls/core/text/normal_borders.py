"""Decide between which two characters a text may be cut and its parts normalised separately, whatever surrounds them.

    "é|a"     under nfc: an "a" composes with nothing before it
    "e|\\u0301"  no: they become "é"
    "a|e"     no: a mark may follow and make it "é", and the pattern sees that

Steps that rewrite each character alone do not look across a cut. A normal form does, unless the characters on both
sides are independent of what precedes them (not marks, not parts of a syllable), and the second composes with nothing
that may follow. Steps that put something before a text (`prefix-space`, `prepend`) affect its beginning only. Steps
that look at more (stripped white space, replaced expressions and texts of several characters) allow no cut.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from impls.core.text.normalization import PREFIX_SPACE, Step, call, in_turn, normalizer, steps_of

_FORMS = frozenset({"nfc", "nfd", "nfkc", "nfkd"})
_ONE_BY_ONE = frozenset({"lowercase", "strip-accents", "nmt"})
_BEFORE_A_TEXT = frozenset({PREFIX_SPACE, "prepend"})
_JAMO = ((0x1100, 0x1200), (0xA960, 0xA980), (0xD7B0, 0xD800))


class NormalBorders:
    """Decides for one normalisation; `possible` is False if its steps allow no cut anywhere."""

    def __init__(self, normalization: str | None) -> None:
        steps = steps_of(normalization or "")
        local = [(name, texts) for name, texts in steps if name not in _BEFORE_A_TEXT]
        self.possible = all(
            name in _FORMS | _ONE_BY_ONE or (name == "replace" and len(texts[0]) == 1) for name, texts in local
        ) and PREFIX_SPACE not in [name for name, _ in steps[:-1]]
        self.changes_beginning = len(local) < len(steps)
        """Whether something is put before a text."""
        self._composes = any(name in _FORMS for name, _ in local)
        self._steps = [normalizer(call(name, *texts)) for name, texts in local] if self.possible else []
        self.continued = in_turn(self._steps)
        """Gives the normal form of a text that continues another, after a cut."""

    def characters_at_cut(self, before: str, after: str) -> tuple[str, str] | None:
        """Return the characters on both sides of a cut in the normalised text; None if it must not be cut there."""
        steps: list[Step] = [str, *self._steps]
        for step in steps:
            before, after = step(before), step(after)
            if not before or not after:
                return None
            if self._composes and not all(map(is_independent_of_previous, before[0] + after[0])):
                return None
            if self._composes and not is_independent_of_next(after[0]):
                return None
        return before[-1], after[0]


def is_independent_of_previous(character: str) -> bool:
    """Return whether no normal form changes or moves `character` because of what precedes it.

    False also if that is unknown: for all marks, format characters and unassigned ones.
    """
    decomposed = unicodedata.normalize("NFKD", character)
    return character.isascii() or _is_syllable(character) or (_is_plain(character) and _is_plain(decomposed[0]))


def _is_plain(character: str) -> bool:
    kind, code = unicodedata.category(character), ord(character)
    if kind[0] not in "LNPSZ" or unicodedata.combining(character):
        return False
    return not any(first <= code < end for first, end in _JAMO)


def is_independent_of_next(character: str) -> bool:
    """Return whether no normal form changes `character` because of what follows it."""
    return character not in _first_parts() and not _is_syllable(character)


def _is_syllable(character: str) -> bool:
    return "\uac00" <= character < "\ud7a4"


@lru_cache(maxsize=1)
def _first_parts() -> frozenset[str]:
    """Return the characters that begin the canonical decomposition of another character."""
    every = (unicodedata.decomposition(chr(code)).split() for code in range(0x80, 0x30000))
    return frozenset(chr(int(parts[0], 16)) for parts in every if len(parts) == 2 and not parts[0].startswith("<"))
