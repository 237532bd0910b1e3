"""Charts of growth: time by length, memory and load time by model, merge frequency by rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report import wording
from harness.report.charts import plots
from harness.report.charts.chart import Chart, dot_chart
from harness.report.table import Row, grouped
from harness.report.tables import growth, speed
from harness.report.tables.training import trained
from harness.training.vocabulary_curve import plateau


def memory_charts(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield charts of peak memory and of load time, one of each for every model."""
    for model, some in grouped(speed.memory_rows(rows), lambda row: str(row["model"])).items():
        memory = [_dot(row, f"on {row['workload']}", *[(row["peak_memory_bytes"] or 0) / 1e6] * 3) for row in some]
        load = [_dot(row, "file to first id", row["load_ms"], row["load_low_ms"], row["load_high_ms"]) for row in some]
        for name, title, unit, dots in (("memory", "Highest memory", "MB", memory), ("load", "Load time", "ms", load)):
            timed = sorted((dot for dot in dots if dot["median"]), key=lambda dot: dot["median"])
            if timed:
                yield dot_chart(f"{name}-{model}", "memory", f"{title} on {model}", timed, unit, "lower")


def _dot(row: Row, detail: str, *spread: float | None) -> Row:
    shown = dict(zip(("median", "low", "high"), spread, strict=True))
    return {"implementation": row["implementation"], "detail": detail, "interval": ""} | shown


def scaling_charts(records: Sequence[object]) -> Iterator[Chart]:
    """Yield charts of time over length for each generated family; curves steeper than n^1.2 are labelled."""
    rows = {(row["model"], row["family"], row["implementation"]): row for row in growth.scaling_rows(records)}
    curves = growth.growth_points(records)
    for (model, family), keys in grouped(curves, lambda key: key[:2]).items():
        points = [point for key in keys for point in _curve(key[2], curves[key], rows[key])]
        grown = "; ".join(
            f"{name} {growth.shown_exponent(row)}"
            for (*where, name), row in rows.items()
            if where == [model, family] and row["exponent"] is not None
        )
        yield Chart(
            name=f"scaling-{model}-{family}",
            section="scaling",
            title=f"Growth on {family}: {model}",
            subtitle="seconds over bytes of one text, both logarithmic · lower and flatter is better",
            alternative=f"Exponents of time over length on {family} under {model}: {grown or 'none fitted'}.",
            spec=plots.growth(points, "bytes of one text"),
        )


def _curve(implementation: str, points: Sequence[Row], row: Row) -> Iterator[Row]:
    """Yield the points of a curve, the last with its label; `row` is its row in the table of exponents."""
    exponent = row["exponent"]
    labelled = exponent is not None and (exponent > 1.2 or row["bound"] is not None)
    for point in points:
        last = point is points[-1]
        yield point | {
            "series": implementation, "kind": wording.kind_of(implementation), "last": last,
            "label": f"{implementation} n^{exponent:.2f}" if last and labelled else "",
            "size": wording.size(point["n_bytes"]), "detail": growth.shown_exponent(row),
            "time": ("at least " if point["bound"] else "") + wording.duration(point["seconds"]),
        }  # fmt: skip


def merge_charts(records: Sequence[object]) -> Iterator[Chart]:
    """Yield charts of the frequency of each merge of the vocabularies trained in this run, with the plateau."""
    for t in trained(records):
        yield from merge_chart(f"merges-{t.model}-{t.implementation}", t.model, t.merge_counts)


def merge_chart(name: str, model: str, merge_counts: Sequence[int]) -> Iterator[Chart]:
    """Yield the chart of the frequency of each merge, if there are at least three."""
    last = len(merge_counts)
    if last < 3:
        return
    chosen = sorted({min(last, round(last ** (i / 200))) for i in range(201)})
    points = [{"merge": merge, "count": max(1, merge_counts[merge - 1])} for merge in chosen]
    flat = plateau(merge_counts)
    mark = None if not flat else {"merge": flat, "label": f"plateau after merge {flat:,}"}
    counts = f"{merge_counts[0]:,} times for the first merge, {merge_counts[-1]:,} for the last of {last:,}"
    yield Chart(
        name=name,
        section="training",
        title=f"Merge frequency: {model}",
        subtitle="how often each merge occurred when it was learned, both axes logarithmic",
        alternative=f"Merge frequency of {model}: {counts}" + (f"; {mark['label']}." if mark else "."),
        spec=plots.merges(points, mark),
    )


def size_chart(name: str, model: str, points: Sequence[Row], text: str) -> Iterator[Chart]:
    """Yield the chart of bytes per token against vocabulary size, if there are at least two sizes.

    Points have `vocab_size, bytes_per_token, low, high`, the last two None without an interval.
    """
    if len(points) < 2:
        return
    first, last = points[0], points[-1]
    lines = [
        {"series": model, "at": point["vocab_size"], "value": point["bytes_per_token"]}
        | {end: point[end] for end in ("low", "high")}
        for point in points
    ]
    yield Chart(
        name=name,
        section="training",
        title=f"Bytes per token by size: {model}",
        subtitle="on held-out text, its 95 % interval as a band; size logarithmic · higher is better",
        alternative=f"Bytes per token of {model} on {text}: {wording.figure(first['bytes_per_token'])} at "
        f"{first['vocab_size']:,} ids, {wording.figure(last['bytes_per_token'])} at {last['vocab_size']:,}.",
        spec=plots.bands(lines, "vocabulary size", "bytes per token", is_log=True),
    )
