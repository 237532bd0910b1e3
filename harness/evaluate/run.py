"""Every model on every text: reads each text once, a batch at a time, and counts it by all models."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import impls
from harness.data import DataError, load_model
from harness.data.overlap import Overlap, training_overlap
from harness.evaluate.metrics import Row, counts_of, figures_of, rank
from harness.evaluate.parallel import Lengths, fairness
from harness.evaluate.prices import Prices
from harness.evaluate.tally import ModelTally, TextTally, TokenBytes, slices_of
from harness.evaluate.texts import Batch, Text, batch_of, batches
from harness.evaluate.words import Segmenter
from harness.measure.compression import counter
from harness.progress import Bar
from impls import Tokenizer
from impls.core.errors import BPEError

if TYPE_CHECKING:
    from impls.compiled.training.count import Executors

_Digests = tuple[tuple[str, str], ...]
"""Names of models and their digests."""
_MOST_WAITING = 32
"""Batches that workers were given and that are not joined yet."""


class Plan(NamedTuple):
    """What is evaluated: models on texts; `baseline` is one of the models, `pivot` a language of parallel texts."""

    models: Sequence[str]
    texts: Sequence[Text]
    prices: Prices
    baseline: str | None = None
    pivot: str | None = None


class _Counter(NamedTuple):
    tokenizer: Tokenizer
    known: TokenBytes


class _Tallied(NamedTuple):
    text: TextTally
    made: dict[str, ModelTally]
    overlaps: dict[str, Overlap]


def fastest(model: impls.Model) -> Tokenizer:
    """Return the fastest implementation whose ids are exact: `compiled`, else what `counter` chooses."""
    try:
        return impls.load("compiled", model)
    except (impls.Unsupported, impls.Missing):
        return counter(model)


def evaluate(plan: Plan, bar: Bar, executors: Executors | None = None) -> list[Row]:
    """Return a row for each model and text, counted on `executors` if given; raise `DataError` for an empty text."""
    counters = _counters(plan.models)
    rows = []
    lengths: dict[str, dict[str, Lengths]] = {name: {} for name in plan.models}
    with nullcontext() if executors is None else executors() as executor:
        for text in plan.texts:
            if executor is None:
                tallied = _tally(text, counters, bar)
            else:
                tallied = _tally_by_workers(text, counters, executor, bar)
            if not tallied.text.n_documents:
                raise DataError(f"{text.name}: holds no text")
            for name, made in tallied.made.items():
                rows.append(_row(name, text, tallied, counters[name].tokenizer, plan))
                lengths[name][text.language or text.name] = Lengths(made.n_documents, made.tokens)
    rank(rows)
    if plan.pivot is not None:
        _compare_languages(rows, lengths, plan.pivot)
    rows.sort(key=lambda row: plan.models.index(row.model))
    return rows


def _counters(models: Iterable[str]) -> dict[str, _Counter]:
    tokenizers = {name: fastest(load_model(name)) for name in models}
    return {name: _Counter(tokenizer, TokenBytes(tokenizer)) for name, tokenizer in tokenizers.items()}


def _tally(text: Text, counters: dict[str, _Counter], bar: Bar) -> _Tallied:
    """Tally a text by all models; while they count one batch, mostly outside the interpreter lock, the next is read."""
    found, segmenter = _nothing(counters), Segmenter()
    with ThreadPoolExecutor(1) as counting:
        counted: Future[None] | None = None
        for documents in batches(text.documents()):
            batch = batch_of(documents, segmenter)
            found.text.add(batch)
            if counted is not None:
                counted.result()
            counted = counting.submit(_count, batch, found, counters)
            bar.advance(float(batch.n_bytes.sum()), text.name)
        if counted is not None:
            counted.result()
    return found


def _tally_by_workers(text: Text, counters: dict[str, _Counter], executor: Executor, bar: Bar) -> _Tallied:
    """Tally a text as `_tally`, each batch by a worker; the sums are joined in the order of the text."""
    models = tuple((name, counter.tokenizer.model.digest) for name, counter in counters.items())
    found, waiting = _nothing(counters), deque[Future[_Tallied]]()
    n_documents = n_slices = 0

    def take() -> None:
        part, before = waiting.popleft().result(), int(found.text.bytes.sum())
        found.text.join(part.text)
        for name, made in part.made.items():
            found.made[name].join(made)
            _add_overlap(found, name, part.overlaps.get(name))
        bar.advance(int(found.text.bytes.sum()) - before, text.name)

    try:
        for documents in batches(text.documents()):
            waiting.append(executor.submit(tally_batch, documents, models, n_documents, n_slices))
            n_documents += len(documents)
            n_slices += slices_of(len(documents))
            if len(waiting) == _MOST_WAITING:
                take()
        while waiting:
            take()
    except BrokenExecutor:
        raise BPEError("a worker died with a part of the text; it may lack memory: start fewer of them") from None
    finally:
        for future in waiting:
            future.cancel()
    return found


def tally_batch(documents: list[str], models: _Digests, n_documents: int, n_slices: int) -> _Tallied:
    """Return what a worker counts of a batch, before which are so many documents, shared among so many slices."""
    counters = _counters_of_worker(models)
    found = _nothing(counters, n_documents, n_slices)
    batch = batch_of(documents, Segmenter())
    found.text.add(batch)
    _count(batch, found, counters)
    return found


@lru_cache(maxsize=1)
def _counters_of_worker(models: _Digests) -> dict[str, _Counter]:
    counters = _counters(name for name, _ in models)
    for name, digest in models:
        if counters[name].tokenizer.model.digest != digest:
            raise BPEError(f"{name}: is another vocabulary on a worker; its files and ours must be the same")
    return counters


def _nothing(counters: dict[str, _Counter], n_documents: int = 0, n_slices: int = 0) -> _Tallied:
    made = {name: ModelTally(*counter, n_documents, n_slices) for name, counter in counters.items()}
    return _Tallied(TextTally(n_documents), made, {})


def _count(batch: Batch, found: _Tallied, counters: dict[str, _Counter]) -> None:
    for name, made in found.made.items():
        made.add(batch)
        _add_overlap(found, name, training_overlap(counters[name].tokenizer.model, batch.documents))


def _add_overlap(found: _Tallied, name: str, overlap: Overlap | None) -> None:
    if overlap is not None:
        before = found.overlaps.get(name, Overlap(0, 0))
        found.overlaps[name] = Overlap(*(a + b for a, b in zip(before, overlap, strict=True)))


def _row(name: str, text: Text, tallied: _Tallied, tokenizer: Tokenizer, plan: Plan) -> Row:
    model, made = tokenizer.model, tallied.made[name]
    baseline = None if plan.baseline is None else tallied.made[plan.baseline]
    counts = counts_of(tallied.text, made)
    price, overlap = plan.prices.of(name), tallied.overlaps.get(name)
    figures = figures_of(tallied.text, made, model.n_tokens, baseline)
    row = Row(name, text.name, text.language, tokenizer.name, model.n_tokens, model.round_trip, counts, figures)
    row.price_per_million_tokens = price
    row.cost = None if price is None else int(made.tokens.sum()) * price / 1e6
    row.training_overlap = None if overlap is None else {**overlap._asdict(), "share": overlap.share}
    return row


def _compare_languages(rows: list[Row], lengths: dict[str, dict[str, Lengths]], pivot: str) -> None:
    """Add premiums, Gini coefficient, worst and best language, from lengths by model and language."""
    for name, by_language in lengths.items():
        found = fairness(by_language, pivot)
        for row in rows:
            if row.model == name:
                row.figures["premium"] = found.premiums[row.language or row.corpus]
                row.figures["gini"] = found.gini
                row.parallel = {"pivot": pivot, "worst_language": found.worst, "best_language": found.best}
