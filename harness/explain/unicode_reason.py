"""Find out whether two sides differ because a character is newer than the Unicode version of one of their engines."""

from __future__ import annotations

from dataclasses import dataclass

from harness.explain.observations import Observation, ask, observe
from harness.explain.sides import Side
from harness.printable import code_point
from harness.unicode_versions import STAND_INS, is_of_a_version, newer_than, stand_in, version

_AROUND = 3
"""Characters before and after the piece that are examined as well."""
_CONTEXT = 40


@dataclass(frozen=True, slots=True)
class UnicodeReason:
    """A character with whose class the difference stands and falls."""

    what: str
    is_version: bool
    """Whether the character is newer than the Unicode version of one of the engines."""
    evidence: list[str]


def unicode_reason(a: Observation, b: Observation, start: int, end: int) -> UnicodeReason | None:
    """Return the first character around the bytes `start` to `end` whose class alone causes the difference."""
    if not a.sees_the_text:
        return None
    first, last = a.character(start), a.character(end)
    candidates = [one for one in dict.fromkeys(a.text[max(0, first - _AROUND) : last + _AROUND]) if ord(one) > 0x7F]
    if not candidates:
        return None
    around = a.text[max(0, first - _CONTEXT) : last + _CONTEXT]
    text = around if ask(a.side, around)[0] != ask(b.side, around)[0] else a.text
    character = next((one for one in candidates if one in text and _is_decided_by(one, a, b, text)), None)
    return None if character is None else _reason(a, b, character)


def _is_decided_by(character: str, a: Observation, b: Observation, text: str) -> bool:
    """Return whether `a` and `b` agree once any long-established character replaces `character`."""
    for kind in STAND_INS:
        other = text.replace(character, stand_in(kind, character))
        ids, error = ask(a.side, other)
        if error is not None or ids != ask(b.side, other)[0]:
            return False
    return True


def _reason(a: Observation, b: Observation, character: str) -> UnicodeReason:
    known = {one.name: unicode_version(one.side) for one in (a, b)}
    evidence = [f"{name} knows the letters of Unicode {number}" for name, number in known.items() if number]
    shown, age = code_point(character), newer_than(character)
    if age:
        evidence.append(f"{shown} {age}")
    is_version = is_of_a_version(character, *known.values())
    if not is_version:
        evidence.append(f"{shown} is older than both engines, so no Unicode version explains it")
    what = f"with any long-known letter, number, mark or symbol in the place of {shown} they agree"
    return UnicodeReason(what, is_version, evidence)


def unicode_version(side: Side) -> str | None:
    """Return the newest Unicode version whose letters the side treats as letters before `'s`; None if unknown.

    Tests whether the contraction stays whole after a letter, as it does after a long-established one.
    """

    def behind(character: str) -> list[int] | None:
        end = len(character.encode())
        answer = observe(side, f"{character}'s")
        return [border - end for border in answer.borders if border >= end] if answer.borders else None

    pairs = zip(STAND_INS["letter"], STAND_INS["symbol"], strict=True)
    if any(behind(letter) == behind(symbol) for letter, symbol in pairs):
        return None
    return version(lambda letter: behind(letter) == behind(stand_in("letter", letter)))
