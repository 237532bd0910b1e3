"""The rules trainers are compared by, and the tasks of a comparing worker: train, count tokens, count pairs.

All trainers count overlapping pairs and replace from left to right. They differ in which of several equally frequent
pairs they merge, so merges can only be compared under one declared rule.

Every function here runs in a worker process and takes names, so that a library that crashes ends only its worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec

import impls
from harness.check.tasks import status_and_reason
from harness.data import load_corpus
from harness.data.documents import encoded, take_bytes
from harness.outcome import Outcome
from harness.records import Status, Verdict
from impls import TrainingSpec
from impls.core.training import corpus_pieces, piece_symbols

PATTERN = "gpt2"
_MOST_CHARACTERS = 0x110000
_UNKNOWN = "<unk>"
END_OF_WORD = "</w>"

RULES: Mapping[str, Mapping[str, Any]] = {
    "smallest, gpt2 order": {"ties": "smallest", "base_order": "gpt2"},
    "smallest, raw order": {"ties": "smallest"},
    "first met": {"ties": "first"},
    "shortest": {"ties": "shortest"},
    "shortest, characters": {"ties": "shortest", "alphabet": "chars", "unknown": _UNKNOWN},
    "largest": {"ties": "largest"},
    "largest, words": {
        "ties": "largest", "alphabet": "chars", "end_of_word": END_OF_WORD, "pattern": r"\S+|\s", "unknown": _UNKNOWN,
    },
}  # fmt: skip
"""Name -> fields of the `TrainingSpec`: Hugging Face's, rustbpe's, minbpe's and tiktoken's, sentencepiece's over bytes
and over characters, subword-nmt's over bytes and in its original form."""

DEFAULT_TRAINERS = (
    "naive", "wordcount", "priority", "bytelevel", "compiled", "tiktoken", "tokenizers", "rustbpe",
    "sentencepiece", "subword-nmt",
)  # fmt: skip
"""The trainers compared by default."""

_DISTINGUISHING = ("ties", "base_order", "alphabet", "end_of_word", "pattern")
_OF_TIES = {"ties", "base_order"}


def spec_of(rule: str, max_merges: int) -> TrainingSpec:
    """Return the specification of a rule, limited by merges: the base vocabulary differs in size between rules."""
    fields = {"pattern": PATTERN} | dict(RULES[rule])
    return TrainingSpec(vocab_size=_MOST_CHARACTERS + max_merges + 2, max_merges=max_merges, **fields)


def differing_fields(one: str, other: str) -> dict[str, tuple[Any, Any]]:
    """Map each field of the specification in which two rules differ to its two values."""
    a, b = spec_of(one, 0), spec_of(other, 0)
    both = {name: (getattr(a, name), getattr(b, name)) for name in _DISTINGUISHING}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def differ_in_ties_only(one: str, other: str) -> bool:
    """Return whether two rules can differ only between equally frequent pairs."""
    return set(differing_fields(one, other)) <= _OF_TIES


def describe_difference(one: str, other: str) -> str:
    """Describe how two rules differ: `ties: first, smallest`."""
    return "; ".join(f"{name}: {a}, {b}" for name, (a, b) in differing_fields(one, other).items())


def rules_to_compare(of_a: Collection[str], of_b: Collection[str]) -> list[tuple[str, str]]:
    """Return every rule both follow; if there is none, the pair of their rules that differ in the fewest fields."""
    shared = [(rule, rule) for rule in RULES if rule in of_a and rule in of_b]
    if shared:
        return shared
    pairs = [(a, b) for a in RULES if a in of_a for b in RULES if b in of_b]
    return sorted(pairs, key=lambda pair: len(differing_fields(*pair)))[:1]


Merge = tuple[bytes, bytes]

_COUNTER = "priority"
"""Encodes the held-out text: it runs every model that can be trained."""


class TrainerOutcome(msgspec.Struct):
    """The merges one trainer learned from one corpus by one rule."""

    verdict: Verdict
    merges: list[Merge] = msgspec.field(default_factory=list)
    """In the order learned, as the bytes of their parts."""
    n_tokens: int = 0
    """Number of tokens of the counted text."""
    n_counted_bytes: int = 0
    counted_on: Literal["held-out", "training"] = "held-out"


