"""Help decide what to train: bytes per token on held-out text by size, pattern and share of the text.

Texts are read again for each vocabulary; only the distinct pieces and sums by group of documents are held in memory.

Each vocabulary is learned once, to the largest size, and truncated: its first merges are those of training to a smaller
size (`harness.training.vocabulary_curve`). Published vocabularies are counted on the same text, with the same
intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from harness.data import load_model
from harness.data.documents import encoded
from harness.evaluate.intervals import GROUPS, Figure, by_group, ratio
from harness.evaluate.sizes import sample
from harness.evaluate.texts import CountedText, Documents, batches
from harness.measure.token_use import fastest
from harness.progress import Bar
from harness.training.ends import why_short
from harness.training.vocabulary_curve import vocabulary_curve
from impls import Model, TrainingSpec
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


class _Reading:
    """Documents that are counted as they are read."""

    n_documents = n_bytes = 0

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def __iter__(self) -> Iterator[str]:
        self.n_documents = self.n_bytes = 0
        for text in self._documents():
            self.n_documents += 1
            self.n_bytes += len(encoded(text))
            yield text


class _Counted(NamedTuple):
    """A text counted under a vocabulary."""

    vocab_size: int
    round_trip: str
    n_documents: int
    bytes: np.ndarray
    """UTF-8 bytes by group of documents (`intervals.by_group`)."""
    tokens: np.ndarray


def sweep(plan: SweepPlan, bar: Bar) -> SweepResult:
    """Learn and measure."""
    found, sources = SweepResult(), list(product(plan.patterns, plan.shares))
    bar.total(len(sources) + len(plan.models))
    published: dict[str, _Counted] = {}
    for name in plan.models:
        model = load_model(name)
        published[name] = _counted(model, plan.held_out)
        bar.advance(1, name)
    baseline = published[plan.models[0]].tokens if plan.models else None
    for pattern, share in sources:
        name = f"{pattern}, {100 * share:.3g} % of the text"
        bar.advance(0, name)
        _learn_and_measure(plan, pattern, share, baseline, found)
        bar.advance(1, name)
    found.rows += [_row(plan, counted, baseline, {"model": name}) for name, counted in published.items()]
    return found


def _learn_and_measure(
    plan: SweepPlan, pattern: str, share: float, baseline: np.ndarray | None, found: SweepResult
) -> None:
    about = {"pattern": pattern, "text_share": share}
    documents = _Reading(sample(plan.trained, share))
    spec = TrainingSpec(vocab_size=plan.sizes[-1], pattern=pattern)
    model = learn("compiled", documents, spec)
    trained = {"n_trained_documents": documents.n_documents, "n_trained_bytes": documents.n_bytes}
    if missed := [size for size in plan.sizes if size > model.vocab_size]:
        why = why_short(model, spec, documents)
        found.unreached.append({**about, "sizes": missed, "largest": model.vocab_size, "why": why})
    sizes = [size for size in plan.sizes if size <= model.vocab_size]
    if sizes:
        counted = _measured(about, model, sizes, plan.held_out, found)
        found.rows += [_row(plan, one, baseline, {**about, **trained}) for one in counted]


def _measured(
    about: dict[str, Any], model: Model, sizes: Sequence[int], text: CountedText, found: SweepResult
) -> list[_Counted]:
    """Measure a text under the first merges of a model, at each size; add doublings to `found`."""
    n_base = model.vocab_size - len(model.merges)
    grid = sorted({*sizes, *_fixed_sizes(sizes[0], sizes[-1])})
    curve = vocabulary_curve(model, text.documents(), [size - n_base for size in grid], GROUPS)
    counted = [
        _Counted(size, model.round_trip, curve.n_documents, curve.n_bytes, tokens)
        for size, tokens in zip(grid, curve.n_tokens.T, strict=True)
    ]
    by_size = {one.vocab_size: one for one in counted}
    found.doublings += [{**about, "held_out": text.name, **doubling} for doubling in _doubling(by_size)]
    return [one for one in counted if one.vocab_size in sizes]


def _fixed_sizes(smallest: int, largest: int) -> list[int]:
    """Return sizes between these two that do not depend on them: 250, 273, …, 458, and these doubled repeatedly."""
    octave = [round(250 * 2 ** (step / _STEPS_OF_A_DOUBLING)) for step in range(_STEPS_OF_A_DOUBLING)]
    return [size for n in range(23) for first in octave if smallest <= (size := first << n) <= largest]


def _doubling(counted: Mapping[int, _Counted]) -> Iterator[dict[str, Any]]:
    """Yield the first doubling of a size that saves too little, else the last one; nothing without a doubling."""
    sizes = [size for size in _fixed_sizes(min(counted), max(counted)) if 2 * size in counted]
    for size in sizes:
        few, many = counted[size], counted[2 * size]
        left = ratio(many.tokens, few.tokens, few.n_documents)
        is_too_little = left.value is not None and 1 - left.value < LEAST_SAVED
        if is_too_little or size == sizes[-1]:
            low, high = (None if end is None else 1 - end for end in (left.high, left.low))
            saved = None if left.value is None else 1 - left.value
            yield {"vocab_size": size, "too_little": is_too_little, "saved": saved, "low": low, "high": high}
            return


def _counted(model: Model, text: CountedText) -> _Counted:
    tokenizer, n_documents = fastest(model), 0
    n_bytes, n_tokens = np.zeros((2, GROUPS), np.int64)
    for documents in batches(text.documents()):
        n_bytes += by_group([len(encoded(document)) for document in documents], n_documents)
        offsets = tokenizer.encode_ragged(documents, disallowed_special=())[1]
        n_tokens += by_group(np.diff(offsets), n_documents)
        n_documents += len(documents)
    return _Counted(model.vocab_size, model.round_trip, n_documents, n_bytes, n_tokens)


def _row(plan: SweepPlan, counted: _Counted, baseline: np.ndarray | None, about: dict[str, Any]) -> SweepRow:
    """Return the row of a text under a vocabulary, relative to the first published one."""
    n = counted.n_documents
    figure = ratio(counted.bytes, counted.tokens, n)
    return SweepRow(
        **about,
        held_out=plan.held_out.name,
        vocab_size=counted.vocab_size,
        embedding_parameters=counted.vocab_size * plan.width,
        n_documents=n,
        n_bytes=int(counted.bytes.sum()),
        n_tokens=int(counted.tokens.sum()),
        round_trip=counted.round_trip,
        bytes_per_token=figure,
        relative_tokens=Figure(None) if baseline is None else ratio(counted.tokens, baseline, n),
        cost_per_megabyte=None if plan.price is None or not figure.value else plan.price / figure.value,
    )
