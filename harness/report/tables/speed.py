"""Tables of speed and memory: every implementation on every workload, and the ranking over shared workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.measure.comparison import Ranked, ranking
from harness.measure.stats import NOISE_MARGIN, Interval, claim
from harness.measure.summary import CITABLE_FLOOR, SummaryRow, WorkloadSummary, summaries
from harness.outcome import Outcome
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Row, Table, table_of

TASK_ORDER = ("encode", "encode-array", "encode-batch", "count", "decode", "append", "chat", "load", "train")
_SHORT_CALL_BYTES = 200


def speed_rows(records: Sequence[object]) -> list[Row]:
    """Return one row for each workload and implementation: workloads by name, the best first, failures last.

    `claimed` and `claimed_from_above` say whether the noise of the workload lets the run claim the difference to the
    best and to the row above (`stats.claim`). Inexact implementations follow the exact ones: shown, never ranked.
    """
    found = sorted(summaries(of_kind(records, Measurement)), key=_place)
    return [_row(workload, row) for workload in found for row in workload.rows]


def _place(workload: WorkloadSummary) -> tuple[int, bool, str]:
    """Return the sort key of a workload: by task, new text first, then by name."""
    place = TASK_ORDER.index(workload.task) if workload.task in TASK_ORDER else len(TASK_ORDER)
    return place, workload.state != "new text", workload.name


def noise_floor(records: Iterable[object]) -> float | None:
    """Return the largest noise floor of the run's workloads, as a share, or None."""
    floors = [workload.floor for workload in summaries(of_kind(records, Measurement))]
    return max((floor for floor in floors if floor is not None), default=None)


def unit_of(workload: WorkloadSummary, row: SummaryRow) -> str:
    """Return the unit of the figures of a workload."""
    if workload.task == "load":
        return "ms"
    if workload.task in ("append", "chat"):
        return "µs per call"
    if row.bytes_per_second is not None and row.seconds_per_call is not None:
        n_bytes = row.bytes_per_second.value * row.seconds_per_call.value
        return "µs per call" if n_bytes < _SHORT_CALL_BYTES else "MB/s"
    return "MB/s"


def _figure(workload: WorkloadSummary, row: SummaryRow) -> Interval | None:
    """Return the figure of a row in its unit."""
    rate, seconds = row.bytes_per_second, row.seconds_per_call
    if rate is None or seconds is None:
        return None
    unit = unit_of(workload, row)
    found, factor = (rate, 1e-6) if unit == "MB/s" else (seconds, 1e3 if unit == "ms" else 1e6)
    return Interval(*(value * factor for value in found))


def _row(workload: WorkloadSummary, row: SummaryRow) -> Row:
    claimed = None if row.time_ratio is None else claim(row.time_ratio, workload.floor) == "slower"
    from_above = None if row.to_above is None else claim(row.to_above, workload.floor) == "slower"
    return {
        "workload": workload.name, "task": workload.task, "state": workload.state, "model": workload.model,
        "corpus": workload.corpus, "threads": workload.threads, "implementation": row.implementation,
        "kind": wording.kind_of(row.implementation), "exact": row.exact, "ranked": row.time_ratio is not None,
        "status": row.outcome, "reason": row.reason, "unit": unit_of(workload, row),
        **_spread(_figure(workload, row), "median", "low", "high"),
        **_spread(row.time_ratio, "times_best", "times_best_low", "times_best_high"),
        "claimed": claimed,
        "claimed_from_above": from_above,
        "floor": workload.floor, "citable": workload.citable, "clock": workload.clock, "lost": row.lost,
        "percentile_50": row.call_percentiles.get("0.5"), "percentile_99": row.call_percentiles.get("0.99"),
        "seconds": None if row.seconds_per_call is None else row.seconds_per_call.value,
        "peak_memory_bytes": row.peak_memory_bytes,
    }  # fmt: skip


def _spread(found: Interval | None, *keys: str) -> Row:
    """Return the value and the ends of an interval under `keys`."""
    return dict.fromkeys(keys) if found is None else dict(zip(keys, found, strict=False))


def shown_ratio(row: Row) -> str:
    """Return how many times longer it takes than the best, preceded by `≈` if that is not confirmed."""
    if row["times_best"] is None:
        return wording.ABSENT
    mark = "" if row["claimed"] or row["times_best"] == 1 else "≈ "
    return mark + wording.figure(row["times_best"])


def shown_interval(row: Row) -> str:
    """Return the 95 % interval of a figure, or a dash."""
    return wording.ABSENT if row["low"] is None else f"{wording.figure(row['low'])}–{wording.figure(row['high'])}"


def shown_verdict(row: Row) -> str:
    """Return why a row has no rank, or that it may not be cited; empty if neither."""
    if row["status"] is not Outcome.RIGHT:
        return f"{row['status']}: {row['reason']}" if row["reason"] else str(row["status"])
    return "" if row["exact"] else "other ids by design; not ranked"


