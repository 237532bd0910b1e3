"""Evaluate every model on every text: each text is read once, a batch at a time, and counted by all models.

Also the drift rate of sampled ids: how many lists of ids are not those that `encode` gives for their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import impls
from harness.data import DataError, load_model
from harness.evaluate.intervals import ratio
from harness.evaluate.metrics import EvaluationRow, counts_of, figures_of, rank
from harness.evaluate.tally import ModelTally, TextTally
from harness.evaluate.texts import CountedText, Segmenter, batch_of, batches
from harness.measure.token_use import TokenArray, fastest
from harness.progress import Bar
from impls.interface import Tokenizer

_COUNTING_THREADS = 2
"""Threads that count, in addition to the one that reads; a third gained nothing on two cores."""


def evaluate(
    models: Sequence[str], texts: Sequence[CountedText], prices: Mapping[str, float], pivot: str | None, bar: Bar
) -> list[EvaluationRow]:
    """Return a row for each model and text; raise `DataError` for an empty text.

    Prices are of a million tokens, by model; `pivot` is the language that others are compared with in parallel texts.
    """
    tokenizers = {name: fastest(load_model(name)) for name in models}
    token_bytes = {name: TokenArray(tokenizer.model.bytes_by_id()) for name, tokenizer in tokenizers.items()}
    rows: list[EvaluationRow] = []
    by_language: dict[str, dict[str, ModelTally]] = {name: {} for name in models}
    for text in texts:
        of_text = TextTally()
        of_models = {name: ModelTally(tokenizer, token_bytes[name]) for name, tokenizer in tokenizers.items()}
        _tally(text, of_text, of_models, bar)
        if not of_text.n_documents:
            raise DataError(f"{text.name}: contains no text")
        of_this = [_row(name, text, of_text, tally, prices.get(name)) for name, tally in of_models.items()]
        rank(of_this, of_models)
        rows += of_this
        for name, tally in of_models.items():
            by_language[name][text.language or text.name] = tally
    if pivot is not None:
        _compare_languages(rows, by_language, pivot)
    rows.sort(key=lambda row: models.index(row.model))
    return rows


def _tally(text: CountedText, of_text: TextTally, of_models: dict[str, ModelTally], bar: Bar) -> None:
    """Tally a text by all models; the next batch is read while they count one, mostly without the interpreter lock."""
    segmenter = Segmenter()
    with ThreadPoolExecutor(_COUNTING_THREADS) as counting:
        counted: Iterable[None] = ()
        for documents in batches(text.documents()):
            batch = batch_of(documents, segmenter)
            of_text.add(batch)
            list(counted)
            counted = counting.map(ModelTally.add, of_models.values(), repeat(batch))
            bar.advance(float(batch.n_bytes.sum()), text.name)
        list(counted)


def _row(name: str, text: CountedText, of_text: TextTally, tally: ModelTally, price: float | None) -> EvaluationRow:
    model = tally.tokenizer.model
    return EvaluationRow(
        name,
        text.name,
        text.language,
        tally.tokenizer.name,
        model.vocab_size,
        model.round_trip,
        counts_of(of_text, tally),
        figures_of(of_text, tally),
        cost=None if price is None else int(tally.tokens.sum()) * price / 1e6,
        price_per_million_tokens=price,
    )


def _compare_languages(rows: list[EvaluationRow], tallies: dict[str, dict[str, ModelTally]], pivot: str) -> None:
    """Add premiums, worst and best language, from tallies by model and language.

    The premium is the ratio of totals of tokens (Petrov et al. 2023, "Language Model Tokenizers Introduce Unfairness
    Between Languages"), documents resampled in all languages at once; it reflects this text and its translators as much
    as the languages.
    """
    for row in rows:
        tokens = {language: tally.tokens for language, tally in tallies[row.model].items()}
        n_documents = row.counts["n_documents"] or 0
        row.figures["premium"] = ratio(tokens[row.language or row.corpus], tokens[pivot], n_documents)
        worst, best = (extreme(tokens, key=lambda language: tokens[language].sum()) for extreme in (max, min))
        row.parallel = {"pivot": pivot, "worst_language": worst, "best_language": best}


def read_id_lists(file: Path) -> Iterator[list[int]]:
    """Yield the lists of a file of JSON Lines: a list of ids a line. Raise `DataError` naming the line."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                ids = json.loads(line)
            except ValueError as error:
                raise DataError(f"{file}, line {number}: not JSON: {error}") from None
            if not isinstance(ids, list) or not all(type(i) is int for i in ids):
                raise DataError(f"{file}, line {number}: expected a list of token ids")
            yield ids


def drift_rate(model: str, file: Path) -> dict[str, Any]:
    """Return the numbers of lists and ids of a file, and of lists that drift under `model`, with the first as example.

    `n_canonical_ids` are those before the first drift of each list.
    """
    tokenizer: Tokenizer = impls.load("compiled", load_model(model))
    row: dict[str, Any] = dict.fromkeys(("n_lists", "n_drifting", "n_ids", "n_canonical_ids"), 0)
    example: dict[str, Any] | None = None
    for ids in read_id_lists(file):
        try:
            drift = tokenizer.first_drift(ids)
        except impls.UnknownId as error:
            raise DataError(f"{file}, list {row['n_lists'] + 1}: {error}") from None
        row["n_lists"] += 1
        row["n_ids"] += len(ids)
        row["n_canonical_ids"] += len(ids) if drift is None else drift.position
        row["n_drifting"] += drift is not None
        if drift is not None and example is None:
            example = {"list": row["n_lists"], "position": drift.position, "given": ids[drift.position :][:8]}
            example["encode"] = drift.ids[:8]
    if not row["n_lists"]:
        raise DataError(f"{file}: contains no list of ids")
    return {"model": model, **row, "rate": row["n_drifting"] / row["n_lists"], "example": example}
