"""The charts of a run: which there are, what they say in words, and as SVG images. Knows records, not pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.measure.stats import ratio_interval
from harness.plateau import plateau
from harness.records import Trained, of_kind
from harness.report import compression, correctness, palette, plots, resources, scaling, speed, wording
from harness.report.table import Row, plain_rows
from harness.report.timings import timings

IMAGE_WIDTH = 520


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its Vega-Lite specification without colours or title, and its words."""

    name: str
    section: str
    title: str
    subtitle: str
    """What the axis tells and which direction is good."""
    alternative: str
    """The chart in a sentence or two, for who does not see it."""
    spec: dict[str, Any]


def charts(records: Sequence[object], speed_rows: Sequence[Row] | None = None) -> list[Chart]:
    """Every chart these records allow, in the order of the report."""
    rows = list(speed.speed_rows(records) if speed_rows is None else speed_rows)
    return [
        *agreement_charts(records),
        *throughput_charts(rows),
        *pareto_charts(records, rows),
        *memory_charts(rows),
        *scaling_charts(records),
        *thread_charts(records),
        *merge_charts(records),
    ]


def svg(chart: Chart, scheme: palette.Scheme) -> str:
    """`chart` as an image with its title and legend, for a ground of the scheme's lightness."""
    import vl_convert

    spec = dict(chart.spec)
    if spec.get("width") == "container":
        spec["width"] = IMAGE_WIDTH
    spec["title"] = {"text": chart.title, "subtitle": chart.subtitle}
    spec["description"] = chart.alternative
    spec["padding"] = 12
    return str(vl_convert.vegalite_to_svg(_without_choice(spec), config=palette.config(scheme, palette.IMAGE_FONT)))


def _without_choice(spec: dict[str, Any]) -> dict[str, Any]:
    """An image cannot be chosen in: parameters bound to an input keep their first value."""
    import json

    text = json.loads(json.dumps(spec), object_hook=lambda part: {k: v for k, v in part.items() if k != "bind"})
    return dict(text)


# --- agreement --------------------------------------------------------------------------------------------------


def agreement_charts(records: Sequence[object]) -> list[Chart]:
    """The heat map of pairs: over all models, and for each."""
    pairs = plain_rows(correctness.pairs_table(records).frame)
    names = correctness.implementations_in_order(records)
    if not pairs:
        return []
    models = list(dict.fromkeys(pair["model"] for pair in pairs))
    overall = "all models together"
    chosen = [overall, *models] if len(models) > 1 else models
    cells = [cell for model in chosen for cell in _cells(pairs, names, None if model == overall else model, model)]
    n_differing = sum(pair["status"] == "differs" for pair in pairs)
    faults = sum(pair["status"] == "differs" and pair["class"] == "provably equal" for pair in pairs)
    alternative = (
        f"{len(pairs)} pairs of implementations and models were compared; {len(pairs) - n_differing} gave the same "
        f"ids on every text, {n_differing} differed, of which {faults} must not. The table of pairs holds them all."
    )
    return [
        Chart("agreement", "agreement", "Agreement", "ids of every pair on the same texts", alternative,
              plots.heat_map(cells, names, chosen))
    ]  # fmt: skip


def _cells(pairs: Sequence[Row], names: Sequence[str], model: str | None, label: str) -> list[Row]:
    by_pair: dict[frozenset[str], list[Row]] = {}
    for pair in pairs:
        if model is None or pair["model"] == model:
            by_pair.setdefault(frozenset((pair["a"], pair["b"])), []).append(pair)
    cells = []
    for i, one in enumerate(names):
        for other in names[:i]:
            status, detail = _judged(by_pair.get(frozenset((one, other)), []))
            mark = "" if status == "not compared" else "≠" if status.startswith("differs") else "="
            cells.append({"model": label, "one": one, "other": other, "status": status, "mark": mark, "detail": detail})
    return cells


def _judged(found: Sequence[Row]) -> tuple[str, str]:
    """The status of a pair over some models, and what it rests on."""
    if not found:
        return "not compared", "one of the two could not run here"
    texts = sum(pair["n_texts"] for pair in found)
    differing = sum(pair["n_differing_texts"] for pair in found)
    detail = f"{texts:,} texts" + (f", {differing:,} differ" if differing else "")
    classes = {pair["class"] for pair in found}
    worst = {pair["class"] for pair in found if pair["status"] == "differs"}
    if worst - {"expected to differ"}:
        return ("differs: a fault" if "provably equal" in worst else "differs, as expected"), detail
    if worst:
        return "differs, as expected", detail
    return ("equal, provably" if classes == {"provably equal"} else "equal, under conditions"), detail


# --- speed ------------------------------------------------------------------------------------------------------


def throughput_charts(rows: Sequence[Row]) -> list[Chart]:
    """Dots with intervals for each workload; the workloads of one task share an axis."""
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
                alternative=_told(workload, some, unit, better),
                spec=plots.dots(some, f"{unit}, {better} is better", extents[task, unit]),
            )
        )
    return found


def _dot(row: Row) -> Row:
    verdict = speed.shown_verdict(row)
    return {
        **{key: row[key] for key in ("implementation", "kind", "median", "low", "high", "status", "task", "unit")},
        "figure": wording.figure(row["median"]),
        "interval": speed.shown_interval(row),
        "detail": verdict or f"{speed.shown_ratio(row)} × the time of the best; {speed.shown_text(row)} of text",
    }


