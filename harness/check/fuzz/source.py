"""Sources of fuzzed texts and models, in batches: the same for the same seed, however long the run lasts.

Some of the random merge lists are out of order, hold a merge twice, make a token in several ways, or have tokens that
no merge makes; merge rule and alphabet vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random

import impls
from harness.check.fuzz.questions import CALLS, Question, text_of_ids
from harness.generators import families
from harness.generators.families import mutations
from harness.generators.texts import RandomIds, joined_hard, pairs_of_parts, short_parts, texts_by_size
from impls.core.errors import BPEError
from impls.core.model import HuggingFaceRules, Model
from impls.core.text.patterns import resolve

TEXTS_A_BATCH = 256
TEXTS_OF_MANY = 8_192
_EVERY_NTH_WITH_SPECIALS = 5
_MOST_SAMPLED_TOKENS = 20_000
_ROUND = 16
_TURNS_OF_MANY = (3, 7, 11, 15)
_TURNS_OF_IDS = (4, 12)
_TURN_OF_SIZES, _TURN_OF_THREADS = 6, 10
"""Positions within a round of 16 batches that hold thousands of short texts, ids to decode, texts by size, or texts
encoded on threads."""


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


MODELS_A_BATCH = 32
TEXTS_A_MODEL = 12
_LONGEST_TOKEN_BYTES = 12
_LETTERS = {
    "chars": (tuple("abcde"), tuple("ab "), tuple("aé字👍1")),
    "bytes": (tuple("abcde"), tuple("ab '"), tuple("aé字👍1"), tuple("éèê"), (*"a1 ", "\r\n")),
}
_TIES = ("smallest", "first", "largest", "shortest")


def model_batch(seed: int, index: int) -> list[Question]:
    """Return batch number `index` of random models: each with its texts and the call that encodes them."""
    random = Random(f"models {seed}:{index}")
    questions: list[Question] = []
    for _ in range(MODELS_A_BATCH):
        alphabet = random.choice(("bytes", "bytes", "chars"))
        letters = random.choice(_LETTERS[alphabet])
        make = _trained if random.random() < 0.2 else _drawn
        with suppress(BPEError):  # no model has these merges
            model = make(letters, alphabet, random)
            texts = [_text(model, letters, random) for _ in range(TEXTS_A_MODEL)]
            questions.append(Question(model, texts, CALLS[index % len(CALLS)]))
    return questions


def _drawn(letters: tuple[str, ...], alphabet: str, random: Random) -> Model:
    """Return a model with a random list of merges. Raises `InvalidModel` if the list gives none."""
    base = [letter.encode() for letter in letters[: random.randint(1, 5)]]
    if alphabet == "bytes":
        base = [bytes([byte]) for byte in dict.fromkeys(b"".join(base))]
    symbols = list(base)
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(random.randint(1, 14)):
        left, right = random.choices(symbols, k=2)
        if len(left + right) <= _LONGEST_TOKEN_BYTES:
            merges.append((left, right))
            symbols += [left + right] if left + right not in symbols else []
    for _ in range(random.choice((0, 0, 0, 1, 3))):  # the list is then not monotone
        i, j = random.choices(range(len(merges)), k=2)
        merges[i], merges[j] = merges[j], merges[i]
    merges += random.choices(merges, k=random.choice((0, 0, 0, 0, 1)))
    extra = [b"".join(random.choices(base, k=random.randint(2, 5)))] if random.random() < 0.25 else []
    first = [bytes([byte]) for byte in range(256)] if alphabet == "bytes" else base
    tokens = tuple(dict.fromkeys([*first, *(left + right for left, right in merges), *extra]))
    ids = {token: i for i, token in enumerate(tokens)}
    by_pairs = random.random() < 0.6
    return Model(
        tokens=tokens,
        merges=tuple((ids[left], ids[right]) for left, right in merges) if by_pairs else (),
        merge_rule="pairs" if by_pairs else "concatenation",
        hugging_face=HuggingFaceRules(ignore_merges=by_pairs and random.random() < 0.1),
        alphabet="bytes" if alphabet == "bytes" else "chars",
        pattern=resolve(random.choice(("none", "none", "gpt2", "cl100k"))),
    )


def _trained(letters: tuple[str, ...], alphabet: str, random: Random) -> Model:
    texts = ["".join(random.choices(letters, k=random.randint(1, 40))) for _ in range(random.randint(1, 4))]
    texts.append("".join(letters))  # every letter is in the alphabet
    spec = impls.TrainingSpec(
        vocab_size=random.randint(1, 20) + (256 if alphabet == "bytes" else len(set("".join(letters)))),
        alphabet="bytes" if alphabet == "bytes" else "chars",
        ties=random.choice(_TIES),  # type: ignore[arg-type]
        pattern=random.choice(("none", "gpt2")),
    )
    return impls.get("priority").train_model(texts, spec)


def _text(model: Model, letters: tuple[str, ...], random: Random) -> str:
    known = [letter for letter in letters if model.alphabet == "bytes" or letter.encode() in model.id_by_token]
    size = random.randint(1, 12) if random.random() < 0.7 else random.randint(13, 60)
    text = "".join(random.choices(known, k=size)) if known else ""
    if random.random() < 0.3:  # a token of the model whole, as one piece or among others
        token = random.choice(model.tokens[-12:]) or b""
        text = random.choice(("", text)) + token.decode("utf-8", "ignore")
    return text
