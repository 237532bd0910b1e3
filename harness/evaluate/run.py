"""Evaluate every model on every text: each text is read once, a batch at a time, and counted by all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from harness.data import DataError, load_model
from harness.evaluate.metrics import EvaluationRow, counts_of, figures_of, rank
from harness.evaluate.parallel import fairness
from harness.evaluate.tally import ModelTally, TextTally
from harness.evaluate.texts import CountedText, Segmenter, batch_of, batches
from harness.measure.token_use import TokenArray, fastest
from harness.progress import Bar

_COUNTING_THREADS = 2
"""Counting threads besides the one that reads; a third gained nothing on two cores."""


class EvaluationPlan(NamedTuple):
    """What to evaluate: models on texts; `pivot` is a language of parallel texts."""

    models: Sequence[str]
    texts: Sequence[CountedText]
    prices: Mapping[str, float]
    """Model -> price of a million tokens."""
    pivot: str | None = None


def evaluate(plan: EvaluationPlan, bar: Bar) -> list[EvaluationRow]:
    """Return a row for each model and text; raise `DataError` for an empty text."""
    tokenizers = {name: fastest(load_model(name)) for name in plan.models}
    token_bytes = {name: TokenArray(one.model.bytes_by_id()) for name, one in tokenizers.items()}
    rows: list[EvaluationRow] = []
    by_language: dict[str, dict[str, ModelTally]] = {name: {} for name in plan.models}
    for text in plan.texts:
        of_text = TextTally()
        of_models = {name: ModelTally(one, token_bytes[name]) for name, one in tokenizers.items()}
        _tally(text, of_text, of_models, bar)
        if not of_text.n_documents:
            raise DataError(f"{text.name}: holds no text")
        of_this = [_row(name, text, of_text, made, plan.prices.get(name)) for name, made in of_models.items()]
        rank(of_this, of_models)
        rows += of_this
        for name, made in of_models.items():
            by_language[name][text.language or text.name] = made
    if plan.pivot is not None:
        _compare_languages(rows, by_language, plan.pivot)
    rows.sort(key=lambda row: plan.models.index(row.model))
    return rows


def _tally(text: CountedText, of_text: TextTally, of_models: dict[str, ModelTally], bar: Bar) -> None:
    """Tally a text by all models; the next batch is read while they count one, mostly without the interpreter lock."""
    segmenter = Segmenter()
    with ThreadPoolExecutor(_COUNTING_THREADS) as counting:
        counted: list[Future[None]] = []
        for documents in batches(text.documents()):
            batch = batch_of(documents, segmenter)
            of_text.add(batch)
            for one in counted:
                one.result()
            counted = [counting.submit(made.add, batch) for made in of_models.values()]
            bar.advance(float(batch.n_bytes.sum()), text.name)
        for one in counted:
            one.result()


def _row(name: str, text: CountedText, of_text: TextTally, made: ModelTally, price: float | None) -> EvaluationRow:
    model = made.tokenizer.model
    return EvaluationRow(
        name,
        text.name,
        text.language,
        made.tokenizer.name,
        model.vocab_size,
        model.round_trip,
        counts_of(of_text, made),
        figures_of(of_text, made),
        cost=None if price is None else int(made.tokens.sum()) * price / 1e6,
        price_per_million_tokens=price,
    )


def _compare_languages(rows: list[EvaluationRow], tallies: dict[str, dict[str, ModelTally]], pivot: str) -> None:
    """Add premiums, worst and best language, from tallies by model and language."""
    for name, by_language in tallies.items():
        found = fairness(by_language, pivot)
        for row in rows:
            if row.model == name:
                row.figures["premium"] = found.premiums[row.language or row.corpus]
                row.parallel = {"pivot": pivot, "worst_language": found.worst, "best_language": found.best}
