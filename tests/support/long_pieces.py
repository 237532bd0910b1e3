"""Pieces of which an algorithm may take long, by their length, and a vocabulary learned from their letters."""

from __future__ import annotations

import random
from collections.abc import Callable

import impls
from impls import Model, TrainingSpec

LETTERS = "abcdef"
PIECES: dict[str, Callable[[int], str]] = {
    "random letters": lambda n: "".join(random.Random(n).choices(LETTERS, k=n)),
    "one letter": lambda n: "a" * n,
    "two letters": lambda n: "ab" * (n // 2),
    "period of seven": lambda n: ("aabacab" * n)[:n],
}


def trained(n_merges: int) -> Model:
    chance = random.Random(1)
    texts = ["".join(chance.choices(LETTERS, k=200)) for _ in range(40)]
    return impls.get("priority").train_model(texts, TrainingSpec(vocab_size=256 + n_merges, pattern="none"))
