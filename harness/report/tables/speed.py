"""Tables of speed and memory: every implementation on every workload, and the ranking over shared workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from harness.measure.comparison import Ranked, ranking
from harness.measure.stats import NOISE_MARGIN, Interval, claim
from harness.measure.summary import CITABLE_FLOOR, SummaryRow, WorkloadSummary, summaries
from harness.measure.workloads import GROWING, Task
from harness.outcome import Outcome
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Row, Table, table_of
from impls.core.errors import plural

_SHORT_CALL_BYTES = 200


def speed_rows(records: Sequence[object]) -> list[Row]:
    """Return one row for each workload and implementation: workloads by name, the best first, failures last.

    `claimed` and `claimed_from_above` say whether the noise of the workload lets the run claim the difference to the
    best and to the row above (`stats.claim`); None where there is nothing to compare with. Inexact implementations
    follow the exact ones: shown, never ranked.
    """
    workloads = sorted(summaries(of_kind(records, Measurement)), key=_place)
    return [_row(workload, row) for workload in workloads for row in workload.rows]


def _place(workload: WorkloadSummary) -> tuple[int, bool, str]:
    """Return the sort key of a workload: by task, new text first, then by name."""
    return get_args(Task).index(workload.task), workload.state != "new text", workload.name


def noise_floor(records: Iterable[object]) -> float | None:
    """Return the largest noise floor of the run's workloads, as a share, or None."""
    floors = [workload.floor for workload in summaries(of_kind(records, Measurement))]
    return max((floor for floor in floors if floor is not None), default=None)


def _figure(task: str, row: SummaryRow) -> tuple[str, Interval | None]:
    """Return the unit of a row's figure, and the figure."""
    rate, seconds = row.bytes_per_second, row.seconds_per_call
    is_short = rate is not None and seconds is not None and rate.value * seconds.value < _SHORT_CALL_BYTES
    unit, interval, factor = "MB/s", rate, 1e-6
    if task == "load":
        unit, interval, factor = "ms", seconds, 1e3
    elif task in GROWING or (is_short and task != "train"):
        unit, interval, factor = "µs per call", seconds, 1e6
    return unit, None if interval is None else Interval(*(value * factor for value in interval))


def _row(workload: WorkloadSummary, row: SummaryRow) -> Row:
    def is_slower(ratio: Interval | None) -> bool | None:
        return None if ratio is None else claim(ratio, workload.floor) == "slower"

    percentiles = (row.call_percentiles.get(share) for share in ("0.5", "0.99"))
    median, high = (None if seconds is None else seconds * 1e6 for seconds in percentiles)
    unit, figure = _figure(workload.task, row)
    is_best = row.time_ratio is not None and row.time_ratio.value == 1
    return {
        "workload": workload.name, "task": workload.task, "state": workload.state, "model": workload.model,
        "corpus": workload.corpus, "threads": workload.threads, "implementation": row.implementation,
        "kind": wording.kind_of(row.implementation), "exact": row.exact, "ranked": row.time_ratio is not None,
        "status": row.outcome, "reason": row.reason, "unit": unit,
        **_spread(figure, "median", "low", "high"),
        **_spread(row.time_ratio, "times_best", "times_best_low", "times_best_high"),
        "claimed": None if is_best else is_slower(row.time_ratio), "claimed_from_above": is_slower(row.to_above),
        "floor": workload.floor, "citable": workload.citable, "clock": workload.clock, "lost": row.lost,
        "call_us_50": median, "call_us_99": high,
        "seconds": None if row.seconds_per_call is None else row.seconds_per_call.value,
        "peak_memory_bytes": row.peak_memory_bytes,
    }  # fmt: skip


def _spread(interval: Interval | None, *keys: str) -> Row:
    """Return the value and the ends of an interval under `keys`."""
    return dict.fromkeys(keys) if interval is None else dict(zip(keys, interval, strict=False))


def speed_table(speed_rows: Sequence[Row]) -> Table:
    """Return the speed of every implementation on every workload; training has its own table."""
    rows = [row for row in speed_rows if row["task"] != "train"]
    titles = {str(row["workload"]): _title(row) for row in rows}
    return table_of("speed", rows, group_title=titles, claimed=claimed_where())


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
    for place, contestant in enumerate(ranked):
        row = {
            "place": None if alone else place + 1, "implementation": contestant.name,
            "kind": wording.kind_of(contestant.name),
            **_spread(contestant.ratio, "times_best", "low", "high"),
            "claimed": claim(contestant.ratio, floor) == "slower" if place else None,
            "probability": None if alone else contestant.rank_probabilities[place],
            "place_claimed": not alone and all(_is_behind(ranked, at, floor) for at in (place, place + 1)),
        }  # fmt: skip
        rows.append(row)
    return table_of(
        "ranking",
        rows,
        workloads=plural(len(shared), "workload"),
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
    return table_of("training", [row for row in speed_rows if row["task"] == "train"])


def memory_rows(speed_rows: Sequence[Row]) -> list[Row]:
    """Return peak memory and load time for each model and implementation, the least memory first."""
    by_model: dict[tuple[str, str], Row] = {}
    measured = ("load_ms", "load_low_ms", "load_high_ms", "load_memory_bytes", "peak_memory_bytes", "workload")
    for row in speed_rows:
        if row["status"] is not Outcome.RIGHT:
            continue
        identity = {key: row[key] for key in ("model", "implementation", "kind")} | dict.fromkeys(measured)
        at = by_model.setdefault((row["model"], row["implementation"]), identity)
        peak = row["peak_memory_bytes"]
        if row["task"] == "load":
            at.update(zip(measured, (row["median"], row["low"], row["high"], peak), strict=False))
        elif peak is not None and peak >= (at["peak_memory_bytes"] or 0):
            at |= {"peak_memory_bytes": peak, "workload": row["workload"]}
    rows = [at for at in by_model.values() if at["load_ms"] is not None or at["peak_memory_bytes"] is not None]
    return sorted(rows, key=lambda at: (at["model"], at["peak_memory_bytes"] or at["load_memory_bytes"] or 0))
