"""A page to keep with a decision: what was compared, on which text, what came out, and what that does not say."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence

from harness.evaluate.metrics import Row
from harness.evaluate.output import label, plus_minus, tables
from harness.evaluate.prices import Prices
from harness.printable import printable

CAVEATS = (
    "Fewer tokens are cheaper and faster; they do not say how well a model trained on them works (Goldman et al. 2024, "
    "Schmidt et al. 2024).",
    "Figures hold for text like this one. Each interval covers the choice of documents, not that of the corpus.",
    "Bytes and tokens per word are not comparable between languages; premiums of parallel text are, up to how long a "
    "translation is.",
)
_MOST_FINDINGS = 12
_MOST_ROWS = 30
"""Rows of a table that fit on a page; all of them are in the CSV."""


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
            about, gini = row.parallel, plus_minus(row.figures["gini"])
            some = {one.language or one.corpus: one.figures["premium"] for one in rows if one.model == row.model}
            worst = about["worst_language"] or ""
            yield (
                f"{label(row)}: {worst} pays most, {plus_minus(some[worst])} times what {about['pivot']} pays; "
                f"{about['best_language']} pays least; Gini coefficient {gini}"
            )
        return
    for corpus in dict.fromkeys(row.corpus for row in rows):
        ranked = sorted((row for row in rows if row.corpus == corpus and row.rank), key=lambda row: row.rank or 0)
        if ranked:
            best = ranked[0]
            yield (
                f"{corpus}: {label(best)} takes the fewest tokens, {best.counts['n_tokens']:,} "
                f"({plus_minus(best.figures['bytes_per_token'])} bytes a token)"
            )
        for row in (row for row in rows if row.corpus == corpus and row.rank is None):
            yield f"{corpus}: {label(row)} does not give the text back, so it is not ranked"


def _inline(text: object) -> str:
    """Return text from outside on one line of Markdown, without the marks that would end a cell or begin HTML."""
    return printable(text).replace("|", "\\|").replace("<", "&lt;")
