"""Files of odd text, and how often each piece occurs in them, by Python and by the kernels."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from impls import InvalidFile, TrainingSpec
from impls.compiled.training.count import count_files
from impls.core.text.files import TextFiles
from impls.core.text.patterns import resolve
from impls.core.training import corpus_pieces

SPACES = ["\t", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029"]
SPACES += ["\u202f", "\u205f", "\u3000", " "]
NO_SPACES = ["\x0e", "\x1b", "\u0084", "\u180e", "\u200b", "\u2030", "\u2060", "\ufeff", "\u3001", "\u1681", "\u00a1"]
PARTS = ["a", "bc ", "\n", "\n\n", "é", "long" * 30, "😀", "\r\n", "12", "'s ", *SPACES, *NO_SPACES]


def expected(given: TextFiles, pattern: str) -> dict[str, int]:
    return Counter(corpus_pieces(given, TrainingSpec(vocab_size=256, pattern=pattern)))


def counted_in_order(given: TextFiles, pattern: str) -> dict[str, int]:
    return dict(count_files(given, resolve(pattern), in_order=True).items())


def ended(count: Callable[[TextFiles, str], dict[str, int]], given: TextFiles) -> dict[str, int] | str:
    try:
        return count(given, "gpt2")
    except InvalidFile as error:
        return str(error)


def text(rng: random.Random) -> bytes:
    return "".join(rng.choices(PARTS, k=rng.randrange(80))).encode()
