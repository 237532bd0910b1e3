"""Find out whether two sides cut differently because their engines classify a (perhaps new) character differently."""

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
    """A character the two sides classify differently."""

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
    for character in candidates:
        if character in text and _is_decided_by(character, a, b, text):
            return _reason(a, b, text, character)
    return None


def _is_decided_by(character: str, a: Observation, b: Observation, text: str) -> bool:
    """Return whether `a` and `b` agree once any long-established character replaces `character`."""
    for kind in STAND_INS:
        other = text.replace(character, stand_in(kind, character))
        ids, error = ask(a.side, other)
        if error is not None or ids != ask(b.side, other)[0]:
            return False
    return True


def _reason(a: Observation, b: Observation, text: str, character: str) -> UnicodeReason:
    shown = code_point(character)
    evidence = [f"with any long-known letter, number, mark or symbol in the place of {shown} they agree"]
    classified, known = [], []
    for one in (a, b):
        classified.append(f"{one.name} {_classed_as(one.side, text, character)}")
        known.append(unicode_version(one.side))
        if known[-1]:
            evidence.append(f"{one.name} knows the letters of Unicode {known[-1]}")
    age = newer_than(character)
    if age:
        evidence.append(f"{shown} {age}")
    is_version = is_of_a_version(character, *known)
    if not is_version:
        evidence.append(f"{shown} is older than both engines, so no Unicode version explains it")
    return UnicodeReason(f"{shown} is classed by {', by '.join(classified)}", is_version, evidence)


def _classed_as(side: Side, text: str, character: str) -> str:
    """Describe how a side classifies `character`: by which replacements leave the tokens around it in place."""
    here = _around(side, text, character, character)
    fitting = [kind for kind in STAND_INS if _around(side, text, character, stand_in(kind, character)) == here]
    groups, known = (list(dict.fromkeys(kind.split()[-1] for kind in kinds)) for kinds in (fitting, STAND_INS))
    others = [group for group in known if group not in groups]
    if here is None or not groups or not others:
        return "as something else"
    return f"not as a {others[0]}" if len(others) == 1 else f"as a {' or '.join(groups)}"


def _around(side: Side, text: str, character: str, other: str) -> tuple[list[int], list[int]] | None:
    """Return the token borders before and after the first `character`, with `other` in its place."""
    place = len(text[: text.index(character)].encode())
    end = place + len(other.encode())
    answer = observe(side, text.replace(character, other))
    if answer.error is not None or answer.seen is None:
        return None
    borders = answer.borders
    return [border for border in borders if border <= place], [border - end for border in borders if border >= end]


def unicode_version(side: Side) -> str | None:
    """Return the newest Unicode version whose letters the side treats as letters before `'s`; None if unknown.

    Tests whether the contraction stays whole after a letter, as it does after a long-established one.
    """

    def behind(character: str) -> list[int] | None:
        around = _around(side, f"{character}'s", character, character)
        return None if around is None else around[1]

    pairs = zip(STAND_INS["letter"], STAND_INS["symbol"], strict=True)
    if any(behind(letter) == behind(symbol) for letter, symbol in pairs):
        return None
    return version(lambda letter: behind(letter) == behind(stand_in("letter", letter)))
