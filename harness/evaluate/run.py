"""Every model on every text: reads each text once, a batch at a time, and counts it by all models."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import impls
from harness.data import DataError, load_model
from harness.evaluate.metrics import Row, counts_of, figures_of, rank
from harness.evaluate.parallel import fairness
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


def fastest(model: impls.Model) -> Tokenizer:
    """Return the fastest implementation whose ids are exact: `compiled`, else what `counter` chooses."""
    try:
        return impls.load("compiled", model)
    except (impls.Unsupported, impls.Missing):
        return counter(model)


def evaluate(plan: Plan, bar: Bar) -> list[Row]:
    """Return a row for each model and text; raise `DataError` for a text that is empty."""
    known = {name: TokenBytes(fastest(load_model(name))) for name in plan.models}
    segmenter = Segmenter()
    rows: list[Row] = []
    by_language: dict[str, dict[str, ModelTally]] = {name: {} for name in plan.models}
    for text in plan.texts:
        of_text, of_models = TextTally(), {name: ModelTally(one) for name, one in known.items()}
        _tally(text, of_text, of_models, segmenter, bar)
        for name, made in of_models.items():
            baseline = None if plan.baseline is None else of_models[plan.baseline]
            rows.append(_row(name, text, of_text, made, baseline, plan.prices.of(name)))
            by_language[name][text.language or text.name] = made
    rank(rows)
    if plan.pivot is not None:
        _compare_languages(rows, by_language, plan.pivot)
    rows.sort(key=lambda row: plan.models.index(row.model))
    return rows


def _tally(text: Text, of_text: TextTally, of_models: dict[str, ModelTally], segmenter: Segmenter, bar: Bar) -> None:
    """Tally a text by all models; while they count one batch, mostly outside the interpreter lock, the next is read."""

    def count(batch: Batch) -> None:
        for made in of_models.values():
            made.add(batch)

    with ThreadPoolExecutor(1) as counting:
        counted: Future[None] | None = None
        for documents in batches(text.documents()):
            batch = batch_of(documents, segmenter)
            of_text.add(batch)
            if counted is not None:
                counted.result()
            counted = counting.submit(count, batch)
            bar.advance(float(batch.n_bytes.sum()), text.name)
        if counted is None:
            raise DataError(f"{text.name}: holds no text")
        counted.result()


def _row(
    name: str, text: Text, of_text: TextTally, made: ModelTally, baseline: ModelTally | None, price: float | None
) -> Row:
    model = made.known.tokenizer.model
    return Row(
        name,
        text.name,
        text.language,
        made.known.tokenizer.name,
        model.n_tokens,
        model.round_trip,
        counts_of(of_text, made),
        figures_of(of_text, made, model.n_tokens, baseline),
        cost=None if price is None else int(made.tokens.sum()) * price / 1e6,
        price_per_million_tokens=price,
        training_overlap=made.training_overlap,
    )


def _compare_languages(rows: list[Row], tallies: dict[str, dict[str, ModelTally]], pivot: str) -> None:
    """Add premiums, Gini coefficient, worst and best language, from tallies by model and language."""
    for name, by_language in tallies.items():
        found = fairness(by_language, pivot)
        for row in rows:
            if row.model == name:
                row.figures["premium"] = found.premiums[row.language or row.corpus]
                row.figures["gini"] = found.gini
                row.parallel = {"pivot": pivot, "worst_language": found.worst, "best_language": found.best}
