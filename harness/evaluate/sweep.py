"""Help decide what to train: bytes per token on held-out text by size, pattern and share of the text.

Texts are read again for each vocabulary; only the distinct pieces and sums by group of documents are held in memory.

Each vocabulary is learned once, to the largest size, and truncated: training learns merges one after another, so the
first k merges of a vocabulary are the vocabulary trained to k merges. Encoding applies the lowest rank first: with k
merges a piece goes through the same steps up to the first one of rank k or more. So each distinct piece is merged once,
and the ranks of its steps give its length at every size. Published vocabularies are counted on the same text, with the
same intervals.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, product
from typing import Any

import numpy as np

from harness.data import load_model
from harness.data.documents import encoded
from harness.evaluate.intervals import GROUPS, Figure, by_group, ratio
from harness.evaluate.sizes import sample
from harness.evaluate.texts import CountedText, Documents, batches
from harness.measure.token_use import fastest
from harness.progress import Bar
from harness.training.ends import why_short
from impls import TrainingSpec
from impls.core.model.merging import merging
from impls.core.model.model import Model
from impls.core.text.text import repair_surrogates
from impls.registry import learn

N_BASE = 256
LEAST_SAVED = 0.05
"""Share of the tokens that twice as many ids must save for the larger vocabulary to be worth naming."""
_STEPS_OF_A_DOUBLING = 8


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What to learn and measure."""

    sizes: Sequence[int]
    """Numbers of ids, ascending, each more than `N_BASE`."""
    patterns: Sequence[str]
    trained: Documents
    """Documents to learn from."""
    held_out: CountedText
    shares: Sequence[float] = (1.0,)
    """Shares of these documents to learn from, ascending."""
    models: Sequence[str] = ()
    """Published vocabularies to compare with; lengths are relative to the first."""
    width: int = 4096
    price: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """The figures of one vocabulary on one text; None if not applicable."""

    model: str | None = None
    """Name of a published vocabulary; None if trained here."""
    pattern: str | None = None
    text_share: float | None = None
    """Share of the documents that it was learned from."""
    n_trained_documents: int | None = None
    n_trained_bytes: int | None = None
    held_out: str
    vocab_size: int
    embedding_parameters: int
    """Number of ids times the embedding width."""
    n_documents: int
    n_bytes: int
    n_tokens: int
    round_trip: str
    bytes_per_token: Figure
    relative_tokens: Figure
    """Tokens relative to the first published vocabulary."""
    cost_per_megabyte: float | None = None
    """Cost of a million bytes of such text, at the price per million tokens."""


@dataclass(slots=True)
class SweepResult:
    """The results of a sweep."""

    rows: list[SweepRow] = field(default_factory=list)
    doublings: list[dict[str, Any]] = field(default_factory=list)
    """By vocabulary: the first size at which twice as many ids save less than `LEAST_SAVED`, else the last size that
    can be doubled; what that saves, with its interval."""
    unreached: list[dict[str, Any]] = field(default_factory=list)
    """Sizes that a text could not reach, and why."""


def sweep(plan: SweepPlan, bar: Bar) -> SweepResult:
    """Learn and measure."""
    measuring, sources = _Sweep(plan), list(product(plan.patterns, plan.shares))
    bar.total(len(sources) + len(plan.models))
    published = []
    for name in plan.models:
        published.append(measuring.published(name))
        bar.advance(1, name)
    for pattern, share in sources:
        name = f"{pattern}, {100 * share:.3g} % of the text"
        bar.advance(0, name)
        measuring.learn(pattern, share)
        bar.advance(1, name)
    measuring.result.rows += published
    return measuring.result


class _Reading:
    """Documents whose UTF-8 bytes are counted as they are read."""

    def __init__(self, documents: Documents) -> None:
        self._documents, self.lengths = documents, array("q")

    def __iter__(self) -> Iterator[str]:
        self.lengths = array("q")
        for text in self._documents():
            self.lengths.append(len(encoded(text)))
            yield text


