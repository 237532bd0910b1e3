"""New texts made of the same known pieces: a real text's words in random orders.

Every unit of a few words begins with a space and ends before the next, which is a border of pieces under the patterns
in use; newlines come between spaces, so that no piece joins one with a word, and at different places in every text:
no line and no document repeats.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from random import Random

import numpy as np

_MOST_WORD_CHARACTERS = 30
"""Longer words are cut: in scripts without spaces a whole line would be one word."""
_UNIT_WORDS = 8
_SHORT_BYTES = 1000
_SHORT_UNIT_WORDS = 2
"""Words per unit of texts shorter than `_SHORT_BYTES`, which would otherwise be a single unit."""
_LEAST_UNITS = 100
"""Fewer distinct units would have too few orders."""
_UNITS_PER_LINE = 3
_MADE_UP_WORDS = 4000


def units_of(source: Iterable[bytes], n_bytes: int, text_bytes: int, seed: int) -> list[str]:
    """Return units of the words of the first `n_bytes` of `source`, for texts of `text_bytes` (0: one text of all).

    Where `source` has too few distinct words to reorder (spaces, one letter), words are made up.
    """
    n_words = _SHORT_UNIT_WORDS if 0 < text_bytes < _SHORT_BYTES else _UNIT_WORDS
    units = _units(_words(source, n_bytes), n_words)
    return units if len(set(units)) >= _LEAST_UNITS else _units(_made_up(seed), n_words)


class Recombined:
    """Texts of `n_bytes` together; each number selects another order of the same units."""

    def __init__(self, units: list[str], n_bytes: int, text_bytes: int, seed: int) -> None:
        """Take units up to `n_bytes`, repeating them where they are too few."""
        self.units: list[str] = []
        """The units of all texts together; each begins with a space."""
        room = n_bytes
        for unit in cycle(units):
            if room <= 0:
                break
            self.units.append(unit)
            room -= len(unit.encode())
        self._per_text = max(1, round(len(self.units) * text_bytes / n_bytes)) if text_bytes else len(self.units)
        self._seed = seed

    def joined(self, positions: list[int]) -> str:
        """Return the units at these positions as one line, which the concatenation of their ids decodes to."""
        return "".join([self.units[i] for i in positions])

    def order(self, number: int) -> list[list[int]]:
        """Return the positions of units for each text of the pass `number`."""
        positions = np.random.default_rng([self._seed, number]).permutation(len(self.units)).tolist()
        return [positions[start : start + self._per_text] for start in range(0, len(positions), self._per_text)]

    def texts(self, number: int) -> list[str]:
        """Return the texts of the pass `number`: new but equal `str` objects at every call."""
        return [self._text(positions) for positions in self.order(number)]

    def _text(self, positions: list[int]) -> str:
        lines = (positions[start : start + _UNITS_PER_LINE] for start in range(0, len(positions), _UNITS_PER_LINE))
        return " \n".join(map(self.joined, lines))


def _words(source: Iterable[bytes], n_bytes: int) -> list[str]:
    words: list[str] = []
    room = n_bytes
    for text in source:
        if room <= 0:
            break
        for word in text[:room].decode("utf-8", "ignore").split():
            words += [word[i : i + _MOST_WORD_CHARACTERS] for i in range(0, len(word), _MOST_WORD_CHARACTERS)]
        room -= len(text)
    return words


def _units(words: list[str], n_words: int) -> list[str]:
    return [" " + " ".join(words[start : start + n_words]) for start in range(0, len(words), n_words)]


def _made_up(seed: int) -> list[str]:
    chance = Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(chance.choices(letters, k=chance.randint(1, 9))) for _ in range(_MADE_UP_WORDS)]
