"""The source of fuzzed texts, in batches: the same for the same seed, however long the run lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from harness.check.fuzz import bulk, families
from harness.check.fuzz.mutations import mutations
from harness.check.fuzz.questions import CALLS, Call
from harness.check.fuzz.strategies import draw, structures
from impls.core.model.model import Model

TEXTS_A_BATCH = 256
_STRUCTURES_A_BATCH = 32
_EVERY_NTH_BY_STRUCTURE = 8
_EVERY_NTH_WITH_SPECIALS = 5
_MOST_SAMPLED_TOKENS = 20_000
_ROUND = 16
_TURNS_OF_MANY = (3, 7, 11, 15)
_TURNS_OF_IDS = (4, 12)
_TURN_OF_SIZES, _TURN_OF_THREADS = 6, 10
"""Batches of each round that are thousands of short texts, ids to decode, texts by size, or encoded on threads."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that are encoded together, and the call that encodes them."""

    index: int
    texts: list[str]
    call: Call
    allow_special: bool
    """Whether special tokens are recognised or read as text."""


class TextSource:
    """Batches of texts for one model, by index, each reproducible."""

    def __init__(self, model: Model, documents: Sequence[str], seed: int) -> None:
        vocabulary = [token for token in model.tokens if token is not None][
            :: 1 + len(model.tokens) // _MOST_SAMPLED_TOKENS
        ]
        self._seed = seed
        self._families = {
            **families.DIRECT,
            "specials": families.specials(sorted(model.whole_token_ids)),
            "tokens": families.tokens(vocabulary),
        }
        if documents:
            self._families["mutations"] = mutations(documents)
        members = list(self._families.values())
        self._families["mixture"] = families.mixture(members)
        # Real text and mixtures find most, so they are drawn more often.
        self._members = [*members, *[self._families["mixture"]] * 4, *[members[-1]] * 4]

        self._structures = structures(self._families)
        self._sizes = bulk.Sizes(self._families["mixture"])
        self._ids = bulk.Ids(model)
        self._parts = bulk.parts(self._families)

    def batch(self, index: int) -> Batch:
        """Return batch number `index`."""
        random = Random(f"{self._seed}:{index}")
        allow_special = index % _EVERY_NTH_WITH_SPECIALS == 2
        call = CALLS[index // _EVERY_NTH_WITH_SPECIALS % len(CALLS) if allow_special else index % len(CALLS)]
        turn = index % _ROUND
        if turn in _TURNS_OF_MANY and not allow_special:
            return Batch(index, bulk.many(self._parts, random), call, allow_special)
        if turn == _TURN_OF_SIZES:
            return Batch(index, self._sizes.texts(index // _ROUND, random), call, allow_special)
        if turn in _TURNS_OF_IDS:
            return Batch(index, self._ids.lists(TEXTS_A_BATCH, random), "decode", False)
        if turn == _TURN_OF_THREADS:
            call = "encode_threads"
        if index % _EVERY_NTH_BY_STRUCTURE == 1:
            texts = self._by_structure(random)
        elif allow_special:
            texts = [self._families[random.choice(("specials", "mixture"))](random) for _ in range(TEXTS_A_BATCH)]
        else:
            texts = [family(random) for family in random.choices(self._members, k=TEXTS_A_BATCH)]
        return Batch(index, texts, call, allow_special)

    def _by_structure(self, random: Random) -> list[str]:
        found = draw(self._structures, _STRUCTURES_A_BATCH, random.getrandbits(64))
        times = TEXTS_A_BATCH // _STRUCTURES_A_BATCH
        return [structure.fill(self._families, random) for structure in found for _ in range(times)]