class _Sweep:
    """The text measured on, and the results so far."""

    def __init__(self, plan: SweepPlan) -> None:
        self.plan, self.result, self.held_out = plan, SweepResult(), _Reading(plan.held_out.documents)
        self.baseline: np.ndarray | None = None
        """Tokens under the first published vocabulary, by group of documents."""

    @cached_property
    def lengths(self) -> np.ndarray:
        """Return the bytes of the documents measured on, empty ones left out; known after a first pass over them."""
        return np.array([n_bytes for n_bytes in self.held_out.lengths if n_bytes])

    def published(self, name: str) -> SweepRow:
        """Return the row of a published vocabulary."""
        model = load_model(name)
        parts = map(partial(fastest(model).encode_ragged, disallowed_special=()), batches(self.held_out))
        tokens = by_group(np.concatenate([np.diff(offsets) for _, offsets in parts]))
        if self.baseline is None:
            self.baseline = tokens
        return self._row(tokens, model.vocab_size, model.round_trip, model=name)

    def learn(self, pattern: str, share: float) -> None:
        """Learn from a share of the text, and add a row for each size, doublings, and sizes that were not reached."""
        plan, about = self.plan, {"pattern": pattern, "text_share": share}
        documents = _Reading(sample(plan.trained, share))
        spec = TrainingSpec(vocab_size=plan.sizes[-1], pattern=pattern)
        model = learn("compiled", documents, spec)
        if missed := [size for size in plan.sizes if size > model.vocab_size]:
            why = why_short(model, spec, documents)
            self.result.unreached.append({**about, "sizes": missed, "largest": model.vocab_size, "why": why})
        sizes = [size for size in plan.sizes if size <= model.vocab_size]
        if not sizes:
            return
        n_base = model.vocab_size - len(model.merges)
        grid = sorted({*sizes, *_fixed_sizes(sizes[0], sizes[-1])})
        curve = vocabulary_curve(model, self.held_out, [size - n_base for size in grid], GROUPS)
        tokens = dict(zip(grid, curve.T, strict=True))
        doublings = _doubling(tokens, len(self.lengths))
        self.result.doublings += [{**about, "held_out": plan.held_out.name, **doubling} for doubling in doublings]
        trained = {"n_trained_documents": len(documents.lengths), "n_trained_bytes": sum(documents.lengths)}
        self.result.rows += [self._row(tokens[size], size, model.round_trip, **about, **trained) for size in sizes]

    def _row(self, tokens: np.ndarray, vocab_size: int, round_trip: str, **about: Any) -> SweepRow:
        plan, n = self.plan, len(self.lengths)
        per_token = ratio(by_group(self.lengths), tokens, n)
        return SweepRow(
            **about,
            held_out=plan.held_out.name,
            vocab_size=vocab_size,
            embedding_parameters=vocab_size * plan.width,
            n_documents=n,
            n_bytes=int(self.lengths.sum()),
            n_tokens=int(tokens.sum()),
            round_trip=round_trip,
            bytes_per_token=per_token,
            relative_tokens=Figure(None) if self.baseline is None else ratio(tokens, self.baseline, n),
            cost_per_megabyte=None if plan.price is None or not per_token.value else plan.price / per_token.value,
        )


def _fixed_sizes(smallest: int, largest: int) -> list[int]:
    """Return sizes between these two that do not depend on them: 250, 273, …, 458, and these doubled repeatedly."""
    octave = [round(250 * 2 ** (step / _STEPS_OF_A_DOUBLING)) for step in range(_STEPS_OF_A_DOUBLING)]
    return [size for n in range(23) for first in octave if smallest <= (size := first << n) <= largest]


def _doubling(tokens: Mapping[int, np.ndarray], n_documents: int) -> Iterator[dict[str, Any]]:
    """Yield the first doubling of a size that saves too little, else the last one; nothing without a doubling."""
    sizes = [size for size in _fixed_sizes(min(tokens), max(tokens)) if 2 * size in tokens]
    for size in sizes:
        left = ratio(tokens[2 * size], tokens[size], n_documents)
        saved, low, high = (None if share is None else 1 - share for share in (left.value, left.high, left.low))
        is_too_little = saved is not None and saved < LEAST_SAVED
        if is_too_little or size == sizes[-1]:
            yield {"vocab_size": size, "too_little": is_too_little, "saved": saved, "low": low, "high": high}
            return


def vocabulary_curve(model: Model, documents: Iterable[str], sizes: Sequence[int], n_groups: int) -> np.ndarray:
    """Return the tokens of documents, each encoded separately, under the first `sizes` merges of `model`.

    The result is int64 of shape (n_groups, n_sizes): document i, empty ones left out, belongs to group i modulo
    `n_groups`, so that memory grows with the distinct pieces of the text, not with its length. Special tokens in the
    text are read as ordinary text. Raise `UnknownSymbol` for a character outside the alphabet.

    Merges a+b (rank 0), ab+c (rank 1), "abc ab":    0: a b c _ a b    1: ab c _ ab    2: abc _ ab
    """
    lengths: dict[str, np.ndarray] = {}
    n_tokens = np.zeros((n_groups, len(sizes)), np.int64)
    for i, document in enumerate(filter(None, documents)):
        if times := Counter(model.splitter.split(model.normalize(repair_surrogates(document)))):
            lengths |= {piece: _lengths(model, piece, sizes) for piece in times.keys() - lengths.keys()}
            n_tokens[i % n_groups] += np.array([*times.values()]) @ np.stack([lengths[piece] for piece in times])
    return n_tokens


def _lengths(model: Model, piece: str, sizes: Sequence[int]) -> np.ndarray:
    """Return the number of tokens of a piece under the first `sizes` merges.

    A step after one of higher rank requires the merges up to that one too, so the numbers required ascend.
    """
    symbols = model.symbols(piece)
    n_symbols = len(symbols)
    required = [rank + 1 for rank in accumulate(merging(symbols, model.merge_of), max)]
    return np.array([n_symbols - bisect_right(required, size) for size in sizes], np.int32)
