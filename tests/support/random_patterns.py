"""Patterns of the supported subset at random, and texts they have something to say about."""

from __future__ import annotations

import random
from contextlib import suppress

import regex

ATOMS = [
    r"\p{L}", r"\p{N}", r"\p{Lu}", r"\p{M}", r"\s", r"\S", r"[^\s\p{L}\p{N}]", r"[\r\n]", r"[a-f]", r"[^\r\n]",
    "a", "b", "'", " ", r"\n", r"\d", r"\w", r"\W", "é", "[ab']",
]  # fmt: skip
ALPHABET = "aabbcf'' \n\r\t1½Aéſ\u0301日한\u00a0\U0001f389-_"


def random_pattern(rng: random.Random) -> str:
    """Return a pattern that `regex` compiles; some it refuses by a fault of its own ('AnyAll' object has no …)."""
    while True:
        pattern = _drawn(rng)
        with suppress(Exception):
            regex.compile(pattern)
            return pattern


def _drawn(rng: random.Random) -> str:
    def item(depth: int) -> str:
        if depth and rng.random() < 0.2:
            opening = rng.choice(["(?:", "(?i:"])
            body = opening + "|".join(sequence(depth - 1) for _ in range(rng.randrange(1, 4))) + ")"
        else:
            body = rng.choice(ATOMS)
            if rng.random() < 0.07:
                return rng.choice([r"(?!\S)", r"(?=\s)", "(?!a)", r"\Z"])
        return body + rng.choice(["", "", "", "?", "*", "+", "+", "{1,3}", "{2}", "{0,2}", "+?", "*+", "++", "?+"])

    def sequence(depth: int) -> str:
        return "".join(item(depth) for _ in range(rng.randrange(1, 4)))

    branches = [sequence(1) for _ in range(rng.randrange(1, 5))]
    return "|".join([*branches, r"\s+", r"\S"])


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(ALPHABET) for _ in range(rng.choice([1, 3, 8, 20, 60])))
