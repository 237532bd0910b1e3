"""BPE-dropout: a stream of random numbers that every implementation can reproduce decides which merges are dropped.

Provilkov, Emelianenko and Voita 2020, "BPE-Dropout: Simple and Effective Subword Regularization": in every step each
possible merge is dropped with probability p, and of the others the one of lowest rank is applied; a piece is done when
none is left. With p = 0 this is byte pair encoding, with p = 1 every symbol is its own token.

The stream, in arithmetic modulo 2**64 with the finaliser `mix` and the constant `GAMMA` of SplitMix64 (Steele, Lea and
Flood 2014, "Fast Splittable Pseudorandom Number Generators"): piece i of a text, counted from 0 and without special
tokens, has the key `mix(mix(seed) + i * GAMMA)`, and its coin j is `mix(key + j * GAMMA)`. A coin whose upper 53 bits
are below p * 2**53 drops a merge. In each step the possible merges are tried by rank, then from left to right, each
with the next coin of the piece, until one is not dropped. The merges after it need no coin: whether they would be
dropped in this step changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real

from impls.core.arguments import whole_number, wrong_type

GAMMA = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def mix(word: int) -> int:
    """Return `word` through the finaliser of SplitMix64, a permutation of the 64-bit words.

    >>> hex(mix(GAMMA))
    '0xe220a8397b1dcdaf'
    """
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31


class Dropout:
    """The coins of one text, drawn piece by piece."""

    def __init__(self, probability: float, seed: int) -> None:
        """Begin the stream; raise ValueError for a probability outside 0 to 1 or a seed outside 0 to 2**64 - 1."""
        if not isinstance(probability, Real):
            raise wrong_type("probability", "a number", probability)
        seed = whole_number("seed", seed)
        if not 0 <= probability <= 1:
            raise ValueError(f"the probability of leaving a merge out must be from 0 to 1, not {probability!r}")
        if not 0 <= seed <= _WORD:
            raise ValueError(f"seed must be a whole number from 0 to 2**64 - 1, not {seed!r}")
        self.threshold: int = math.ceil(probability * 2**53)
        """A coin below this drops a merge."""
        self.start: int = mix(seed)
        self.n_pieces: int = 0

    def next_piece(self) -> Iterator[bool]:
        """Return the endless coins of the next piece; True drops a merge."""
        key = mix(self.start + self.n_pieces * GAMMA & _WORD)
        self.n_pieces += 1
        return self._coins(key)

    def _coins(self, state: int) -> Iterator[bool]:
        while True:
            yield mix(state) >> 11 < self.threshold
            state = state + GAMMA & _WORD
