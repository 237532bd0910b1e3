"""Charts of speed: every workload, compression against speed, and what threads gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.measure.stats import ratio_interval
from harness.measure.workloads import BATCHES
from harness.report import compression, plots, speed, wording
from harness.report.chart import IMAGE_ONLY, Chart, in_words
from harness.report.table import Row
from harness.report.timings import timings


def throughput_charts(rows: Sequence[Row]) -> list[Chart]:
    """Return dots with intervals for each workload; the workloads of one task share an axis."""
    by_workload: dict[str, list[Row]] = {}
    for row in rows:
        if row["task"] != "load":
            by_workload.setdefault(row["workload"], []).append(_dot(row))
    extents: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        extents.setdefault((row["task"], row["unit"]), []).extend(
            row[key] for key in ("low", "high", "median") if row[key]
        )
    found = []
    for workload, some in by_workload.items():
        if not any(row["median"] is not None for row in some):
            continue
        task, unit = some[0]["task"], some[0]["unit"]
        better = "higher" if unit == "MB/s" else "lower"
        found.append(
            Chart(
                name=f"speed-{workload}",
                section="training" if task == "train" else "speed",
                title=workload,
                subtitle=f"{unit}, logarithmic · {better} is better",
                alternative=in_words(workload, some, unit, better),
                spec=plots.dots(some, f"{unit}, {better} is better", extents[task, unit]),
            )
        )
    return found


def overview_chart(rows: Sequence[Row]) -> list[Chart]:
    """Return the plain encoding workloads in one image, for a README."""
    plain = [row for row in rows if row["task"] == "encode" and row["state"] == "warm-same"]
    plain = [row for row in plain if not row["corpus"].startswith("gen/")]
    workloads = list(dict.fromkeys(row["workload"] for row in plain if row["median"] is not None))[:_MOST_PANELS]
    if not workloads:
        return []
    chosen = [_dot(row) for row in plain if row["workload"] in workloads]
    description = " ".join(
        in_words(workload, [row for row in chosen if row["workload"] == workload], "MB/s", "higher")
        for workload in workloads
    )
    return [
        Chart(
            name="throughput",
            section=IMAGE_ONLY,
            title="Encoding speed",
            subtitle="MB/s of text, logarithmic, median with 95 % interval · higher is better",
            alternative=description,
            spec=plots.panels(chosen, "MB/s, higher is better"),
        )
    ]


_MOST_PANELS = 4
_SHOWN = ("workload", "implementation", "kind", "median", "low", "high", "status", "task", "unit")


def _dot(row: Row) -> Row:
    verdict = speed.shown_verdict(row)
    return {
        **{key: row[key] for key in _SHOWN},
        "figure": wording.figure(row["median"]),
        "interval": speed.shown_interval(row),
        "detail": verdict or f"{speed.shown_ratio(row)} × the time of the best; {speed.shown_text(row)} of text",
    }


def pareto_charts(records: Sequence[object], rows: Sequence[Row]) -> list[Chart]:
    """Return speed against compression for each corpus; nothing beats the points of the Pareto front in both."""
    reach = {
        (r.model, r.corpus): r.n_bytes / r.n_tokens
        for r in compression.latest(records)
        if r.status == "ok" and r.n_tokens
    }
    by_corpus: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: -(row["n_bytes"] or 0)):
        if row["exact"] and row["n_tokens"]:  # of slices the longest speaks for the model
            reach.setdefault((row["model"], row["corpus"]), row["n_bytes"] / row["n_tokens"])
    for row in rows:
        if row["task"] != "encode" or row["state"] != "warm-same" or row["median"] is None or not row["n_tokens"]:
            continue
        point = {key: row[key] for key in ("implementation", "kind", "exact", "model", "median")}
        own = row["n_bytes"] / row["n_tokens"]
        point["bytes_per_token"] = reach[row["model"], row["corpus"]] if row["exact"] else own
        by_corpus.setdefault(row["corpus"], []).append(point)
    found = []
    for corpus, points in by_corpus.items():
        if len({point["model"] for point in points}) < 2:
            continue
        for point, unbeaten in zip(points, on_the_front(points), strict=True):
            point["front"] = unbeaten
            point["label"] = f"{point['implementation']} · {point['model']}"
            point["figure"] = wording.figure(point["median"])
            point["reach"] = wording.figure(point["bytes_per_token"])
            point["place"] = "on the Pareto front" if point["front"] else "beaten in both by another"
        front = [point for point in points if point["front"]]
        description = "; ".join(f"{p['label']} {p['figure']} MB/s, {p['reach']} bytes per token" for p in front)
        found.append(
            Chart(
                name=f"pareto-{corpus}",
                section="compression",
                title=f"Compression against speed: {corpus}",
                subtitle="MB/s over bytes per token · up and right is better",
                alternative=f"On {corpus} the Pareto front of speed and compression is: {description}.",
                spec=plots.pareto(points),
            )
        )
    return found


def on_the_front(points: Sequence[Row]) -> list[bool]:
    """Return for each of `points` (`median`, `bytes_per_token`) whether no other beats it."""
    return [not any(_beats(other, point) for other in points) for point in points]


def _beats(other: Row, point: Row) -> bool:
    at_least = other["median"] >= point["median"] and other["bytes_per_token"] >= point["bytes_per_token"]
    more = other["median"] > point["median"] or other["bytes_per_token"] > point["bytes_per_token"]
    return bool(at_least and more)


def thread_charts(records: Sequence[object]) -> list[Chart]:
    """Return charts of how much faster a batch is on several threads than on one."""
    batches: dict[tuple[str, ...], dict[str, dict[int, Any]]] = {}
    for t in timings(records):
        if t.task in BATCHES and t.rounds:
            kind = () if t.task == "encode-batch" else ("arrays",)
            state = () if t.state == "warm-same" else (t.state,)
            key = (t.model, t.corpus, *kind, *state)
            batches.setdefault(key, {}).setdefault(t.implementation, {})[t.threads] = t
    found = []
    for key, by_name in batches.items():
        most = max((n for by_threads in by_name.values() for n in by_threads), default=1)
        dots: list[Row] = []
        for name, by_threads in by_name.items():
            if most < 2 or 1 not in by_threads or most not in by_threads:
                continue
            gain = ratio_interval(by_threads[1].rounds, by_threads[most].rounds)
            dots.append(
                {
                    "implementation": name, "kind": wording.kind_of(name), "median": gain.value, "low": gain.low,
                    "high": gain.high, "status": "ok", "figure": f"{wording.figure(gain.value)} ×",
                    "interval": f"{wording.figure(gain.low)}–{wording.figure(gain.high)}",
                    "detail": f"{wording.figure(by_threads[most].figure_of(by_threads[most].time().value))} MB/s "
                    f"on {most} threads",
                }
            )  # fmt: skip
        dots.sort(key=lambda dot: -dot["median"])
        if dots:
            words = f"Gain of {most} threads: {', '.join(key)}"
            unit = "times the speed of one thread"
            found.append(
                Chart(
                    name=f"threads-{'-'.join(key)}",
                    section="threads",
                    title=words,
                    subtitle=f"{unit} · higher is better, {most} is the most there can be",
                    alternative=in_words(words, dots, unit, "higher"),
                    spec=plots.dots(dots, f"{unit}, higher is better", [1.0, float(most)]),
                )
            )
    return found
