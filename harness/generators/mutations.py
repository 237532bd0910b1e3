"""Mutations of real text: slightly damaged, so that rare characters meet in realistic surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from harness.generators import alphabets
from harness.generators.families import Family

_MOST_CHARACTERS = 1_500
_TIMES = 12

_INSERTED: tuple[str, ...] = (
    *alphabets.WHITE_SPACE, *alphabets.LOOKS_LIKE_SPACE, *alphabets.MARKS, *alphabets.DIRECTIONS,
    *alphabets.EMOJI_JOINTS, *alphabets.LONE_SURROGATES, *alphabets.EDGES, *"'’.,;:!?0123456789_/<>|",
    *("'s", "’t", "'LL", "\r\n", "  ", "<|", "|>"),
)  # fmt: skip

_CHANGES = ("delete", "repeat", "move", "case", "insert", "insert", "spaces", "shift")


def mutated(text: str, random: Random) -> str:
    """Return a text with one change to it: most of them to a stretch of up to a dozen characters."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.randint(0, 12))
    before, stretch, after = text[:start], text[start:end], text[end:]
    match random.choice(_CHANGES):
        case "delete":
            return before + after
        case "repeat":
            return before + stretch * random.choice((2, 3, 4, 31)) + after
        case "move":
            rest = before + after
            to = random.randint(0, len(rest))
            return rest[:to] + stretch + rest[to:]
        case "case":
            change = random.choice((str.upper, str.lower, str.title, str.swapcase))
            return before + change(stretch) + after
        case "insert":
            return before + random.choice(_INSERTED) + stretch + after
        case "spaces":
            new = random.choice(alphabets.WHITE_SPACE + alphabets.LOOKS_LIKE_SPACE)
            return text.replace(" ", new * random.randint(1, 3), random.randint(1, 5))
        case _ if start < len(text):  # one character is replaced by a near neighbour in code-point order
            code = ord(text[start]) + random.choice((-32, -16, -1, 1, 2, 16, 32))
            return text[:start] + chr(min(max(0, code), 0x10FFFF)) + text[start + 1 :]
    return text


def mutations(documents: Sequence[str]) -> Family:
    """Return the family of slices of `documents`, sometimes two spliced, mutated up to a dozen times."""

    def family(random: Random) -> str:
        text = _slice(random.choice(documents), random)
        if random.random() < 0.1:
            text += _slice(random.choice(documents), random)
        for _ in range(random.randint(0, _TIMES)):
            text = mutated(text, random)
        return text

    return family


def _slice(document: str, random: Random) -> str:
    size = random.choice((20, 60, 200, _MOST_CHARACTERS))
    start = random.randrange(max(1, len(document) - size))
    return document[start : start + size]
