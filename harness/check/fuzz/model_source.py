"""Random models with texts for each, in batches: trained ones, and lists of merges drawn at random.

Some drawn lists are out of order, hold a merge twice, make a token in several ways, or have tokens that no merge
makes; merge rule and alphabet vary. hypothesis draws a quarter of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import impls
import impls.core.text.patterns
from harness.check.fuzz.questions import CALLS, Call
from harness.check.fuzz.strategies import MergeList, draw, merge_lists
from impls.core.errors import BPEError
from impls.core.model.model import Model

MODELS_A_BATCH = 32
TEXTS_A_MODEL = 12
_EVERY_NTH_DRAWN = 4
_LONGEST_TOKEN_BYTES = 12
_LETTERS = {
    "chars": (tuple("abcde"), tuple("ab "), tuple("aé字👍1")),
    "bytes": (tuple("abcde"), tuple("ab '"), tuple("aé字👍1"), tuple("éèê"), (*"a1 ", "\r\n")),
}
_TIES = ("smallest", "first", "largest", "shortest")


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """Models, each with its texts, and the call that encodes them."""

    index: int
    models: list[tuple[Model, list[str]]]
    call: Call


class ModelSource:
    """Batches by index, each reproducible."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def batch(self, index: int) -> ModelBatch:
        """Return batch number `index`."""
        random = Random(f"models {self._seed}:{index}")
        if index % _EVERY_NTH_DRAWN == 1:
            lists = draw(merge_lists(), MODELS_A_BATCH, random.getrandbits(64))
        else:
            lists = [_merge_list(random) for _ in range(MODELS_A_BATCH)]
        models: list[tuple[Model, list[str]]] = []
        for merges in lists:
            alphabet = random.choice(("bytes", "bytes", "chars"))
            letters = random.choice(_LETTERS[alphabet])
            try:
                trained = random.random() < 0.2
                model = _trained(letters, alphabet, random) if trained else build(merges, letters, alphabet, random)
            except BPEError:
                continue
            models.append((model, [_text(model, letters, random) for _ in range(TEXTS_A_MODEL)]))
        return ModelBatch(index, models, CALLS[index % len(CALLS)])


def _merge_list(random: Random) -> MergeList:
    def pair() -> tuple[int, int]:
        return random.randrange(31), random.randrange(31)

    return MergeList(
        n_letters=random.randint(1, 5),
        pairs=tuple(pair() for _ in range(random.randint(1, 14))),
        moves=tuple(pair() for _ in range(random.choice((0, 0, 0, 1, 3)))),
        repeated=tuple(random.randrange(31) for _ in range(random.choice((0, 0, 0, 0, 1)))),
        extra=tuple(
            tuple(random.choices(range(4), k=random.randint(2, 5))) for _ in range(random.choice((0, 0, 0, 1)))
        ),
    )


def build(drawn: MergeList, letters: tuple[str, ...], alphabet: str, random: Random) -> Model:
    """Return the model of a drawn list. Raises `InvalidModel` where there is none."""
    base = [letter.encode() for letter in letters[: max(1, drawn.n_letters)]]
    if alphabet == "bytes":
        base = [bytes([byte]) for byte in dict.fromkeys(b"".join(base))]
    symbols = list(base)
    merges: list[tuple[bytes, bytes]] = []
    for i, j in drawn.pairs:
        left, right = symbols[i % len(symbols)], symbols[j % len(symbols)]
        if len(left + right) <= _LONGEST_TOKEN_BYTES:
            merges.append((left, right))
            if left + right not in symbols:
                symbols.append(left + right)
    if merges:
        for i, j in drawn.moves:
            i, j = i % len(merges), j % len(merges)
            merges[i], merges[j] = merges[j], merges[i]
        merges += [merges[i % len(merges)] for i in drawn.repeated]
    extra = [b"".join(base[i % len(base)] for i in token) for token in drawn.extra]
    first = [bytes([byte]) for byte in range(256)] if alphabet == "bytes" else base
    tokens = tuple(dict.fromkeys([*first, *(left + right for left, right in merges), *extra]))
    ids = {token: i for i, token in enumerate(tokens)}
    by_pairs = random.random() < 0.6
    return Model(
        tokens=tokens,
        merges=tuple((ids[left], ids[right]) for left, right in merges) if by_pairs else (),
        merge_rule="pairs" if by_pairs else "concatenation",
        ignore_merges=by_pairs and random.random() < 0.1,
        alphabet="bytes" if alphabet == "bytes" else "chars",
        pattern=impls.core.text.patterns.resolve(random.choice(("none", "none", "gpt2", "cl100k"))),
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
