"""Test whether an implementation caches whole texts, by timing known texts against new ones of the same pieces.

Both consist of the same words of a real text in other random orders, so a cache of pieces knows both equally well. Each
timed call follows two calls on one text: either the text that is timed, or another that is not used again. Tests
replace the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, cycle
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np

from harness.measure.analysis.stats import Interval, ratio_interval
from harness.measure.jobs import timing
from harness.measure.jobs.opening import Opening
from harness.measure.jobs.prepared import Pass, bind
from harness.measure.protocol import Recall, Recalled
from harness.measure.texts import read_texts
from harness.measure.workloads import DECODING
from impls import Tokenizer

REMEMBERED_FACTOR = 1.5
"""Texts count as remembered if new ones take this many times as long as known ones, by the low end of the 95 %
interval, and the fastest new one this many times the median of the known ones."""
N_PAIRS = 5
MOST_PAIRS = 15
"""Pairs are added while the interval contains the factor, up to this many."""
_FIRST_BYTES = 2_000
"""Bytes encoded before the size is chosen, since a first call is slower."""
_WARMING = 2
"""Number of texts encoded first, so that every piece is known."""

_GIVEN, _NEW, _BETWEEN, _OTHER = 0, 1_000, 2_000, 3_000
"""First numbers of the texts: given and timed again, not given before, given and not timed again, others."""
_LATER = 10_000
"""Added to the numbers of all other texts in a process that times what was given to an earlier one."""


class Texts:
    """The inputs of a call, by the number of the text."""

    def __init__(self, request: Recall, made: Recombined, tokenizer: Tokenizer, run: Pass) -> None:
        self._job, self._made, self._tokenizer, self._run = request.job, made, tokenizer, run
        self._kept: dict[int, list[str]] = {}
        self._ids = [list(map(int, self._encode(unit))) for unit in made.units] if request.job.task in DECODING else []

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(text, disallowed_special=())

    def inputs(self, number: int) -> list[Any]:
        """Return a text's inputs: new objects at every call, or the very same ones if that is what is timed."""
        if self._job.task in DECODING:
            return [list(chain.from_iterable(self._ids[i] for i in row)) for row in self._made.order(number)]
        texts = self._made.texts(number)
        return self._kept.setdefault(number, texts) if self._job.state == "same-object" else texts

    def give(self, number: int) -> None:
        """Have a text read in every way that may put it in a cache: an encoder may cache what a decoder returns."""
        if self._job.task in DECODING:
            for row in self._made.order(number):
                self._encode(self._made.joined(row))
        self._run(self.inputs(number))


def remembers(met_seconds: Sequence[float], new_seconds: Sequence[float]) -> bool:
    """Return whether known texts take so much less time than new ones that they must be cached.

    Other work on the machine only ever adds time, so the fastest of the new ones must be slower as well.
    """
    quickest = min(new_seconds) > REMEMBERED_FACTOR * median(met_seconds)
    return quickest and _times_new(met_seconds, new_seconds).low > REMEMBERED_FACTOR


def _times_new(met_seconds: Sequence[float], new_seconds: Sequence[float]) -> Interval:
    """Return how many times as long a new text takes, with the 95 % interval over the pairs."""
    new, met = ([[max(seconds, 1e-9)] for seconds in side] for side in (new_seconds, met_seconds))
    return ratio_interval(new, met)


def recall_opened(opening: Opening, request: Recall) -> Recalled:
    """Run `recall` with the tokenizer that the worker holds."""
    assert opening.tokenizer is not None
    return recall(request, opening.tokenizer)


def recall(request: Recall, tokenizer: Tokenizer, clock: Callable[[], float] | None = None) -> Recalled:
    """Time calls on known and on new texts alternately; choose their size by the budget."""
    source = read_texts(Path(request.job.texts))
    units = units_of(source, request.most_bytes, request.text_bytes, request.seed)
    run = bind(request.job, tokenizer)

    def made(n_bytes: int) -> Texts:
        return Texts(request, Recombined(units, n_bytes, request.text_bytes, request.seed), tokenizer, run)

    start = _LATER if request.earlier else 0

    def give(n_bytes: int) -> None:
        made(n_bytes).give(start + _OTHER)

    give(min(request.most_bytes, _FIRST_BYTES))
    n_bytes, _ = timing.largest_size(
        lambda n_bytes: timing.timed(give, n_bytes, clock)[0], request.most_bytes, request.budget_seconds
    )
    met, new = sample(run, made(n_bytes), earlier=request.earlier, clock=clock)
    return Recalled(n_bytes=n_bytes, met_seconds=met, new_seconds=new)


def sample(
    run: Pass, texts: Texts, *, earlier: bool = False, clock: Callable[[], float] | None = None
) -> tuple[list[float], list[float]]:
    """Return the seconds of calls on texts given before, and of as many on new ones, timed alternately.

    `N_PAIRS` of each, and more while the result is undecided, up to `MOST_PAIRS`. With `earlier` the known texts were
    given to an earlier process and are not given in this one.
    """
    later = _LATER if earlier else 0
    for number in range(_WARMING):
        texts.give(later + _OTHER + 1 + number)
    met: list[float] = []
    new: list[float] = []

    def add(pair: int, *, is_met: bool) -> None:
        asked = _GIVEN + pair if is_met else later + _NEW + pair
        given = asked if is_met and not earlier else later + _BETWEEN + 2 * pair + is_met
        inputs = texts.inputs(asked)
        texts.give(given)
        texts.give(given)
        (met if is_met else new).append(timing.timed(run, inputs, clock)[0])

    for pair in range(MOST_PAIRS):
        add(pair, is_met=pair % 2 == 0)
        add(pair, is_met=pair % 2 != 0)
        if pair + 1 >= N_PAIRS and (_times_new(met, new).high < REMEMBERED_FACTOR or remembers(met, new)):
            break
    return met, new


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

    Each begins with a space and ends before the next, which is a border of pieces under the patterns in use. If
    `source` has too few distinct words to reorder (spaces, one letter), words are made up.
    """
    n_words = _SHORT_UNIT_WORDS if 0 < text_bytes < _SHORT_BYTES else _UNIT_WORDS
    units = _units(_words(source, n_bytes), n_words)
    return units if len(set(units)) >= _LEAST_UNITS else _units(_made_up(seed), n_words)


class Recombined:
    """Texts with a total of `n_bytes`; each number selects another order of the same units.

    Newlines come between spaces, so that no piece joins one with a word, and at different places in every text: no line
    and no document repeats.
    """

    def __init__(self, units: list[str], n_bytes: int, text_bytes: int, seed: int) -> None:
        """Take units up to `n_bytes`, repeating them if they are too few."""
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
        """Return the units at these positions as one line; their concatenated ids decode to it."""
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