def _told(what: str, rows: Sequence[Row], unit: str, better: str) -> str:
    timed = [f"{row['implementation']} {row['figure']}" for row in rows if row["median"] is not None]
    failed = [f"{row['implementation']} ({row['status']})" for row in rows if row["median"] is None]
    told = f"{what}, {unit}, {better} is better, best first: {', '.join(timed)}."
    return told + (f" Without a figure: {', '.join(failed)}." if failed else "")


# --- compression against speed ----------------------------------------------------------------------------------


def pareto_charts(records: Sequence[object], rows: Sequence[Row]) -> list[Chart]:
    """For each corpus, what encodes fastest and what compresses best; the front is what nothing beats in both."""
    reach = {
        (r.model, r.corpus): r.n_bytes / r.n_tokens
        for r in compression.latest(records)
        if r.status == "ok" and r.n_tokens
    }
    by_corpus: dict[str, list[Row]] = {}
    for row in rows:
        if row["task"] != "encode" or row["state"] != "warm-same" or row["median"] is None or not row["n_tokens"]:
            continue
        own = row["n_bytes"] / row["n_tokens"]
        point = {key: row[key] for key in ("implementation", "kind", "exact", "model", "median")}
        point["bytes_per_token"] = reach.get((row["model"], row["corpus"]), own) if row["exact"] else own
        by_corpus.setdefault(row["corpus"], []).append(point)
    found = []
    for corpus, points in by_corpus.items():
        if len({point["model"] for point in points}) < 2:
            continue
        for point in points:
            point["front"] = not any(_beats(other, point) for other in points)
            point["label"] = f"{point['implementation']} · {point['model']}"
            point["figure"] = wording.figure(point["median"])
            point["reach"] = wording.figure(point["bytes_per_token"])
            point["place"] = "on the Pareto front" if point["front"] else "beaten in both by another"
        front = [point for point in points if point["front"]]
        told = "; ".join(f"{p['label']} {p['figure']} MB/s, {p['reach']} bytes per token" for p in front)
        found.append(
            Chart(
                name=f"pareto-{corpus}",
                section="compression",
                title=f"Compression against speed: {corpus}",
                subtitle="MB/s over bytes per token · up and right is better",
                alternative=f"On {corpus} the Pareto front of speed and compression is: {told}.",
                spec=plots.pareto(points),
            )
        )
    return found


def _beats(other: Row, point: Row) -> bool:
    at_least = other["median"] >= point["median"] and other["bytes_per_token"] >= point["bytes_per_token"]
    more = other["median"] > point["median"] or other["bytes_per_token"] > point["bytes_per_token"]
    return bool(at_least and more)


# --- memory, load, threads, training ----------------------------------------------------------------------------


def memory_charts(rows: Sequence[Row]) -> list[Chart]:
    """Highest memory and load time, one chart of each for every model."""
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
                        alternative=_told(words, dots, unit, "lower"),
                        spec=plots.dots(dots, f"{unit}, lower is better"),
                    )
                )
    return found


def scaling_charts(records: Sequence[object]) -> list[Chart]:
    """Time over length for each generated family; who grows faster than n^1.2 is named."""
    told = {(row["model"], row["family"], row["implementation"]): row for row in scaling.scaling_rows(records)}
    by_family: dict[tuple[str, str], list[Row]] = {}
    for (model, family, implementation), curve in scaling.growth_points(records).items():
        row = told.get((model, family, implementation), {})
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
            for (m, f, name), row in told.items()
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


def thread_charts(records: Sequence[object]) -> list[Chart]:
    """How much faster a batch is on several threads than on one."""
    batches: dict[tuple[str, str], dict[str, dict[int, Any]]] = {}
    for t in timings(records):
        if t.task == "encode-batch" and t.rounds:
            batches.setdefault((t.model, t.corpus), {}).setdefault(t.implementation, {})[t.threads] = t
    found = []
    for (model, corpus), by_name in batches.items():
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
            words = f"Gain of {most} threads: {model}, {corpus}"
            unit = "times the speed of one thread"
            found.append(
                Chart(
                    name=f"threads-{model}-{corpus}",
                    section="threads",
                    title=words,
                    subtitle=f"{unit} · higher is better, {most} is the most there can be",
                    alternative=_told(words, dots, unit, "higher"),
                    spec=plots.dots(dots, f"{unit}, higher is better", [1.0, float(most)]),
                )
            )
    return found


def merge_charts(records: Sequence[object]) -> list[Chart]:
    """The frequency of each merge of the vocabularies trained in this run, with the plateau."""
    found = []
    for t in {(t.model, t.implementation): t for t in of_kind(records, Trained)}.values():
        if len(t.merge_counts) < 3:
            continue
        last = len(t.merge_counts)
        chosen = sorted({min(last, round(last ** (i / 200))) for i in range(201)})
        points = [{"merge": merge, "count": max(1, t.merge_counts[merge - 1])} for merge in chosen]
        flat = plateau(t.merge_counts)
        mark = None if not flat else {"merge": flat, "label": f"plateau after merge {flat:,}"}
        told = f"{t.merge_counts[0]:,} times for the first merge, {t.merge_counts[-1]:,} for the last of {last:,}"
        found.append(
            Chart(
                name=f"merges-{t.model}-{t.implementation}",
                section="training",
                title=f"Merge frequency: {t.model}",
                subtitle="how often each merge occurred when it was learned, both axes logarithmic",
                alternative=f"Merge frequency of {t.model}: {told}" + (f"; {mark['label']}." if mark else "."),
                spec=plots.merges(points, mark),
            )
        )
    return found
