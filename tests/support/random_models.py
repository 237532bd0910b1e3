"""Models of random merges and of random ranks: several derivations of a token, none, parts that rank later."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from impls import Model

BYTES = tuple(bytes([byte]) for byte in range(256))
LETTERS = tuple(bytes([byte]) for byte in b"abcd \xc3\xa9")


def random_ranks(rng: random.Random) -> Model:
    """Return a vocabulary of random strings: many tokens cannot be made from lower ranks, or not at all."""
    tokens = {b"".join(rng.choices(LETTERS, k=rng.choice([2, 2, 2, 3, 3, 4, 5, 9, 18]))) for _ in range(60)}
    ids = [*BYTES, *sorted(tokens, key=lambda token: rng.random())]
    if rng.random() < 0.5:
        rng.shuffle(ids)
    return Model(tokens=tuple(ids), merge_rule="concatenation", pattern=rng.choice(["gpt2", ()]))


def random_merges(
    rng: random.Random, n: int, letters: Sequence[bytes] = LETTERS, *, longest: int = 30, once: bool = False,
    shuffled: bool = False, alphabet: str = "bytes", **fields: Any,
) -> Model:  # fmt: skip
    """Return a model of up to `n` merges of letters and what they make; with `once` no token is made in two ways."""
    tokens = [*(BYTES if alphabet == "bytes" else letters)]
    symbols = [tokens.index(letter) for letter in letters]
    merges = []
    for _ in range(n):
        left, right = rng.choice(symbols), rng.choice(symbols)
        joined = tokens[left] + tokens[right]
        if len(joined) > longest or (once and joined in tokens):
            continue
        if joined not in tokens:
            symbols.append(len(tokens))
            tokens.append(joined)
        merges.append((left, right))
    if shuffled:
        rng.shuffle(merges)
    return Model(tokens=tuple(tokens), merges=tuple(merges), alphabet=alphabet, **fields)  # type: ignore[arg-type]
