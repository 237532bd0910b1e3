"""The source of fuzzed texts, in batches: the same for the same seed, however long the run lasts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from harness.check.fuzz.questions import CALLS, Question, text_of_ids
from harness.generators import families
from harness.generators.bulk import RandomIds, pairs_of_parts, short_parts, texts_by_size
from harness.generators.mutations import mutations
from harness.generators.texts import joined_hard
from impls.core.model.model import Model

TEXTS_A_BATCH = 256
TEXTS_OF_MANY = 8_192
_EVERY_NTH_WITH_SPECIALS = 5
_MOST_SAMPLED_TOKENS = 20_000
_ROUND = 16
_TURNS_OF_MANY = (3, 7, 11, 15)
_TURNS_OF_IDS = (4, 12)
_TURN_OF_SIZES, _TURN_OF_THREADS = 6, 10
"""Batches of each round that are thousands of short texts, ids to decode, texts by size, or encoded on threads."""


class TextSource:
    """Batches of texts for one model, by index, each reproducible."""

    def __init__(self, name: str, model: Model, documents: Sequence[str], seed: int) -> None:
        """Make texts for the model of that name, some of them from `documents`."""
        self._name = name
        vocabulary = [token for token in model.tokens if token is not None]
        self._seed = seed
        self._specials = families.specials(sorted(model.whole_token_ids))
        members = [
            *families.DIRECT.values(),
            joined_hard,
            self._specials,
            families.tokens(vocabulary[:: 1 + len(model.tokens) // _MOST_SAMPLED_TOKENS]),
        ]
        real = [mutations(documents)] if documents else []
        self._mixture = families.mixture([*members, *real])
        nested = families.nested([*members, *real, self._mixture])
        # Real text and mixtures find most, so they are drawn more often.
        self._members = [*members, *real * 5, *[self._mixture] * 4, *[nested] * 4]
        self._ids = RandomIds(model)
        self._parts = short_parts([*members, *real, self._mixture])

    def batch(self, index: int) -> Question:
        """Return batch number `index`: texts that are encoded together, and the call that encodes them."""
        random = Random(f"{self._seed}:{index}")
        allow_special = index % _EVERY_NTH_WITH_SPECIALS == 2
        call = CALLS[index // _EVERY_NTH_WITH_SPECIALS % len(CALLS) if allow_special else index % len(CALLS)]
        turn = index % _ROUND
        if turn in _TURNS_OF_MANY and not allow_special:
            texts = pairs_of_parts(self._parts, TEXTS_OF_MANY, random)
        elif turn == _TURN_OF_SIZES:
            texts = texts_by_size(self._mixture, index // _ROUND, random)
        elif turn in _TURNS_OF_IDS:
            texts = [text_of_ids(self._ids.draw(random)) for _ in range(TEXTS_A_BATCH)]
            call, allow_special = "decode", False
        else:
            call = "encode_threads" if turn == _TURN_OF_THREADS else call
            members = (self._specials, self._mixture) if allow_special else self._members
            texts = [family(random) for family in random.choices(members, k=TEXTS_A_BATCH)]
        return Question(self._name, texts, call, allow_special)
