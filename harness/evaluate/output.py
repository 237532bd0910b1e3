"""Rows of an evaluation as a JSON document, CSV, LaTeX, text tables, and a page to keep with a decision."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.evaluate.intervals import Figure
from harness.evaluate.metrics import Row
from harness.evaluate.prices import Prices
from harness.printable import printable

_PER_DOCUMENT = "tokens_per_document_"
_LANGUAGES = ("pivot", "worst_language", "best_language")
_HEAD = ("model", "corpus", "language")
_TAIL = (
    *("round_trip", "rank", "cost", "price_per_million_tokens", "implementation", "vocab_size"),
    "megabytes_per_second",
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
"""Figures of the text tables and of LaTeX -> their headings; JSON and CSV have more."""


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


def _cells(row: Row) -> dict[str, Any]:
    languages = {name: row.parallel.get(name) for name in _LANGUAGES}
    head, tail = ({name: getattr(row, name) for name in names} for names in (_HEAD, _TAIL))
    return head | row.counts | row.figures | languages | tail


def _json_row(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in json_cells(_cells(row)).items():
        if name.startswith(_PER_DOCUMENT):
            found.setdefault("tokens_per_document", {})[name.removeprefix(_PER_DOCUMENT)] = cell
        else:
            found[name] = cell
    return found


def json_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells with the value of each figure in its place, and `intervals`: [low, high] of those that have one."""
    figures = {name: cell for name, cell in cells.items() if isinstance(cell, Figure)}
    bounds = {name: [one.low, one.high] for name, one in figures.items() if (one.low, one.high) != (None, None)}
    return {**cells, **{name: one.value for name, one in figures.items()}, "intervals": bounds}


def plain_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return cells for CSV and charts: a figure is followed by its `_low` and `_high`, and strings are printable."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        if isinstance(cell, Figure):
            found |= {name: cell.value, f"{name}_low": cell.low, f"{name}_high": cell.high}
        else:
            found[name] = printable(cell) if isinstance(cell, str) else cell
    return found


def plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as in CSV; unknown values are None."""
    return [plain_cells(_cells(row)) for row in rows]


def csv_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return plain rows as CSV with a header (`columns` if there are no rows); None is an empty cell."""
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]) if rows else columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def latex(rows: Sequence[Row]) -> str:
    """Return the rows as a `tabular` for the LaTeX package booktabs, each figure ± half its interval's width."""
    headers, cells = _languages_table(rows) if _are_parallel(rows) else _table(rows)
    models = dict.fromkeys(row.model for row in rows if row.parallel)
    comments = [_fairness_title([row for row in rows if row.model == name]) for name in models]
    return booktabs(headers, cells, comments)


def booktabs(headers: Sequence[str], cells: Sequence[Sequence[str]], comments: Sequence[str] = ()) -> str:
    """Return a `tabular` for the LaTeX package booktabs, after comments."""
    from tabulate import tabulate

    body = tabulate(cells, headers=headers, tablefmt="latex_booktabs", disable_numparse=True)
    every = ["95 % intervals; needs \\usepackage{booktabs}", *comments]
    return "".join(f"% {comment}\n" for comment in every) + f"{body}\n"


def _are_parallel(rows: Sequence[Row]) -> bool:
    return any(row.parallel for row in rows)


