"""A sweep as a JSON document, CSV and text tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from harness.evaluate.intervals import Figure, plain_cells
from harness.evaluate.sweep import LEAST_SAVED, SweepPlan, SweepResult, SweepRow
from harness.printable import printable
from harness.report.round_trips import named
from harness.report.table import Table, table_of
from harness.report.wording import percent
from impls.core.errors import plural

_FIGURES = ("bytes_per_token", "relative_tokens")
CSV_COLUMNS = tuple(plain_cells({one.name: Figure(None) if one.name in _FIGURES else None for one in fields(SweepRow)}))


def about(plan: SweepPlan, found: SweepResult) -> dict[str, Any]:
    """Return what JSON says besides the rows."""
    return {
        "sizes": list(plan.sizes),
        "width": plan.width,
        "price_per_million_tokens": plan.price,
        "baseline": plan.models[0] if plan.models else None,
        "least_saved": LEAST_SAVED,
        "doublings": found.doublings,
        "unreached": found.unreached,
    }


def table(plan: SweepPlan, found: SweepResult) -> Table:
    """Return the table of sizes."""
    one = found.rows[0] if found.rows else None
    shown = {"text_share": len(plan.shares) > 1, "relative_tokens": bool(plan.models)}
    shown["cost_per_megabyte"] = plan.price is not None
    return table_of(
        "sweep",
        [asdict(row) | {"vocabulary": _label(row)} for row in found.rows],
        without=[key for key, is_shown in shown.items() if not is_shown],
        what=""
        if one is None
        else f"{printable(one.held_out)}: {plural(one.n_documents, 'document')}, {one.n_bytes:,} bytes",
        first=printable(plan.models[0]) if plan.models else "",
    )


def findings(plan: SweepPlan, found: SweepResult) -> Iterator[str]:
    """Yield the findings as sentences: against the first published vocabulary, doublings, sizes not reached."""
    whole = [row for row in found.rows if row.model is None and row.text_share == plan.shares[-1]]
    for pattern in dict.fromkeys(row.pattern for row in whole if plan.models):
        yield against([row for row in whole if row.pattern == pattern], plan.models[0])
    yield from map(doubled, found.doublings)
    yield from map(missing_sizes, found.unreached)


def doubled(doubling: dict[str, Any]) -> str:
    """Return from which size on twice as many ids save too little, or that they still save enough."""
    size, low, high = doubling["vocab_size"], doubling["low"], doubling["high"]
    bounds = "" if low is None else f" (95 % {100 * low:.1f}–{100 * high:.1f})"
    saved = f"{percent(doubling['saved'])} of the tokens{bounds}, from {size:,} to {2 * size:,}"
    least = percent(LEAST_SAVED)
    if doubling["too_little"]:
        return f"{_of(doubling)}: from about {size:,} ids on, twice as many save less than {least}: {saved}"
    return f"{_of(doubling)}: twice as many ids still save {least} or more: {saved}"


def missing_sizes(missed: dict[str, Any]) -> str:
    """Return which sizes were not reached, and why."""
    sizes = ", ".join(f"{size:,}" for size in missed["sizes"])
    return f"{_of(missed)}: not reached: {sizes} ids; {missed['largest']:,} are all there are: {missed['why']}"


def against(rows: Sequence[SweepRow], baseline: str) -> str:
    """Return from which size on a vocabulary trained here takes fewer tokens than a published one, or why none does.

    `rows` are its sizes on one text, ascending. A size counts only if the interval excludes 1.
    """
    first, last = rows[0], rows[-1]
    than = f"tokens than {printable(baseline)} on {printable(last.held_out)}"
    shares = {row.vocab_size: _share_of(row.relative_tokens, row.vocab_size) for row in rows}
    fewer = [row for row in rows if row.relative_tokens.high is not None and row.relative_tokens.high < 1]
    trained = f"trained here, {printable(last.pattern)}:"
    if last.relative_tokens.high is None:
        return (
            f"{trained} of a single document it cannot be claimed which takes fewer {than}: {shares[last.vocab_size]}"
        )
    if not fewer:
        sure = "is sure to take" if last.relative_tokens.low is not None and last.relative_tokens.low <= 1 else "takes"
        return (
            f"{trained} no size here {sure} fewer {than}: {shares[last.vocab_size]}; it was trained on "
            f"{last.n_trained_bytes:,} bytes"
        )
    least = fewer[0]
    or_more = " and more" if least is not last else ""
    found = ", ".join(shares[size] for size in dict.fromkeys((least.vocab_size, last.vocab_size)))
    smaller = "" if least is first else "; smaller ones here are too small for that"
    return f"{trained} {least.vocab_size:,} ids{or_more} take fewer {than}: {found}{smaller}"


def _share_of(figure: Figure, size: int) -> str:
    bounds = "" if figure.low is None else f" (95 % {figure.low:.3f}–{figure.high:.3f})"
    return f"{figure.value:.3f} times as many{bounds} at {size:,}"


def _label(row: SweepRow) -> str:
    if row.model is None:
        return f"trained here, {printable(row.pattern)}"
    return named(printable(row.model), row.round_trip or "")


def _of(about: dict[str, Any]) -> str:
    return f"{printable(about['pattern'])}, {percent(about['text_share'])} of the text"
