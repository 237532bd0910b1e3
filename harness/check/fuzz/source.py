"""Where fuzzed texts come from, batch after batch: the same for the same seed, however long the run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from harness.check.fuzz import families
from harness.check.fuzz.mutations import mutations
from harness.check.fuzz.questions import CALLS, Call
from harness.check.fuzz.strategies import draw, structures
from impls.model import Model

TEXTS_A_BATCH = 256
_STRUCTURES_A_BATCH = 32
_EVERY_NTH_BY_STRUCTURE = 8
_EVERY_NTH_WITH_SPECIALS = 5
_MOST_SAMPLED_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that are encoded together, and how."""

    index: int
    texts: list[str]
    call: Call
    allow_special: bool
    """Whether special tokens are recognised, or read as text."""


class TextSource:
    """Batches of texts for one model, by index; any of them can be made again."""

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
        # Real text and mixtures find most; they come more often.
        self._members = [*members, *[self._families["mixture"]] * 4, *[members[-1]] * 4]

        self._structures = structures(self._families)

    def batch(self, index: int) -> Batch:
        """Batch number `index`."""
        random = Random(f"{self._seed}:{index}")
        if index % _EVERY_NTH_BY_STRUCTURE == 1:
            texts = self._by_structure(random)
        else:
            texts = [family(random) for family in random.choices(self._members, k=TEXTS_A_BATCH)]
        allow_special = index % _EVERY_NTH_WITH_SPECIALS == 2
        return Batch(index, texts, CALLS[index % len(CALLS)], allow_special)

    def _by_structure(self, random: Random) -> list[str]:
        found = draw(self._structures, _STRUCTURES_A_BATCH, random.getrandbits(64))
        times = TEXTS_A_BATCH // _STRUCTURES_A_BATCH
        return [structure.fill(self._families, random) for structure in found for _ in range(times)]
