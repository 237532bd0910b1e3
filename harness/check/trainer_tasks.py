"""Tasks of a worker that compares trainers: train by a rule and count tokens; count pairs where merge lists differ.

Every function here runs in a worker process and takes names, so that a library that crashes ends only its worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

import impls
from harness.check.tasks import status_and_reason
from harness.check.trainer_rules import END_OF_WORD, implementation_of, spec_of
from harness.data import load_corpus
from harness.data.documents import encoded, take_bytes
from harness.records import Status, Verdict
from impls import TrainingSpec
from impls.core.training import corpus_pieces, piece_symbols

Merge = tuple[bytes, bytes]

_COUNTER = "priority"
"""Encodes the held-out text: it runs every model that can be trained."""


class TrainerOutcome(msgspec.Struct):
    """The merges one trainer learned from one corpus by one rule."""

    verdict: Verdict
    merges: list[Merge] = msgspec.field(default_factory=list)
    """In the order learned, as the bytes of their parts."""
    n_tokens: int = 0
    """Tokens of the counted text."""
    n_counted_bytes: int = 0
    counted_on: Literal["held-out", "training"] = "held-out"


def verdict_on(trainer: str, rule: str, corpus: str, status: Status, reason: str) -> Verdict:
    """Return a verdict on a trainer that has not learned."""
    return Verdict(implementation=trainer, model=rule, corpus=corpus, check="train", status=status, reason=reason)


def train(trainer: str, rule: str, corpus: str, max_merges: int, max_bytes: int) -> TrainerOutcome:
    """Train on a corpus and count the tokens of its held-out part; whatever is raised is a verdict."""
    texts, counted = training_and_counted_texts(corpus, max_bytes)
    nothing = f"no text to learn from; documents with {END_OF_WORD} are left out"
    verdict = verdict_on(trainer, rule, corpus, "unsupported", nothing)
    verdict.n_texts, verdict.n_bytes = len(texts), _n_bytes(texts)
    outcome = TrainerOutcome(verdict, n_counted_bytes=_n_bytes(counted))
    outcome.counted_on = "training" if counted is texts else "held-out"
    if not verdict.n_bytes:
        return outcome
    try:
        model = impls.get(implementation_of(trainer)).train_model(texts, spec_of(rule, max_merges))
        outcome.merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]  # type: ignore[misc]
        outcome.n_tokens = sum(map(impls.load(_COUNTER, model).count, counted))
        verdict.status, verdict.reason = "ok", ""
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
