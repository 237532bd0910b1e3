"""Batches other than 256 texts of the families: thousands of short texts, a few of a given size, lists of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from harness.check.fuzz.families import Family
from harness.check.fuzz.questions import text_of_ids
from impls.core.model.model import Model

MANY = 8_192
"""Short texts in a batch: a fault on one text in a million is found in minutes."""
_N_PARTS, _LONGEST_PART = 6_000, 6
_SMALLEST_SIZE, _GREATEST_SIZE = 1 << 9, 1 << 20
_FIRST_SIZE = 1 << 16
_ROUNDS_A_DOUBLING = 4
_LONGEST_LIST = 12
_RUNS = (2, 3, 9, 17, 65, 257)


def parts(families: Mapping[str, Family]) -> list[str]:
    """Return short prefixes of texts of every family, the same each time."""
    random = Random("parts")
    members = list(families.values())
    return [random.choice(members)(random)[:_LONGEST_PART] for _ in range(_N_PARTS)]


def many(parts: Sequence[str], random: Random) -> list[str]:
    """Return `MANY` texts of two parts each."""
    first, second = random.choices(parts, k=MANY), random.choices(parts, k=MANY)
    gaps = random.choices(("", "", " ", "\n"), k=MANY)
    return [a + gap + b for a, gap, b in zip(first, gaps, second, strict=True)]


class Sizes:
    """Texts of 2^n bytes or characters, one less, one more; larger ones the longer a run lasts."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def texts(self, round: int, random: Random) -> list[str]:
        """Return the texts of one round: one of every size up to the largest of the round."""
        greatest = min(_GREATEST_SIZE, _FIRST_SIZE << round // _ROUNDS_A_DOUBLING)
        sizes = [1 << power for power in range(_SMALLEST_SIZE.bit_length() - 1, greatest.bit_length())]
        return [self._of(n * random.choice((1, 1, 1, 3)) + random.choice((-1, 0, 0, 1)), random) for n in sizes]

    def _of(self, size: int, random: Random) -> str:
        made: list[str] = []
        room = size
        while room > 0:
            made.append(self._family(random)[:400])
            room -= len(made[-1]) or 1
        text = "".join(made).encode("utf-8", "replace").decode()
        if random.random() < 0.5:
            return text[:size]
        data = text.encode()[:size].decode("utf-8", "ignore")
        return data + "x" * (size - len(data.encode()))


class Ids:
    """Lists of ids of a model in any order: ordinary ids, parts of characters, special tokens, runs."""

    def __init__(self, model: Model) -> None:
        by_id = model.bytes_by_id()
        self._every = sorted(by_id)
        self._cut = [i for i in self._every if "\ufffd" in by_id[i].decode("utf-8", "replace")] or self._every
        self._special = sorted(set(model.whole_token_ids.values())) or self._every

    def lists(self, n_lists: int, random: Random) -> list[str]:
        """Return `n_lists` lists, each as a text (see `text_of_ids`)."""
        return [text_of_ids(self._one(random)) for _ in range(n_lists)]

    def _one(self, random: Random) -> list[int]:
        if random.random() < 0.1:
            return [random.choice(random.choice((self._every, self._cut)))] * random.choice(_RUNS)
        pools = random.choices((self._every, self._cut, self._special), (5, 4, 1), k=random.randint(1, _LONGEST_LIST))
        return [random.choice(pool) for pool in pools]
