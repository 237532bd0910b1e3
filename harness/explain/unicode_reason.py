"""Is a character the reason why two sides cut otherwise: one that the engines class otherwise, and a new one?"""

from __future__ import annotations

from dataclasses import dataclass

from harness.explain.probing import classed_as, decided_by_class
from harness.explain.readable import code_point
from harness.explain.sides import Side
from harness.explain.views import View, ask, observe
from harness.unicode.ages import is_of_a_version, newer_than
from harness.unicode.stand_ins import STAND_INS, stand_in
from harness.unicode.versions import version

_AROUND = 3
"""Characters before and behind the piece that are looked at as well."""
_CONTEXT = 40


@dataclass(frozen=True, slots=True)
class Reason:
    """A character the two sides class otherwise."""

    what: str
    is_version: bool
    """Whether the character is newer than what one of the engines knows."""
    evidence: list[str]


def unicode_reason(a: View, b: View, start: int, end: int) -> Reason | None:
    """The first character around the bytes `start` to `end` that decides the difference by its class alone."""
    if a.seen is None or a.seen != a.text.encode():
        return None
    first = len(a.seen[:start].decode("utf-8", "ignore"))
    last = len(a.seen[:end].decode("utf-8", "ignore"))
    near = a.text[max(0, first - _AROUND) : last + _AROUND]
    candidates = [character for character in dict.fromkeys(near) if ord(character) > 0x7F]
    if not candidates:
        return None
    text = _shortest_context(a, b, first, last)
    for character in candidates:
        if character in text and decided_by_class(a, b, text, character):
            return _reason(a, b, text, character)
    return None


def _shortest_context(a: View, b: View, first: int, last: int) -> str:
    """The text around the difference on which the sides still differ, else the whole."""
    around = a.text[max(0, first - _CONTEXT) : last + _CONTEXT]
    return around if ask(a.side, around)[0] != ask(b.side, around)[0] else a.text


def _reason(a: View, b: View, text: str, character: str) -> Reason:
    evidence = [
        f"with any long-known letter, number, mark or symbol in the place of {code_point(character)} they agree"
    ]
    classes = [classed_as(view, text, character) for view in (a, b)]
    known = [unicode_version(view.side) for view in (a, b)]
    evidence += [
        f"{view.side.name} knows the letters of Unicode {number}"
        for view, number in zip((a, b), known, strict=True)
        if number
    ]
    age = newer_than(character)
    if age:
        evidence.append(f"{code_point(character)} {age}")
    is_version = is_of_a_version(character, *known)
    if not is_version:
        evidence.append(f"{code_point(character)} is older than both engines, so no Unicode version explains it")
    told = ", by ".join(f"{view.side.name} {kind}" for view, kind in zip((a, b), classes, strict=True))
    return Reason(f"{code_point(character)} is classed by {told}", is_version, evidence)


def unicode_version(side: Side) -> str | None:
    """The newest Unicode whose letters the side treats as letters before `'s`; None where that does not show.

    Asked is whether the contraction stays whole behind a letter, as it does behind a letter everybody knows.
    """

    def behind(character: str) -> tuple[int, ...] | None:
        answer = observe(side, character + "'s")
        if answer.seen is None or answer.error is not None:
            return None
        size = len(character.encode())
        return tuple(border - size for border in answer.borders if border >= size)

    def is_letter(letter: str) -> bool:
        return behind(letter) == behind(stand_in("letter", letter))

    if any(
        behind(letter) == behind(symbol)
        for letter, symbol in zip(STAND_INS["letter"], STAND_INS["symbol"], strict=True)
    ):
        return None
    return version(is_letter)
