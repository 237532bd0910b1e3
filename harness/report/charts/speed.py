"""The chart of speed that a README shows; of single workloads the page of a run draws what one chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report import wording
from harness.report.charts import plots
from harness.report.charts.chart import IMAGE_ONLY, Chart
from harness.report.table import Row, grouped
from harness.report.tables import speed

_MOST_PANELS = 4


def overview_chart(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield the plain encoding workloads that may be cited in one image, for a README."""
    may_be_cited = [row for row in rows if row["floor"] is None or row["citable"]]
    plain = [row for row in may_be_cited if row["task"] == "encode" and row["state"] == "new text"]
    plain = [row for row in plain if not row["corpus"].startswith("gen/")]
    timed = list(dict.fromkeys(row["workload"] for row in plain if row["median"] is not None))[:_MOST_PANELS]
    if not timed:
        return
    names = _named([row for row in plain if row["workload"] in timed])
    chosen = [_dot(row) for row in plain if row["workload"] in timed and row["implementation"] in names]
    leaders = "; ".join(
        f"{workload}: " + ", ".join(f"{row['implementation']} {row['figure']}" for row in some[:_N_LEADERS])
        for workload, some in grouped((row for row in chosen if row["median"]), lambda row: row["workload"]).items()
    )
    yield Chart(
        name="throughput",
        section=IMAGE_ONLY,
        title="Encoding speed",
        subtitle="MB/s of text, logarithmic, median with 95 % interval · higher is better",
        alternative=f"Encoding speed, MB/s, the best of each workload. {leaders}. The table has all of them.",
        spec=plots.panels(chosen, "MB/s, higher is better"),
    )


def _named(rows: Sequence[Row]) -> set[str]:
    """Return at most `_MOST_NAMES` implementations: those people ask for, then the fastest ones."""
    fastest = sorted((row for row in rows if row["times_best"]), key=lambda row: float(row["times_best"]))
    order = [name for name in _ASKED_FOR if any(row["implementation"] == name for row in fastest)]
    return set(list(dict.fromkeys([*order, *(str(row["implementation"]) for row in fastest)]))[:_MOST_NAMES])


_ASKED_FOR = ("compiled", "tiktoken", "tokenizers", "sentencepiece")
_MOST_NAMES = 6
_N_LEADERS = 3
"""Implementations of a workload named in the overview's alternative text."""
_SHOWN = ("workload", "implementation", "kind", "median", "low", "high", "status", "task", "unit")


def _dot(row: Row) -> Row:
    verdict = speed.shown_verdict(row)
    return {
        **{key: row[key] for key in _SHOWN},
        "figure": wording.figure(row["median"]),
        "interval": speed.shown_interval(row),
        "detail": verdict or f"{speed.shown_ratio(row)} × the time of the best",
    }
