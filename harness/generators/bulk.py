"""Thousands of short texts, texts of a given size, lists of ids: what no single text of a family shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from harness.generators.families import Family
from impls.core.model.model import Model

_N_PARTS, _LONGEST_PART = 6_000, 6
_SMALLEST_SIZE, _GREATEST_SIZE = 1 << 9, 1 << 20
_FIRST_SIZE = 1 << 16
_ROUNDS_A_DOUBLING = 4
_LONGEST_LIST = 12
_RUNS = (2, 3, 9, 17, 65, 257)


def short_parts(families: Sequence[Family]) -> list[str]:
    """Return short prefixes of texts of every family, the same each time."""
    random = Random("parts")
    return [random.choice(families)(random)[:_LONGEST_PART] for _ in range(_N_PARTS)]


def pairs_of_parts(parts: Sequence[str], n_texts: int, random: Random) -> list[str]:
    """Return texts of two parts each; a fault on one text in a million is found in minutes."""
    first, second = random.choices(parts, k=n_texts), random.choices(parts, k=n_texts)
    gaps = random.choices(("", "", " ", " ", "\n", "'", "-"), k=n_texts)
    return [a + gap + b for a, gap, b in zip(first, gaps, second, strict=True)]


def of_bytes(text: str, n_bytes: int) -> str:
    """Return a prefix of `text` padded with `x` to exactly `n_bytes` of UTF-8."""
    head = text[:n_bytes].encode()[:n_bytes].decode("utf-8", "ignore")
    return head + "x" * (n_bytes - len(head.encode()))


def texts_by_size(family: Family, round: int, random: Random) -> list[str]:
    """Return texts of 2^n bytes or characters, one less, one more: of every size up to the largest of the round.

    That is larger the longer a run lasts.
    """
    greatest = min(_GREATEST_SIZE, _FIRST_SIZE << round // _ROUNDS_A_DOUBLING)
    powers = range(_SMALLEST_SIZE.bit_length() - 1, greatest.bit_length())
    return [_of_size(family, (random.choice((1, 1, 1, 3)) << n) + random.choice((-1, 0, 0, 1)), random) for n in powers]


def _of_size(family: Family, size: int, random: Random) -> str:
    made: list[str] = []
    room = size
    while room > 0:
        made.append(family(random)[:400])
        room -= len(made[-1]) or 1
    text = "".join(made).encode("utf-8", "replace").decode()
    return text[:size] if random.random() < 0.5 else of_bytes(text, size)


def parts_of_characters(by_id: Mapping[int, bytes]) -> list[int]:
    """Return the ids, in order, whose bytes are not whole characters."""
    return [i for i in sorted(by_id) if "\ufffd" in by_id[i].decode("utf-8", "replace")]


class RandomIds:
    """Lists of ids of a model in any order: ordinary ids, parts of characters, special tokens, runs."""

    def __init__(self, model: Model) -> None:
        by_id = model.bytes_by_id()
        self.every = sorted(by_id)
        self.cut = parts_of_characters(by_id) or self.every
        self._special = sorted(set(model.whole_token_ids.values())) or self.every

    def draw(self, random: Random) -> list[int]:
        """Return one list."""
        if random.random() < 0.1:
            return [random.choice(random.choice((self.every, self.cut)))] * random.choice(_RUNS)
        pools = random.choices((self.every, self.cut, self._special), (5, 4, 1), k=random.randint(1, _LONGEST_LIST))
        return [random.choice(pool) for pool in pools]
