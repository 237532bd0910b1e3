"""What an append of one character to one long piece costs, by the length of the piece, in turns; microseconds.

    python tests/bench/appends.py [MODEL…]

One line a model and text: medians for pieces of 10,000, 100,000 and 1,000,000 characters.
"""

from __future__ import annotations

import random
import sys
from statistics import median
from time import perf_counter

import impls
from harness.data import load_model
from impls.interface import Tokenizer

SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 1_000
ALPHABETS = {
    "one letter": "x",
    "letters": "abcdefghijklmnopqrstuvwxyz",
    "Han": "".join(map(chr, range(0x4E00, 0x9000))),
    "blanks": " ",
}


def medians(tokenizer: Tokenizer, alphabet: str) -> list[float]:
    """Return the median microseconds of an append for each size; assert that the ids are right."""
    rng = random.Random(7)
    grown = [tokenizer.incremental("".join(rng.choices(alphabet, k=size))) for size in SIZES]
    for text in grown:
        text.append(alphabet[0])
    times: list[list[float]] = [[] for _ in SIZES]
    for _ in range(ROUNDS):
        character = rng.choice(alphabet)
        for text, taken in zip(grown, times, strict=True):
            started = perf_counter()
            text.append(character)
            taken.append(perf_counter() - started)
    assert all(text.ids == tokenizer.encode(text.text) for text in grown)
    return [1e6 * median(taken) for taken in times]


def main(models: list[str]) -> None:
    """Print the table."""
    for name in models:
        tokenizer = impls.load("compiled", load_model(name))
        for kind, alphabet in ALPHABETS.items():
            print(
                f"{name:12} {kind:11}" + "".join(f"{taken:8.2f}" for taken in medians(tokenizer, alphabet)), flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:] or ["gpt2", "cl100k_base", "o200k_base"])
