"""Charts of growth: time with length, memory and load time with the model, merges with the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from harness.plateau import plateau
from harness.records import Trained, of_kind
from harness.report import plots, resources, scaling, wording
from harness.report.chart import Chart, in_words
from harness.report.table import Row


def memory_charts(rows: Sequence[Row]) -> list[Chart]:
    """Return charts of peak memory and of load time, one of each for every model."""
    found = []
    memory = resources.memory_rows(rows)
    for model in dict.fromkeys(row["model"] for row in memory):
        some = [row for row in memory if row["model"] == model]
        figures = {
            "memory": ("Highest memory", "MB", [(row, row.get("peak_memory_bytes"), 1e6) for row in some]),
            "load": ("Load time", "ms", [(row, row.get("load_ms"), 1.0) for row in some]),
        }
        for name, (title, unit, values) in figures.items():
            dots = [
                {
                    **{key: row[key] for key in ("implementation", "kind")}, "median": value / scale,
                    "low": (row["load_low_ms"] if name == "load" else value / scale),
                    "high": (row["load_high_ms"] if name == "load" else value / scale),
                    "status": "ok", "figure": wording.figure(value / scale), "interval": "",
                    "detail": "file to first id" if name == "load" else f"on {row.get('workload')}",
                }
                for row, value, scale in values
                if value
            ]  # fmt: skip
            dots.sort(key=lambda dot: dot["median"])
            if dots:
                words = f"{title} on {model}"
                found.append(
                    Chart(
                        name=f"{name}-{model}",
                        section="memory",
                        title=words,
                        subtitle=f"{unit}, logarithmic · lower is better",
                        alternative=in_words(words, dots, unit, "lower"),
                        spec=plots.dots(dots, f"{unit}, lower is better"),
                    )
                )
    return found


def scaling_charts(records: Sequence[object]) -> list[Chart]:
    """Return charts of time over length for each generated family; curves steeper than n^1.2 are labelled."""
    rows = {(row["model"], row["family"], row["implementation"]): row for row in scaling.scaling_rows(records)}
    by_family: dict[tuple[str, str], list[Row]] = {}
    for (model, family, implementation), curve in scaling.growth_points(records).items():
        row = rows.get((model, family, implementation), {})
        steep = (row.get("exponent") or 0) > 1.2 or row.get("bound") is not None
        exponent = row.get("exponent")
        for point in curve:
            last = point is curve[-1]
            by_family.setdefault((model, family), []).append(
                point | {
                    "series": implementation, "kind": wording.kind_of(implementation), "last": last,
                    "label": f"{implementation} n^{exponent:.2f}" if last and steep and exponent is not None else "",
                    "size": wording.size(point["n_bytes"]), "detail": scaling.shown_exponent(row),
                    "time": ("at least " if point["bound"] else "") + wording.duration(point["seconds"]),
                }
            )  # fmt: skip
    found = []
    for (model, family), points in by_family.items():
        grown = "; ".join(
            f"{name} {scaling.shown_exponent(row)}"
            for (m, f, name), row in rows.items()
            if (m, f) == (model, family) and row.get("exponent") is not None
        )
        found.append(
            Chart(
                name=f"scaling-{model}-{family}",
                section="scaling",
                title=f"Growth on {family}: {model}",
                subtitle="seconds over bytes of one text, both logarithmic · lower and flatter is better",
                alternative=f"Exponents of time over length on {family} under {model}: {grown or 'none fitted'}.",
                spec=plots.growth(points, "bytes of one text"),
            )
        )
    return found


def merge_charts(records: Sequence[object]) -> list[Chart]:
    """Return charts of the frequency of each merge of the vocabularies trained in this run, with the plateau."""
    found = []
    for t in {(t.model, t.implementation): t for t in of_kind(records, Trained)}.values():
        if len(t.merge_counts) < 3:
            continue
        last = len(t.merge_counts)
        chosen = sorted({min(last, round(last ** (i / 200))) for i in range(201)})
        points = [{"merge": merge, "count": max(1, t.merge_counts[merge - 1])} for merge in chosen]
        flat = plateau(t.merge_counts)
        mark = None if not flat else {"merge": flat, "label": f"plateau after merge {flat:,}"}
        counts = f"{t.merge_counts[0]:,} times for the first merge, {t.merge_counts[-1]:,} for the last of {last:,}"
        found.append(
            Chart(
                name=f"merges-{t.model}-{t.implementation}",
                section="training",
                title=f"Merge frequency: {t.model}",
                subtitle="how often each merge occurred when it was learned, both axes logarithmic",
                alternative=f"Merge frequency of {t.model}: {counts}" + (f"; {mark['label']}." if mark else "."),
                spec=plots.merges(points, mark),
            )
        )
    return found
