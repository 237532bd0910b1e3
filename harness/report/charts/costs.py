"""Charts of what texts cost: premiums of languages, and prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report import wording
from harness.report.charts import plots
from harness.report.charts.chart import Chart
from harness.report.round_trips import named
from harness.report.table import Row

_SECTION = "cost"
_MOST_NAMED = 12
"""Most rows named in the sentence about a chart."""


def premium_chart(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield the premium of each language under each model, the most expensive first, if the text is parallel.

    Rows have `model, language, corpus, round_trip, pivot, premium, premium_low, premium_high`.
    """
    dots = [
        dot(row["language"] or row["corpus"], _named(row), *(row[f"premium{end}"] for end in ("", "_low", "_high")))
        for row in rows
        if row["premium"] is not None
    ]
    if not dots:
        return
    first = {dot["name"]: dot["value"] for dot in reversed(dots)}
    dots.sort(key=lambda dot: -first[dot["name"]])
    pivot = next(row["pivot"] for row in rows if row["pivot"])
    unit = f"tokens, {pivot} = 1"
    yield Chart(
        name="premium",
        section=_SECTION,
        title="What each language pays",
        subtitle=f"tokens of the same text against those of {pivot}, 95 % interval over documents · lower is better",
        alternative=in_words("Premium by language", dots),
        spec=plots.ranges(dots, unit),
    )


def cost_chart(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield the cost of each text under each model that has a price, the cheapest first.

    Rows have `model, corpus, round_trip, cost`.
    """
    pairs = [(_named(row), str(row["corpus"]), row["cost"]) for row in rows if row["cost"] is not None]
    if not pairs:
        return
    # Few names are distinguished by colour and shape; many get a line each.
    by_corpus = len({corpus for _, corpus, _ in pairs}) > len({model for model, _, _ in pairs})
    dots = [
        dot(*((corpus, model) if by_corpus else (model, corpus)), cost, None, None) for model, corpus, cost in pairs
    ]
    dots.sort(key=lambda dot: float(dot["value"]))
    unit = "currency of the price"
    yield Chart(
        name="cost",
        section=_SECTION,
        title="What the text costs",
        subtitle=f"all of it as input, {unit} · lower is better",
        alternative=in_words(f"Cost in {unit}", dots),
        spec=plots.ranges(dots, unit),
    )


def dot(name: str, series: str, value: float, low: float | None, high: float | None) -> Row:
    """Return a row of `plots.ranges`."""
    figure = wording.figure(value)
    if low is not None and high is not None:
        figure += f" ({wording.figure(low)}–{wording.figure(high)})"
    shown = {"name": wording.text(name), "series": wording.text(series), "figure": figure}
    return {"value": value, "low": low, "high": high, **shown}


def _named(row: Row) -> str:
    return named(str(row["model"]), row["round_trip"])


def in_words(what: str, dots: Sequence[Row]) -> str:
    """Describe the first figures in a sentence."""
    several = len({dot["series"] for dot in dots}) > 1
    said = [f"{dot['name']}{' ' + dot['series'] if several else ''} {dot['figure']}".strip() for dot in dots]
    more = f" and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
    return f"{what}: {', '.join(said[:_MOST_NAMED])}{more}."
