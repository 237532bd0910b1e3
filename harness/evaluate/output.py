"""Rows of an evaluation as cells and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from harness.evaluate.metrics import EvaluationRow
from harness.grouping import grouped
from harness.printable import printable
from harness.report.round_trips import named
from harness.report.table import Table, table_of
from harness.report.wording import percent, plus_minus
from impls.core.errors import plural

_LANGUAGES = ("pivot", "worst_language", "best_language")
_HEAD = ("model", "corpus", "language")
_TAIL = ("round_trip", "rank", "cost", "price_per_million_tokens", "implementation", "vocab_size")


def cells(row: EvaluationRow) -> dict[str, Any]:
    """Return the row by name, in the order of CSV."""
    languages = {name: row.parallel.get(name) for name in _LANGUAGES}
    head, tail = ({name: getattr(row, name) for name in names} for names in (_HEAD, _TAIL))
    return head | row.counts | row.figures | languages | tail


def tables(rows: Sequence[EvaluationRow]) -> list[Table]:
    """Return a table of each corpus, fewest tokens first, or of each model if the corpora are parallel."""
    if any(row.parallel for row in rows):
        of_models = grouped(sorted(rows, key=lambda row: row.counts["n_tokens"] or 0), lambda row: row.model)
        return [_languages_table(of_models[row.model]) for row in {row.model: row for row in rows}.values()]
    return [_corpus_table(some) for some in grouped(rows, lambda row: row.corpus).values()]


def _corpus_table(rows: Sequence[EvaluationRow]) -> Table:
    rows = sorted(rows, key=lambda row: (row.rank is None, row.counts["n_tokens"] or 0))
    first = rows[0]
    language = "" if first.language is None else f" ({printable(first.language)})"
    n_documents, n_bytes = first.counts["n_documents"] or 0, first.counts["n_bytes"] or 0
    return table_of(
        "evaluation",
        [_table_row(row) for row in rows],
        what=f"{printable(first.corpus)}{language}: {plural(n_documents, 'document')}, {n_bytes:,} bytes",
        finding="".join(f"\n{line}." for line in _compared(rows)),
        cost="" if all(row.cost is None for row in rows) else " Cost: of this text, in the currency of the price.",
        lossy=" A lossy vocabulary is not ranked: it keeps less of the text." if rows[-1].rank is None else "",
    )


def _table_row(row: EvaluationRow) -> dict[str, Any]:
    n_tokens = row.counts["n_tokens"] or 0
    fewest = row.figures["tokens_over_fewest"]
    mark = "≈ " if fewest.low is not None and fewest.low <= 1 else ""
    return {
        "model": label(row), "vocab_size": row.vocab_size, "n_tokens": n_tokens,
        "over_fewest": "1" if row.rank == 1 else mark + plus_minus(fewest) if row.rank else None,
        "per_1000": 1000 * n_tokens / (row.counts["n_documents"] or 1), "p95": row.figures["tokens_per_document_p95"],
        **{key: row.figures[key] for key in ("bytes_per_token", "fertility", "continued_word_share")},
        "cost": row.cost,
    }  # fmt: skip


def _languages_table(rows: Sequence[EvaluationRow]) -> Table:
    first = rows[0]
    names = ("premium", "tokens_per_document_mean", "bytes_per_token", "fertility")
    worst, best = (" and ".join(map(printable, _paying(rows, extreme))) for extreme in (max, min))
    paid = "all languages pay the same" if worst == best else f"worst {worst}, best {best}"
    return table_of(
        "evaluation-languages",
        [
            {"language": row.language or row.corpus, "n_tokens": row.counts["n_tokens"]}
            | {name: row.figures[name] for name in names}
            for row in rows
        ],
        what=f"{label(first)}: {paid}; premiums against {printable(first.parallel['pivot'])}",
    )


def _paying(rows: Sequence[EvaluationRow], extreme: Callable[[Iterable[int]], int]) -> list[str]:
    """Return the languages of a model that take the most tokens, or the fewest (`max` or `min`)."""
    totals = {row.language or row.corpus: row.counts["n_tokens"] or 0 for row in rows}
    return [language for language, total in totals.items() if total == extreme(totals.values())]


def label(row: EvaluationRow) -> str:
    """Return the name of a model with its round trip."""
    return named(printable(row.model), row.round_trip)


def _compared(rows: Sequence[EvaluationRow]) -> Iterator[str]:
    """Yield how many fewer tokens the first vocabulary takes than the next; `rows` are of one corpus, fewest first."""
    ranked = [row for row in rows if row.rank]
    if len(ranked) < 2:
        return
    (best, other), times = ranked[:2], ranked[1].figures["tokens_over_fewest"]
    if times.value is None or times.low is None or times.high is None:
        share = "" if times.value is None else f"{percent(1 - 1 / times.value)} "
        claim = f"{label(best)} takes {share}fewer tokens than {label(other)} here"
        yield f"{claim}; a single document does not show whether it does in general"
    elif times.low <= 1:
        yield f"{label(best)} and {label(other)} take about as many tokens (≈ {plus_minus(times)})"
    else:
        fewer, low, high = (1 - 1 / value for value in (times.value, times.low, times.high))
        bounds = f"95 % {100 * low:.1f}–{100 * high:.1f}"
        yield f"{label(best)} takes {percent(fewer)} fewer tokens than {label(other)} ({bounds})"


def morphology_tables(rows: Sequence[dict[str, Any]]) -> Iterator[Table]:
    """Yield a table for each gold file and context, the highest F1 first and lossy vocabularies last."""
    for (file, context), some in grouped(rows, itemgetter("words", "context")).items():
        some.sort(key=lambda row: (row["round_trip"] == "lossy", -(row["f1"].value or 0)))
        lossy = " A lossy vocabulary comes last; the words it does not keep are left out of its figures."
        yield table_of(
            "morphology",
            [row | {"model": named(printable(row["model"]), row["round_trip"])} for row in some],
            without=() if any(row["n_left_out"] for row in some) else ("n_left_out",),
            what=f"{printable(file)}: words {context}",
            lossy=lossy if some[-1]["round_trip"] == "lossy" else "",
        )
