"""Rows of an evaluation as a JSON document, CSV, LaTeX and text tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from harness.evaluate.intervals import Figure
from harness.evaluate.metrics import COUNTS, FIGURES, Row
from harness.evaluate.prices import Prices
from harness.printable import printable

_PER_DOCUMENT = "tokens_per_document_"
_LANGUAGES = ("pivot", "worst_language", "best_language")
_HEAD = ("model", "corpus", "language")
_TAIL = ("round_trip", "rank", "cost", "price_per_million_tokens", "implementation", "vocab_size")
CSV_COLUMNS = (
    *_HEAD,
    *COUNTS,
    *(f"{name}{bound}" for name in FIGURES for bound in ("", "_low", "_high")),
    *_LANGUAGES,
    *_TAIL,
    "trained_on_share",
)
_SHOWN = {
    "bytes_per_token": "bytes/token",
    "fertility": "tokens/word",
    "continued_word_share": "cut words",
    "single_token_word_share": "1-token words",
    "renyi_efficiency": "Rényi",
    "vocabulary_used": "vocab used",
    "nsl": "NSL",
}
"""Figures of the text tables and of LaTeX -> their headings; the others are in JSON and CSV."""


def document(rows: Sequence[Row], prices: Prices, baseline: str | None) -> dict[str, Any]:
    """Return all rows as one JSON object; `intervals` holds [low, high] of each figure that has an interval."""
    return {
        "price_per_million_tokens": prices.default,
        "currency": prices.currency,
        "price_date": prices.date,
        "baseline": baseline,
        "confidence": 0.95,
        "rows": [_json_row(row) for row in rows],
    }


def _json_row(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(row, name) for name in _HEAD} | row.counts
    per_document = {}
    for name, figure in row.figures.items():
        if name.startswith(_PER_DOCUMENT):
            per_document[name.removeprefix(_PER_DOCUMENT)] = figure.value
            found["tokens_per_document"] = per_document
        else:
            found[name] = figure.value
    found |= {name: row.parallel.get(name) for name in _LANGUAGES}
    found |= {name: getattr(row, name) for name in (*_TAIL, "training_overlap")}
    bounds = {name: [f.low, f.high] for name, f in row.figures.items() if (f.low, f.high) != (None, None)}
    return found | {"intervals": bounds}


def plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as in CSV, by `CSV_COLUMNS`: strings printable, what is not known None."""
    found = []
    for row in rows:
        bounds = [cell for name in FIGURES for cell in row.figures[name]]
        languages = [row.parallel.get(name) for name in _LANGUAGES]
        overlap = None if row.training_overlap is None else row.training_overlap["share"]
        cells = [*(getattr(row, name) for name in _HEAD), *row.counts.values(), *bounds, *languages]
        cells += [*(getattr(row, name) for name in _TAIL), overlap]
        written = [printable(cell) if isinstance(cell, str) else cell for cell in cells]
        found.append(dict(zip(CSV_COLUMNS, written, strict=True)))
    return found


def csv_text(rows: Sequence[Row]) -> str:
    """Return the rows as CSV with a header; what is not known is an empty cell."""
    return csv_of(CSV_COLUMNS, plain(rows))


def csv_of(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """Return plain rows as CSV with a header."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    return target.getvalue()


def latex(rows: Sequence[Row]) -> str:
    """Return the rows as a `tabular` for the package booktabs, each figure ± half its interval's width."""
    headers, cells = _languages_table(rows) if _are_parallel(rows) else _table(rows)
    comments = [_fairness_title(row) for row in {row.model: row for row in rows}.values() if row.parallel]
    return booktabs(headers, cells, comments)


def booktabs(headers: Sequence[str], cells: Sequence[Sequence[str]], comments: Sequence[str] = ()) -> str:
    """Return a `tabular` for the package booktabs, after comments."""
    from tabulate import tabulate

    body = tabulate(cells, headers=headers, tablefmt="latex_booktabs", disable_numparse=True)
    every = ["95 % intervals; needs \\usepackage{booktabs}", *comments]
    return "".join(f"% {comment}\n" for comment in every) + f"{body}\n"


def _are_parallel(rows: Sequence[Row]) -> bool:
    return any(row.parallel for row in rows)


def tables(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return title, headers and cells of each table: one per corpus, or per model where corpora are parallel."""
    found = []
    parallel = _are_parallel(rows)
    for title in dict.fromkeys(row.model if parallel else row.corpus for row in rows):
        some = [row for row in rows if title == (row.model if parallel else row.corpus)]
        if parallel:
            found.append((_fairness_title(some[0]), *_languages_table(some)))
        else:
            some.sort(key=lambda row: (row.rank is None, row.counts["n_tokens"]))
            found.append((_title(some[0]), *_table(some)))
    return found


def _table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    several = len({row.corpus for row in rows}) > 1
    shown = [name for name in _SHOWN if any(row.figures[name].value is not None for row in rows)]
    costs = any(row.cost is not None for row in rows)
    headers = ["corpus"] * several + ["model", "vocab", "tokens", "rank"]
    headers += [*(_SHOWN[name] for name in shown), *["cost"] * costs]
    cells = []
    for row in rows:
        line = [printable(row.corpus)] * several + [label(row), f"{row.vocab_size:,}", f"{row.counts['n_tokens']:,}"]
        line += [_or_dash(row.rank), *(plus_minus(row.figures[name]) for name in shown)]
        cells.append(line + ["—" if row.cost is None else f"{row.cost:.6f}"] * costs)
    return headers, cells


def _languages_table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    several = len({row.model for row in rows}) > 1
    names = ("premium", "tokens_per_document_mean", "bytes_per_token", "fertility")
    cells = []
    for row in sorted(rows, key=lambda row: (row.model, row.counts["n_tokens"])):
        line = [label(row)] * several + [printable(row.language or row.corpus), f"{row.counts['n_tokens']:,}"]
        cells.append(line + [plus_minus(row.figures[name]) for name in names])
    headers = ["language", "tokens", "premium", "tokens/document", "bytes/token", "tokens/word"]
    return ["model"] * several + headers, cells


def _title(row: Row) -> str:
    language = "" if row.language is None else f" ({printable(row.language)})"
    n_documents, n_bytes = row.counts["n_documents"], row.counts["n_bytes"]
    return f"{printable(row.corpus)}{language}: {n_documents:,} documents, {n_bytes:,} bytes"


def _fairness_title(row: Row) -> str:
    about = row.parallel
    return (
        f"{label(row)}: Gini {plus_minus(row.figures['gini'])}, worst {printable(about['worst_language'])}, "
        f"best {printable(about['best_language'])}; premiums against {printable(about['pivot'])}"
    )


def label(row: Row) -> str:
    """Return the name of a model with its round trip, and what it was trained on."""
    overlap = row.training_overlap
    trained = f" (trained on {overlap['share']:.0%} of it)" if overlap is not None and overlap["n_trained_on"] else ""
    return printable(row.model) + ("" if row.round_trip == "exact" else f" ({row.round_trip})") + trained


def plus_minus(figure: Figure) -> str:
    """Return a figure and half the width of its interval, `?` where it has none."""
    if figure.value is None:
        return "—"
    if figure.low is None or figure.high is None:
        return f"{_or_dash(figure.value)} ± ?"
    return f"{_or_dash(figure.value)} ± {(figure.high - figure.low) / 2:.2g}"


def _or_dash(value: float | None) -> str:
    return "—" if value is None else str(value) if isinstance(value, int) else f"{value:.4g}"