def tables(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return title, headers and cells of each table: one per corpus, or per model if corpora are parallel."""
    found = []
    parallel = _are_parallel(rows)
    for title in dict.fromkeys(row.model if parallel else row.corpus for row in rows):
        some = [row for row in rows if title == (row.model if parallel else row.corpus)]
        if parallel:
            found.append((_fairness_title(some), *_languages_table(some)))
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


def _fairness_title(rows: Sequence[Row]) -> str:
    worst, best = (" and ".join(map(printable, _paying(rows, extreme))) for extreme in (max, min))
    paid = "all languages pay the same" if worst == best else f"worst {worst}, best {best}"
    gini, pivot = plus_minus(rows[0].figures["gini"]), printable(rows[0].parallel["pivot"])
    return f"{label(rows[0])}: Gini {gini}, {paid}; premiums against {pivot}"


def _paying(rows: Sequence[Row], extreme: Callable[[Iterable[int]], int]) -> list[str]:
    """Return the languages of a model that take the most tokens, or the fewest (`max` or `min`)."""
    totals = {row.language or row.corpus: row.counts["n_tokens"] or 0 for row in rows}
    return [language for language, total in totals.items() if total == extreme(totals.values())]


def label(row: Row) -> str:
    """Return the name of a model with its round trip."""
    return printable(row.model) + ("" if row.round_trip == "exact" else f" ({row.round_trip})")


def plus_minus(figure: Figure) -> str:
    """Return a figure and half the width of its interval, `?` if it has none."""
    if figure.value is None:
        return "—"
    if figure.low is None or figure.high is None:
        return f"{_or_dash(figure.value)} ± ?"
    return f"{_or_dash(figure.value)} ± {(figure.high - figure.low) / 2:.2g}"


def _or_dash(value: float | None) -> str:
    return "—" if value is None else str(value) if isinstance(value, int) else f"{value:.4g}"


CAVEATS = (
    "Fewer tokens are cheaper and faster; they do not say how well a model trained on them works (Goldman et al. 2024, "
    "Schmidt et al. 2024).",
    "Figures hold for text like this one. Each interval covers the choice of documents, not that of the corpus.",
    "Bytes and tokens per word are not comparable between languages; premiums of parallel text are, up to how long a "
    "translation is.",
)
_MOST_FINDINGS = 12
_MOST_ROWS = 30
"""Most rows of a table on a page; the CSV has all of them."""


def decision(rows: Sequence[Row], prices: Prices, command: str, charts: Sequence[str]) -> str:
    """Return the page of an evaluation as Markdown; `charts` are the names of files without `-light.svg`."""
    said = list(_findings(rows))
    said += [
        f"Cost: {prices.currency or 'currency of the price'}, prices of {prices.date or 'an unknown date'}."
    ] * any(row.cost is not None for row in rows)
    return page("Which vocabulary", command, said, tables(rows), charts)


def page(
    title: str,
    command: str,
    findings: Iterable[str],
    tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]],
    charts: Sequence[str],
) -> str:
    """Return a page of Markdown: title, findings, tables of at most 30 rows each, charts, caveats, command."""
    from tabulate import tabulate

    parts = [f"# {title}", f"Measured on {datetime.date.today().isoformat()}. Decision: (to be written)", "## Findings"]
    lines = [f"- {_inline(line)}" for line in findings]
    more = [f"- and {len(lines) - _MOST_FINDINGS} more, which the command prints"] * (len(lines) > _MOST_FINDINGS)
    parts.append("\n".join([*lines[:_MOST_FINDINGS], *more]))
    for heading, headers, cells in tables:
        parts.append(f"## {_inline(heading)}")
        shown = [[_inline(cell) for cell in line] for line in cells[:_MOST_ROWS]]
        parts.append(tabulate(shown, headers=list(map(_inline, headers)), tablefmt="github", disable_numparse=True))
        if len(cells) > _MOST_ROWS:
            parts.append(f"The first {_MOST_ROWS} of {len(cells)} rows; the CSV has all of them.")
    parts += [f"![{name}]({name}-light.svg)" for name in charts]
    parts += ["## What this does not say", "\n".join(f"- {line}" for line in CAVEATS)]
    parts += ["## Made by", f"```\n{printable(command)}\n```"]
    return "\n\n".join(parts) + "\n"


def _findings(rows: Sequence[Row]) -> Iterable[str]:
    if any(row.parallel for row in rows):
        for row in {row.model: row for row in rows}.values():
            some = [one for one in rows if one.model == row.model]
            worst, best = (_paying(some, extreme) for extreme in (max, min))
            paid = "all languages pay the same"
            if worst != best:
                premium = next(one.figures["premium"] for one in some if (one.language or one.corpus) == worst[0])
                times = f"{plus_minus(premium)} times what {row.parallel['pivot']} pays"
                paid = f"{_do(worst, 'pay')} most, {times}; {_do(best, 'pay')} least"
            yield f"{label(row)}: {paid}; Gini coefficient {plus_minus(row.figures['gini'])}"
        return
    for corpus in dict.fromkeys(row.corpus for row in rows):
        ranked = sorted((row for row in rows if row.corpus == corpus and row.rank), key=lambda row: row.rank or 0)
        if ranked:
            first = [label(row) for row in ranked if row.rank == 1]
            yield (
                f"{corpus}: {_do(first, 'take')} the fewest tokens, {ranked[0].counts['n_tokens']:,} "
                f"({plus_minus(ranked[0].figures['bytes_per_token'])} bytes a token)"
            )
        for row in (row for row in rows if row.corpus == corpus and row.rank is None):
            yield f"{corpus}: {label(row)} does not give the text back, so it is not ranked"


def _do(names: Sequence[str], verb: str) -> str:
    """Return names and what they do: `a takes`, `a and b take`."""
    return f"{' and '.join(names)} {verb}{'s' if len(names) == 1 else ''}"


def _inline(text: object) -> str:
    """Return external text on one line of Markdown, without characters that would end a cell or begin HTML."""
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
