"""Charts of speed: every workload, and compression against speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.outcome import Outcome
from harness.report import wording
from harness.report.charts import plots
from harness.report.charts.chart import IMAGE_ONLY, Chart, dot_chart
from harness.report.table import Row, grouped
from harness.report.tables import compression, speed

_MOST_PANELS = 4


def throughput_charts(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield dots with intervals for each workload; the workloads of one task share an axis."""
    extents = {
        key: [row[end] for row in some for end in ("low", "high", "median") if row[end]]
        for key, some in grouped(rows, lambda row: (row["task"], row["unit"])).items()
    }
    shown = [row for row in rows if row["task"] != "load"]
    for workload, some in grouped(shown, lambda row: str(row["workload"])).items():
        if all(row["median"] is None for row in some):
            continue
        task, unit = some[0]["task"], some[0]["unit"]
        section, better = "training" if task == "train" else "speed", "higher" if unit == "MB/s" else "lower"
        dots = [_dot(row) for row in some]
        yield dot_chart(f"speed-{workload}", section, workload, dots, unit, better, domain_of=extents[task, unit])


def overview_chart(rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield the plain encoding workloads that may be cited in one image, for a README."""
    may_be_cited = [row for row in rows if row["floor"] is None or row["citable"]]
    plain = [row for row in may_be_cited if _is_plain(row) and not row["corpus"].startswith("gen/")]
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


def _is_plain(row: Row) -> bool:
    return bool(row["task"] == "encode" and row["state"] == "new text")


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


def pareto_charts(records: Sequence[object], rows: Sequence[Row]) -> Iterator[Chart]:
    """Yield speed against compression for each corpus; no point beats one of the Pareto front in both."""
    weighed = [r for r in compression.latest_compressions(records) if r.status is Outcome.RIGHT and r.n_tokens]
    reach = {(r.model, r.corpus): r.n_bytes / r.n_tokens for r in weighed}
    timed = [
        row
        for row in rows
        if _is_plain(row) and row["median"] is not None and row["exact"] and (row["model"], row["corpus"]) in reach
    ]
    for corpus, some in grouped(timed, lambda row: row["corpus"]).items():
        points: list[Row] = []
        for row in some:
            bytes_per_token = reach[row["model"], corpus]
            points.append(
                {key: row[key] for key in ("implementation", "kind", "exact", "model", "median")}
                | {"bytes_per_token": bytes_per_token}
            )
        if len({point["model"] for point in points}) < 2:
            continue
        for point, unbeaten in zip(points, on_the_front(points), strict=True):
            point |= {
                "front": unbeaten,
                "label": f"{point['implementation']} · {point['model']}",
                "figure": wording.figure(point["median"]),
                "reach": wording.figure(point["bytes_per_token"]),
                "place": "on the Pareto front" if unbeaten else "another is at least as good in both",
            }
        front = [point for point in points if point["front"]]
        description = "; ".join(f"{p['label']} {p['figure']} MB/s, {p['reach']} bytes per token" for p in front)
        yield Chart(
            name=f"pareto-{corpus}",
            section="compression",
            title=f"Compression against speed: {corpus}",
            subtitle="MB/s over bytes per token · up and right is better",
            alternative=f"On {corpus} the Pareto front of speed and compression is: {description}.",
            spec=plots.pareto(points),
        )


def on_the_front(points: Sequence[Row]) -> list[bool]:
    """Return for each of `points` (`median`, `bytes_per_token`) whether no other is at least as good in both."""
    places = [(point["median"], point["bytes_per_token"]) for point in points]
    return [
        not any(other != place and other[0] >= place[0] and other[1] >= place[1] for other in places)
        for place in places
    ]
