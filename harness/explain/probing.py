"""Finding out, by asking, where a side cuts that does not tell: every question is a text, every answer its ids.

What is certain: a side does not cut where one of its tokens runs on. Everything else is inferred:

* a stretch of text needs a cut where merging it in one piece would give other ids than the side gave (`needed_cuts`);
* such a cut belongs to the splitting, and not to the way of merging, where it stays when other characters of the same
  class stand on both its sides (`cut_stays`): splitting looks at classes, merging at tokens.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from harness.explain.rules import Rules
from harness.explain.views import View, ask, observe
from harness.explain.ways import Way, attempt
from harness.unicode.stand_ins import STAND_INS, stand_in

MAX_TOKENS = 200
"""Wider stretches are not searched for needed cuts."""
_TRIALS = 60
_SHORTER = 30
_NEAR = 100
"""Characters around a piece that are asked with it, if it is cut there as in the whole text."""
_TOKENS_ASKED = 20
_SUFFIX_LETTERS = 2
"""Letters behind an apostrophe stay as they are: contractions are spelled out in the patterns."""


def needed_cuts(view: View, rules: Rules, way: Way, start: int, end: int) -> list[int] | None:
    """Bytes between `start` and `end` (token borders both) at which there must be a cut if `way` is how it merges.

    From the left the longest stretch that merges to the tokens the side gave, then the next. None where the stretch
    is too long, or a token on its own does not encode to itself.
    """
    seen, borders = view.seen, view.borders
    assert seen is not None
    inside = [byte for byte in borders if start <= byte <= end and _starts_character(seen, byte)]
    if len(inside) > MAX_TOKENS:
        return None
    cuts: list[int] = []
    at = 0
    while at < len(inside) - 1:
        for to in range(len(inside) - 1, at, -1):
            stretch = seen[inside[at] : inside[to]].decode()
            found = attempt(rules, stretch, way)
            if found is not None and found.ids == view.ids_between(inside[at], inside[to]):
                break
        else:
            return None
        at = to
        cuts.append(inside[at])
    return cuts[:-1]


def _starts_character(seen: bytes, byte: int) -> bool:
    return byte == len(seen) or seen[byte] & 0xC0 != 0x80


@dataclass(frozen=True, slots=True)
class Stays:
    """How a cut fared when other characters of the same classes stood there."""

    n_trials: int
    """Texts on which merging across the place would have shown."""
    n_cut: int
    """Of these, texts with a token border there all the same."""

    @property
    def is_cut(self) -> bool | None:
        """True: always there; False: not always; None: nothing to be seen."""
        return None if self.n_trials == 0 else self.n_cut == self.n_trials


def cut_stays(view: View, rules: Rules, way: Way, piece: tuple[int, int], cut: int) -> Stays:
    """Put other characters of the same classes into a piece, and look whether the token border at `cut` stays.

    Counted are texts where `way`, given the whole piece, runs a token over the place; the rest of the text stays.
    """
    seen = view.seen
    assert seen is not None
    before, inside, after = _in_context(view, *piece)
    place = len(seen[piece[0] : cut].decode("utf-8", "replace"))
    chance = random.Random(f"{inside}{cut}")
    by_class = _characters_by_class(rules)
    tried: set[str] = {inside}
    n_trials = n_cut = 0
    for _ in range(_TRIALS):
        other = _same_classes(inside, by_class, chance)
        if other in tried:
            continue
        tried.add(other)
        merged = attempt(rules, other, way)
        if merged is None or _has_border(rules, merged.ids, len(other[:place].encode())):
            continue
        answer = observe(view.side, before + other + after)
        if answer.error is not None or answer.seen is None:
            continue
        n_trials += 1
        n_cut += answer.crossed(len((before + other[:place]).encode())) is None
    return Stays(n_trials, n_cut)


def joins_nothing(view: View, rules: Rules) -> int | None:
    """How many tokens of several symbols it was asked for, each alone, if it gave none as one; None if it gave any."""
    asked = 0
    for i, token in enumerate(rules.model.tokens):
        if token is None or len(token) < 2:
            continue
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        derived = attempt(rules, text, "leftmost")
        if derived is None or len(derived.ids) != 1 or len(derived.symbols) == 1:
            continue
        asked += 1
        if ask(view.side, text)[0] == [i]:
            return None
        if asked == _TOKENS_ASKED:
            break
    return asked or None


def joins_when_shorter(view: View, piece: tuple[int, int], cut: int) -> bytes | None:
    """The token that runs over `cut` when only the part of a long piece around it is asked for; None where none does.

    The part is a multiple of 3 characters to each side, so that digits in threes stay as they are.
    """
    assert view.seen is not None
    before = view.seen[piece[0] : cut].decode("utf-8", "replace")[-_SHORTER:]
    after = view.seen[cut : piece[1]].decode("utf-8", "replace")[:_SHORTER]
    if len(before) < _SHORTER and len(after) < _SHORTER:
        return None
    answer = observe(view.side, before + after)
    return None if answer.seen is None else answer.crossed(len(before.encode()))


def _in_context(view: View, start: int, end: int) -> tuple[str, str, str]:
    """What stands before a piece, the piece, what stands behind it; as little as leaves its ids as they are."""
    assert view.seen is not None
    before, piece, after = (
        part.decode("utf-8", "replace") for part in (view.seen[:start], view.seen[start:end], view.seen[end:])
    )
    near = before[-_NEAR:], piece, after[:_NEAR]
    answer = observe(view.side, "".join(near))
    place = len(near[0].encode())
    same = answer.seen is not None and answer.ids_between(place, place + end - start) == view.ids_between(start, end)
    return near if same else (before, piece, after)


def _has_border(rules: Rules, ids: Sequence[int], byte: int) -> bool:
    at = 0
    for i in ids:
        if at >= byte:
            break
        at += len(rules.token(i))
    return at == byte


def _same_classes(text: str, by_class: dict[str, str], chance: random.Random) -> str:
    kept = set()
    for k, character in enumerate(text):
        if character in "'’":
            kept |= set(range(k, k + 1 + _SUFFIX_LETTERS))
    return "".join(
        character if k in kept else chance.choice(by_class.get(class_of(character), character))
        for k, character in enumerate(text)
    )


def class_of(character: str) -> str:
    """What splitting patterns tell apart: kind of letter, digit, mark; white space and punctuation each by itself."""
    category = unicodedata.category(character)
    return category if category[0] in "LNM" else character


def _characters_by_class(rules: Rules) -> dict[str, str]:
    """ASCII characters that stand in tokens of several characters, by class: with them merges can show."""
    found: dict[str, str] = {}
    for character in sorted(rules.merging_characters):
        found[class_of(character)] = found.get(class_of(character), "") + character
    return found


# --- characters the two sides class otherwise --------------------------------------------------------------------


def decided_by_class(a: View, b: View, text: str, character: str) -> bool:
    """Whether `a` and `b` agree as soon as any long-established character stands in the place of `character`."""
    for kind in STAND_INS:
        other = text.replace(character, stand_in(kind, character))
        ids, error = ask(a.side, other)
        if error is not None or ids != ask(b.side, other)[0]:
            return False
    return True


def classed_as(view: View, text: str, character: str) -> str:
    """As what a side classes `character`, in words: what stands in for it without moving the tokens around it."""
    here = _around(view, text, character, character)
    fitting = [kind for kind in STAND_INS if _around(view, text, character, stand_in(kind, character)) == here]
    groups = list(dict.fromkeys(kind.split()[-1] for kind in fitting))
    others = [group for group in dict.fromkeys(kind.split()[-1] for kind in STAND_INS) if group not in groups]
    if here is None or not groups or not others:
        return "as something else"
    return f"not as a {others[0]}" if len(others) == 1 else f"as a {' or '.join(groups)}"


def _around(view: View, text: str, character: str, other: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Lengths of the tokens before and behind the first `character`, when `other` stands in its place."""
    place = len(text[: text.index(character)].encode())
    answer = observe(view.side, text.replace(character, other))
    if answer.error is not None or answer.seen is None:
        return None
    end = place + len(other.encode())
    borders = answer.borders
    return tuple(b for b in borders if b <= place), tuple(b - end for b in borders if b >= end)