def verdict_on(trainer: str, rule: str, corpus: str, status: Status, reason: str) -> Verdict:
    """Return the verdict on a trainer that learned nothing."""
    return Verdict(implementation=trainer, model=rule, corpus=corpus, check="train", status=status, reason=reason)


def train(trainer: str, rule: str, corpus: str, max_merges: int, max_bytes: int) -> TrainerOutcome:
    """Train on a corpus and count the tokens of its held-out part; any exception becomes a verdict."""
    texts, counted = training_and_counted_texts(corpus, max_bytes)
    nothing = f"no text to learn from; documents with {END_OF_WORD} are left out"
    verdict = verdict_on(trainer, rule, corpus, Outcome.REFUSED, nothing)
    verdict.n_texts, verdict.n_bytes = len(texts), _n_bytes(texts)
    outcome = TrainerOutcome(verdict, n_counted_bytes=_n_bytes(counted))
    outcome.counted_on = "training" if counted is texts else "held-out"
    if not verdict.n_bytes:
        return outcome
    try:
        model = impls.get(trainer).train_model(texts, spec_of(rule, max_merges))
        outcome.merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]  # type: ignore[misc]
        outcome.n_tokens = sum(map(impls.load(_COUNTER, model).count, counted))
        verdict.status, verdict.reason = Outcome.RIGHT, ""
    except impls.InvalidSpec as error:  # this rule cannot learn from this corpus
        verdict.reason = str(error)
    except BaseException as error:  # whatever a foreign library raises is a verdict
        verdict.status, verdict.reason = status_and_reason(error)
    return outcome


def training_and_counted_texts(corpus: str, max_bytes: int) -> tuple[list[str], list[str]]:
    """Return the texts to train on and to count: the parts of the split, or everything twice where one part is empty.

    Documents that contain the end-of-word mark are left out: in a rule that joins it to words it would be ambiguous.
    """
    train, held_out = (_documents(corpus, split, max_bytes) for split in ("train", "held-out"))
    if train and held_out:
        return train, held_out
    everything = _documents(corpus, None, max_bytes)
    return everything, everything


def _documents(corpus: str, split: str | None, max_bytes: int) -> list[str]:
    documents = load_corpus(corpus, split=split).documents()
    return list(take_bytes((text for text in documents if END_OF_WORD not in text), max_bytes))


def _n_bytes(texts: Iterable[str]) -> int:
    return sum(map(len, map(encoded, texts)))


def counts_of_pairs(
    rule: str, corpus: str, max_bytes: int, merges: Sequence[Merge], pairs: Sequence[Merge]
) -> list[int]:
    """Count how often each of `pairs` occurs in the training text after `merges`."""
    texts, _ = training_and_counted_texts(corpus, max_bytes)
    return counts_after(texts, spec_of(rule, 0), merges, pairs)


def counts_after(
    texts: Iterable[str], spec: TrainingSpec, merges: Sequence[Merge], pairs: Sequence[Merge]
) -> list[int]:
    """Count how often each of `pairs` occurs (overlapping) in `texts` after `merges`, applied in order."""
    found: Counter[Merge] = Counter()
    for piece, times in Counter(corpus_pieces(texts, spec)).items():
        symbols = piece_symbols(piece, spec)
        whole = b"".join(symbols)
        for left, right in merges:
            if left + right in whole:
                symbols = _merged(symbols, left, right)
        for pair in pairwise(symbols):
            found[pair] += times
    return [found[pair] for pair in pairs]


def _merged(symbols: list[bytes], left: bytes, right: bytes) -> list[bytes]:
    """Join left+right in `symbols` from left to right, without overlap: [a, a, a] -> [aa, a]."""
    merged: list[bytes] = []
    at = 0
    while at < len(symbols):
        if symbols[at] == left and at + 1 < len(symbols) and symbols[at + 1] == right:
            merged.append(left + right)
            at += 2
        else:
            merged.append(symbols[at])
            at += 1
    return merged