def shown_percentiles(row: Row) -> str:
    """Return the median and the 99th percentile of single calls in microseconds, or a dash."""
    if row["percentile_50"] is None:
        return wording.ABSENT
    return " · ".join(wording.figure(row[key] * 1e6) for key in ("percentile_50", "percentile_99"))


def _shown(row: Row, **more: object) -> Row:
    """Return a row with its formatted figures, and `more`, in addition to the raw ones."""
    written = {"interval": shown_interval(row), "ratio": shown_ratio(row), "calls": shown_percentiles(row)}
    return row | written | more | {"verdict": shown_verdict(row)}


def speed_table(speed_rows: Sequence[Row]) -> Table:
    """Return the speed of every implementation on every workload; training has its own table."""
    rows = [
        _shown(row, alike="≈" if row["claimed_from_above"] is False else "")
        for row in speed_rows
        if row["task"] != "train"
    ]
    return table_of(
        "speed", rows, group_title={str(row["workload"]): _title(row) for row in rows}, claimed=claimed_where()
    )


def _title(row: Row) -> str:
    """Return the title of a workload: its unit, its noise floor, and what to keep in mind."""
    better = "higher" if row["unit"] == "MB/s" else "lower"
    parts = [f"{row['workload']} · {row['unit']}, {better} is better"]
    if row["floor"] is not None:
        parts.append(f"noise floor {wording.percent(row['floor'])}{'' if row['citable'] else ', too noisy to cite'}")
    if row["clock"] == "processor":
        parts.append("ranked by processor time")
    return " · ".join(parts)


def claimed_where() -> str:
    """Return which differences are claimed."""
    return (
        "A difference counts if its 95 % interval excludes 1 and it exceeds the noise floor of its workload, the most "
        f"by which copies of one implementation may differ; with a floor above {wording.percent(CITABLE_FLOOR)} a "
        f"workload may not be cited. Where no copy ran, only a ratio above {NOISE_MARGIN:g} counts."
    )


def ranking_table(records: Sequence[object], floor: float | None) -> Table:
    """Return the ranking with the probability of each implementation's place; see `comparison.ranking`."""
    ranked, shared = ranking(of_kind(records, Measurement))
    alone = len(ranked) == 1
    rows: list[Row] = []
    for place, found in enumerate(ranked):
        of_place = found.rank_probabilities[place]
        place_claimed = not alone and _is_behind(ranked, place, floor) and _is_behind(ranked, place + 1, floor)
        row = {
            "place": None if alone else place + 1, "implementation": found.name, "kind": wording.kind_of(found.name),
            **_spread(found.ratio, "times_best", "low", "high"),
            "claimed": place > 0 and claim(found.ratio, floor) == "slower",
            "probability": None if alone else of_place, "place_claimed": place_claimed,
        }  # fmt: skip
        sure = wording.ABSENT if alone else wording.percent(of_place) if place_claimed else "≈"
        rows.append(row | {"ratio": shown_ratio(row), "interval": shown_interval(row), "sure": sure})
    return table_of(
        "ranking",
        rows,
        workloads=wording.counted(len(shared), "workload"),
        shared=workload_names(shared),
        alone="A single implementation has no place. " if alone else "",
        claimed=claimed_where(),
    )


def _is_behind(ranked: Sequence[Ranked], place: int, floor: float | None) -> bool:
    """Return whether the one at `place` (from 0) is claimed to be slower than the one before; True past either end."""
    to_above = ranked[place].to_above if place < len(ranked) else None
    return to_above is None or claim(to_above, floor) == "slower"


def workload_names(workloads: Sequence[str]) -> str:
    """Count workloads by their first word: `encode (5), decode (2)`."""
    counts = Counter(name.partition("/")[0] for name in workloads)
    return ", ".join(f"{printable(name)} ({n})" if n > 1 else printable(name) for name, n in counts.items())


def training_table(speed_rows: Sequence[Row]) -> Table:
    """Return the time of every trainer on the training workloads."""
    rows = [_shown(row) for row in speed_rows if row["task"] == "train"]
    return table_of("training", rows)


def memory_rows(speed_rows: Sequence[Row]) -> list[Row]:
    """Return peak memory and load time for each model and implementation, the least memory first."""
    found: dict[tuple[str, str], Row] = {}
    measured = ("load_ms", "load_low_ms", "load_high_ms", "load_memory_bytes", "peak_memory_bytes", "workload")
    for row in speed_rows:
        if row["status"] is not Outcome.RIGHT:
            continue
        identity = {key: row[key] for key in ("model", "implementation", "kind")} | dict.fromkeys(measured)
        at = found.setdefault((row["model"], row["implementation"]), identity)
        peak = row["peak_memory_bytes"]
        if row["task"] == "load":
            at.update(zip(measured, (row["median"], row["low"], row["high"], peak), strict=False))
        elif peak is not None and peak >= (at["peak_memory_bytes"] or 0):
            at |= {"peak_memory_bytes": peak, "workload": row["workload"]}
    rows = [at for at in found.values() if at["load_ms"] is not None or at["peak_memory_bytes"] is not None]
    return sorted(rows, key=lambda at: (at["model"], at["peak_memory_bytes"] or at["load_memory_bytes"] or 0))
