"""Probe where a side that hides its pieces cuts, by encoding texts and looking at their ids.

One thing is certain: a side does not cut inside one of its tokens. Everything else is inferred:

* a stretch of text needs a cut where merging it as one piece would give other ids than the side gave (`needed_cuts`);
* such a cut comes from splitting, not from merging, if it stays when the characters around it are replaced by others of
  the same class (`try_cut`): splitting looks at classes, merging at tokens.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from harness.explain.algorithms import Algorithm, attempt
from harness.explain.observations import Observation, Span, ask, observe
from harness.explain.rules import Rules

MAX_TOKENS = 200
"""Most tokens of a stretch that is searched for needed cuts."""
_TRIALS = 60
_SHORTER = 30
_NEAR = 100
"""Characters of context probed with a piece, if it is cut there as in the whole text."""
_TOKENS_ASKED = 20
_SUFFIX_LETTERS = 2
"""Letters after an apostrophe are not replaced: patterns spell out contractions."""


def needed_cuts(observation: Observation, rules: Rules, algorithm: Algorithm, start: int, end: int) -> list[int] | None:
    """Return the bytes between two token borders where the side must cut if it merges by `algorithm`.

    From the left, take the longest stretch that merges to the tokens of the side, then the next. Return None if the
    stretch is too long, or a token on its own does not encode to itself.
    """
    seen = observation.seen
    assert seen is not None
    inside = [
        byte
        for byte in observation.borders
        if start <= byte <= end and (byte == len(seen) or seen[byte] & 0xC0 != 0x80)  # the first byte of a character
    ]
    if len(inside) > MAX_TOKENS:
        return None
    cuts: list[int] = []
    at = 0
    while at < len(inside) - 1:
        for to in range(len(inside) - 1, at, -1):
            found = attempt(rules, observation.between(inside[at], inside[to]), algorithm)
            if found is not None and found.ids == observation.ids_between(inside[at], inside[to]):
                break
        else:
            return None
        at = to
        cuts.append(inside[at])
    return cuts[:-1]


def try_cut(observation: Observation, rules: Rules, algorithm: Algorithm, piece: Span, cut: int) -> tuple[int, int]:
    """Replace the characters of a piece by others of the same classes and see whether the token border at `cut` stays.

    Return the number of texts for which `algorithm`, given the whole piece, makes a token across the place, and for how
    many of them the side still had a border there. The rest of the text is unchanged.
    """
    before, inside, after = _in_context(observation, *piece)
    place = len(observation.between(piece[0], cut))
    chance = random.Random(f"{inside}{cut}")
    by_class: dict[str, str] = {}  # ASCII characters of multi-character tokens: with them merges can show
    for character in sorted(rules.merging_characters):
        by_class[class_of(character)] = by_class.get(class_of(character), "") + character
    tried: set[str] = {inside}
    n_trials = n_cut = 0
    for _ in range(_TRIALS):
        other = _same_classes(inside, by_class, chance)
        if other in tried:
            continue
        tried.add(other)
        merged = attempt(rules, other, algorithm)
        if merged is None or _has_border(rules, merged.ids, len(other[:place].encode())):
            continue
        answer = observe(observation.side, before + other + after)
        if answer.error is not None or answer.seen is None:
            continue
        n_trials += 1
        n_cut += answer.crossed(len((before + other[:place]).encode())) is None
    return n_trials, n_cut


def joins_nothing(observation: Observation, rules: Rules) -> int | None:
    """Return how many tokens of several symbols were probed alone, if the side joined none of them; else None."""
    asked = 0
    for i, token in enumerate(rules.model.tokens):
        text = (token or b"").decode("utf-8", "ignore")
        if token is None or len(token) < 2 or text.encode() != token:
            continue
        derived = attempt(rules, text, "leftmost")
        if derived is None or len(derived.ids) != 1 or len(derived.symbols) == 1:
            continue
        asked += 1
        if ask(observation.side, text)[0] == [i]:
            return None
        if asked == _TOKENS_ASKED:
            break
    return asked or None


def joins_when_shorter(observation: Observation, piece: Span, cut: int) -> bytes | None:
    """Return the token across `cut` when only the part of a long piece around it is encoded; None if there is none.

    The part has a multiple of 3 characters on each side, so that digits grouped by three stay grouped.
    """
    before = observation.between(piece[0], cut)[-_SHORTER:]
    after = observation.between(cut, piece[1])[:_SHORTER]
    if len(before) < _SHORTER and len(after) < _SHORTER:
        return None
    answer = observe(observation.side, before + after)
    return None if answer.seen is None else answer.crossed(len(before.encode()))


def _in_context(observation: Observation, start: int, end: int) -> tuple[str, str, str]:
    """Return the text before a piece, the piece, and the text after it, with as little context as preserves its ids."""
    before, piece, after = observation.between(0, start), observation.between(start, end), observation.between(end)
    near = before[-_NEAR:], piece, after[:_NEAR]
    answer = observe(observation.side, "".join(near))
    place = len(near[0].encode())
    ids = observation.ids_between(start, end)
    same = answer.seen is not None and answer.ids_between(place, place + end - start) == ids
    return near if same else (before, piece, after)


def _has_border(rules: Rules, ids: Sequence[int], byte: int) -> bool:
    return byte in accumulate((len(rules.token(i)) for i in ids), initial=0)


def _same_classes(text: str, by_class: dict[str, str], chance: random.Random) -> str:
    found = []
    for k, character in enumerate(text):
        is_kept = any(before in "'’" for before in text[max(0, k - _SUFFIX_LETTERS) : k + 1])
        found.append(character if is_kept else chance.choice(by_class.get(class_of(character), character)))
    return "".join(found)


def class_of(character: str) -> str:
    """Return what splitting patterns distinguish: the kind of letter, digit or mark; else the character itself."""
    category = unicodedata.category(character)
    return category if category[0] in "LNM" else character
