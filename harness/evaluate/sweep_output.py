"""A sweep as a JSON document, CSV and text tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from harness.evaluate.intervals import Figure
from harness.evaluate.sweep import LEAST_SAVED, SweepPlan, SweepResult, SweepRow
from harness.printable import printable
from harness.report.round_trips import named
from harness.report.table import Table, table_of
from harness.report.wording import percent
from impls.core.errors import plural

NO_ROW = {field.name: Figure(None) if field.type == "Figure" else None for field in fields(SweepRow)}
"""A row without values."""


def about(plan: SweepPlan, result: SweepResult) -> dict[str, Any]:
    """Return what JSON has in addition to the rows."""
    return {
        "sizes": list(plan.sizes),
        "width": plan.width,
        "price_per_million_tokens": plan.price,
        "baseline": plan.models[0] if plan.models else None,
        "least_saved": LEAST_SAVED,
        "doublings": result.doublings,
        "unreached": result.unreached,
    }


def table(plan: SweepPlan, result: SweepResult) -> Table:
    """Return the table of sizes."""
    texts = (f"{printable(r.held_out)}: {plural(r.n_documents, 'document')}, {r.n_bytes:,} bytes" for r in result.rows)
    return table_of(
        "sweep",
        [asdict(row) | {"vocabulary": _label(row)} for row in result.rows],
        without=() if len(plan.shares) > 1 else ("text_share",),
        what=next(texts, ""),
        first="".join(map(printable, plan.models[:1])),
    )


def findings(plan: SweepPlan, result: SweepResult) -> Iterator[str]:
    """Yield the findings as sentences: against the first published vocabulary, doublings, sizes not reached."""
    learned = [row for row in result.rows if row.model is None and row.text_share == plan.shares[-1]]
    for pattern in dict.fromkeys(row.pattern for row in learned if plan.models):
        yield against([row for row in learned if row.pattern == pattern], plan.models[0])
    yield from map(doubled, result.doublings)
    yield from map(missing_sizes, result.unreached)


def doubled(doubling: dict[str, Any]) -> str:
    """Return from which size on twice as many ids save too little, or that they still save enough."""
    size, low, high = doubling["vocab_size"], doubling["low"], doubling["high"]
    bounds = "" if low is None else f" (95 % {100 * low:.1f}–{100 * high:.1f})"
    saved = f"{percent(doubling['saved'])} of the tokens{bounds}, from {size:,} to {2 * size:,}"
    least = percent(LEAST_SAVED)
    if doubling["too_little"]:
        return f"{_of(doubling)}: from about {size:,} ids on, doubling the vocabulary saves less than {least}: {saved}"
    return f"{_of(doubling)}: doubling the vocabulary still saves {least} or more: {saved}"


def missing_sizes(missed: dict[str, Any]) -> str:
    """Return which sizes were not reached, and why."""
    sizes = ", ".join(f"{size:,}" for size in missed["sizes"])
    return f"{_of(missed)}: not reached: {sizes} ids; the text gives only {missed['largest']:,}: {missed['why']}"


def against(rows: Sequence[SweepRow], baseline: str) -> str:
    """Return from which size on a vocabulary trained here takes fewer tokens than a published one, or why none does.

    `rows` are its sizes on one text, ascending. A size counts only if the interval excludes 1.
    """
    last = rows[-1]
    fewer = [row for row in rows if row.relative_tokens.high is not None and row.relative_tokens.high < 1]
    shown, note = [last], ""
    if last.relative_tokens.low is None:
        claim = "a single document does not show which size takes"
    elif not fewer:
        claim = f"no size here {'certainly takes' if last.relative_tokens.low <= 1 else 'takes'}"
        note = f"; it was trained on {last.n_trained_bytes:,} bytes"
    else:
        shown = fewer[:1] if fewer[0] is last else [fewer[0], last]
        claim = f"{fewer[0].vocab_size:,} ids {'take' if fewer[0] is last else 'and more take'}"
        note = "" if fewer[0] is rows[0] else "; smaller ones do not"
    shares = ", ".join(_share_of(row.relative_tokens, row.vocab_size) for row in shown)
    than = f"tokens than {printable(baseline)} on {printable(last.held_out)}"
    return f"trained here, {printable(last.pattern)}: {claim} fewer {than}: {shares}{note}"


def _share_of(figure: Figure, size: int) -> str:
    bounds = "" if figure.low is None else f" (95 % {figure.low:.3f}–{figure.high:.3f})"
    return f"{figure.value:.3f} times as many{bounds} at {size:,}"


def _label(row: SweepRow) -> str:
    learned = f"trained here, {printable(row.pattern)}"
    return learned if row.model is None else named(printable(row.model), row.round_trip)


def _of(about: dict[str, Any]) -> str:
    return f"{printable(about['pattern'])}, {percent(about['text_share'])} of the text"
