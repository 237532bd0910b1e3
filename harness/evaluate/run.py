"""Every model on every text: reads each text once, a batch at a time, and counts it by all models."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import impls
from harness.data import DataError, load_model
from harness.data.overlap import Overlap, training_overlap
from harness.evaluate.metrics import Row, counts_of, figures_of, rank
from harness.evaluate.parallel import Lengths, fairness
from harness.evaluate.prices import Prices
from harness.evaluate.tally import ModelTally, TextTally, TokenBytes
from harness.evaluate.texts import Batch, Text, batch_of, batches
from harness.evaluate.words import Segmenter
from harness.measure.compression import counter
from harness.progress import Bar
from impls import Tokenizer


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


def evaluate(plan: Plan, bar: Bar) -> list[Row]:
    """Return a row for each model and text; raise `DataError` for a text that is empty."""
    tokenizers = {name: fastest(load_model(name)) for name in plan.models}
    counters = {name: _Counter(tokenizer, TokenBytes(tokenizer)) for name, tokenizer in tokenizers.items()}
    segmenter = Segmenter()
    rows = []
    lengths: dict[str, dict[str, Lengths]] = {name: {} for name in plan.models}
    for text in plan.texts:
        tallied = _tally(text, counters, segmenter, bar)
        for name, made in tallied.made.items():
            rows.append(_row(name, text, tallied, tokenizers[name], plan))
            lengths[name][text.language or text.name] = Lengths(made.n_documents, made.tokens)
    rank(rows)
    if plan.pivot is not None:
        _compare_languages(rows, lengths, plan.pivot)
    rows.sort(key=lambda row: plan.models.index(row.model))
    return rows


def _tally(text: Text, counters: dict[str, _Counter], segmenter: Segmenter, bar: Bar) -> _Tallied:
    """Tally a text by all models; while they count one batch, mostly outside the interpreter lock, the next is read."""
    found = _Tallied(TextTally(), {name: ModelTally(*counter) for name, counter in counters.items()}, {})
    with ThreadPoolExecutor(1) as counting:
        counted: Future[None] | None = None
        for documents in batches(text.documents()):
            batch = batch_of(documents, segmenter)
            found.text.add(batch)
            if counted is not None:
                counted.result()
            counted = counting.submit(_count, batch, found, counters)
            bar.advance(float(batch.n_bytes.sum()), text.name)
        if counted is None:
            raise DataError(f"{text.name}: holds no text")
        counted.result()
    return found


def _count(batch: Batch, found: _Tallied, counters: dict[str, _Counter]) -> None:
    for name, made in found.made.items():
        made.add(batch)
        overlap = training_overlap(counters[name].tokenizer.model, batch.documents)
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
    row.training_overlap = overlap
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
