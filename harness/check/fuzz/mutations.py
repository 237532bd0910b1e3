"""Mutations of real text: slightly damaged, so that rare characters meet in realistic surroundings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from harness.check.fuzz import alphabets
from harness.check.fuzz.families import Family

_MOST_CHARACTERS = 1_500
_TIMES = 12

Mutation = Callable[[str, Random], str]


def _span(text: str, random: Random) -> tuple[int, int]:
    start = random.randrange(len(text) + 1)
    return start, min(len(text), start + random.randint(0, 12))


def _delete(text: str, random: Random) -> str:
    start, end = _span(text, random)
    return text[:start] + text[end:]


def _repeat(text: str, random: Random) -> str:
    start, end = _span(text, random)
    return text[:end] + text[start:end] * random.choice((1, 2, 3, 30)) + text[end:]


def _move(text: str, random: Random) -> str:
    start, end = _span(text, random)
    rest = text[:start] + text[end:]
    to = random.randint(0, len(rest))
    return rest[:to] + text[start:end] + rest[to:]


def _change_case(text: str, random: Random) -> str:
    start, end = _span(text, random)
    change = random.choice(("upper", "lower", "title", "swapcase"))
    changed: str = getattr(text[start:end], change)()
    return text[:start] + changed + text[end:]


def _insert(text: str, random: Random) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(_INSERTED) + text[at:]


def _replace_spaces(text: str, random: Random) -> str:
    new = random.choice(alphabets.WHITE_SPACE + alphabets.LOOKS_LIKE_SPACE)
    return text.replace(" ", new * random.randint(1, 3), random.randint(1, 5))


def _shift(text: str, random: Random) -> str:
    """Replace one character by a near neighbour in code-point order."""
    if not text:
        return text
    at = random.randrange(len(text))
    code = min(max(0, ord(text[at]) + random.choice((-32, -16, -1, 1, 2, 16, 32))), 0x10FFFF)
    return text[:at] + chr(code) + text[at + 1 :]


_INSERTED: tuple[str, ...] = (
    *alphabets.WHITE_SPACE, *alphabets.LOOKS_LIKE_SPACE, *alphabets.MARKS, *alphabets.DIRECTIONS,
    *alphabets.EMOJI_JOINTS, *alphabets.LONE_SURROGATES, *alphabets.EDGES, *"'’.,;:!?0123456789_/<>|",
    *("'s", "’t", "'LL", "\r\n", "  ", "<|", "|>"),
)  # fmt: skip

MUTATIONS: tuple[Mutation, ...] = (_delete, _repeat, _move, _change_case, _insert, _insert, _replace_spaces, _shift)


def mutations(documents: Sequence[str]) -> Family:
    """Return the family of slices of `documents`, sometimes two spliced, mutated up to a dozen times."""

    def family(random: Random) -> str:
        text = _slice(random.choice(documents), random)
        if random.random() < 0.1:
            text += _slice(random.choice(documents), random)
        for _ in range(random.randint(0, _TIMES)):
            text = random.choice(MUTATIONS)(text, random)
        return text

    return family


def _slice(document: str, random: Random) -> str:
    size = random.choice((20, 60, 200, _MOST_CHARACTERS))
    start = random.randrange(max(1, len(document) - size))
    return document[start : start + size]
