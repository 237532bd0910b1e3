"""Do two sides cut differently because their engines classify a character differently, and is it a new one?"""

from __future__ import annotations

from dataclasses import dataclass

from harness.explain.observations import Observation, ask, observe
from harness.explain.probing import classed_as, decided_by_class
from harness.explain.readable import code_point
from harness.explain.sides import Side
from harness.unicode.ages import is_of_a_version, newer_than
from harness.unicode.stand_ins import STAND_INS, stand_in
from harness.unicode.versions import version

_AROUND = 3
"""Characters before and after the piece that are examined as well."""
_CONTEXT = 40


@dataclass(frozen=True, slots=True)
class Reason:
    """A character the two sides classify differently."""

    what: str
    is_version: bool
    """Whether the character is newer than the Unicode version of one of the engines."""
    evidence: list[str]


def unicode_reason(a: Observation, b: Observation, start: int, end: int) -> Reason | None:
    """Return the first character around the bytes `start` to `end` whose class alone decides the difference."""
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


def _shortest_context(a: Observation, b: Observation, first: int, last: int) -> str:
    """Return the text around the difference if the sides still differ on it, else the whole text."""
    around = a.text[max(0, first - _CONTEXT) : last + _CONTEXT]
    return around if ask(a.side, around)[0] != ask(b.side, around)[0] else a.text


def _reason(a: Observation, b: Observation, text: str, character: str) -> Reason:
    evidence = [
        f"with any long-known letter, number, mark or symbol in the place of {code_point(character)} they agree"
    ]
    classes = [classed_as(observation, text, character) for observation in (a, b)]
    known = [unicode_version(observation.side) for observation in (a, b)]
    evidence += [
        f"{observation.side.name} knows the letters of Unicode {number}"
        for observation, number in zip((a, b), known, strict=True)
        if number
    ]
    age = newer_than(character)
    if age:
        evidence.append(f"{code_point(character)} {age}")
    is_version = is_of_a_version(character, *known)
    if not is_version:
        evidence.append(f"{code_point(character)} is older than both engines, so no Unicode version explains it")
    classified = ", by ".join(
        f"{observation.side.name} {kind}" for observation, kind in zip((a, b), classes, strict=True)
    )
    return Reason(f"{code_point(character)} is classed by {classified}", is_version, evidence)


def unicode_version(side: Side) -> str | None:
    """Return the newest Unicode version whose letters the side treats as letters before `'s`; None where unknown.

    Tests whether the contraction stays whole after a letter, as it does after a long-established one.
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
