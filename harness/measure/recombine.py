"""Texts nobody has been given before, all of the same known pieces: a real text's words in ever other orders.

Every unit of a few words begins with a space and ends before the next, which is a border of pieces under the patterns
in use; line ends stand between spaces, so that no piece joins one with a word, and fall elsewhere in every text: no
line and no document comes twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np

_MOST_WORD_CHARACTERS = 30
"""Longer words are cut: where nothing is written between words, a line would be one."""
_UNIT_WORDS = 8
_SHORT_BYTES = 1000
_SHORT_UNIT_WORDS = 2
"""Texts shorter than `_SHORT_BYTES` are made of so few words a unit, else one of them would be a unit."""
_LEAST_UNITS = 100
"""Fewer different units have too few orders."""
_UNITS_PER_LINE = 3
_MADE_UP_WORDS = 4000


class Recombined:
    """Texts of `n_bytes` together, each number another order of the same units."""

    def __init__(self, source: Iterable[bytes], n_bytes: int, text_bytes: int, seed: int) -> None:
        """Cut the words of `source` into units; `text_bytes` is the size of one text, 0 for a single text of all.

        Where `source` has too few words to be put into another order (spaces, one letter), words are made up.
        """
        n_words = _SHORT_UNIT_WORDS if 0 < text_bytes < _SHORT_BYTES else _UNIT_WORDS
        units = _units(_words(source, n_bytes), n_words)
        if len(set(units)) < _LEAST_UNITS:
            units = _units(_made_up(seed), n_words)
        sizes = np.cumsum([len(unit.encode("utf-8", "surrogatepass")) for unit in units])
        whole, rest = divmod(n_bytes, int(sizes[-1]))
        self.units = units * whole + units[: int(np.searchsorted(sizes, rest)) + 1]
        """The units of one text, or of all texts together; each begins with a space."""
        self._per_text = len(self.units)
        if text_bytes:
            self._per_text = max(1, round(len(self.units) * text_bytes / n_bytes))
        self._seed = seed

    def joined(self, positions: list[int]) -> str:
        """The units at these positions as one line: what the ids of each, one after the other, spell."""
        return "".join([self.units[i] for i in positions])

    def order(self, number: int) -> list[list[int]]:
        """Positions of units for each text of the pass `number`."""
        positions = np.random.default_rng([self._seed, number]).permutation(len(self.units)).tolist()
        return [positions[start : start + self._per_text] for start in range(0, len(positions), self._per_text)]

    def texts(self, number: int) -> list[str]:
        """The texts of the pass `number`: new `str` objects at every call, the same for the same number."""
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
