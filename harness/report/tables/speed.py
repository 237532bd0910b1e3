"""Tables of speed and memory: every implementation on every workload, and the ranking over shared workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from harness.measure.analysis.comparison import ranking
from harness.measure.analysis.samples import measured_floor
from harness.measure.analysis.stats import NOISE_MARGIN, Interval, Ranked, claim, ratio_interval
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Row, Table, grouped, table_of
from harness.report.tables.timings import Timing, timings

TASK_ORDER = (
    "encode", "encode-array", "encode-documents", "encode-documents-array", "encode-short", "encode-batch",
    "encode-ragged", "count", "decode", "decode-stream", "truncate", "append", "chat", "keystrokes", "load", "train",
)  # fmt: skip
REMEMBERED = {
    "process": "remembers whole texts; not ranked where they repeat",
    "machine": "remembers whole texts from one process to the next; not ranked",
    "unknown": "whether it remembers whole texts could not be found out; not ranked where they repeat",
}


def speed_rows(records: Sequence[object], floor: float | None) -> list[Row]:
    """Return one row for each workload and implementation: workloads by name, the best first, failures last.

    `claimed` and `claimed_from_above` say whether a run with this noise floor can claim the difference to the best and
    to the row above (`stats.claim`). Inexact implementations follow the exact ones: shown, never ranked.
    """
    rows: list[Row] = []
    for some in sorted(grouped(timings(records), lambda t: t.record.workload).values(), key=_place):
        timed = sorted((t for t in some if t.rounds), key=lambda t: (not t.ranked, t.time.value))
        rows += [_row(t, timed[0], above, floor) for t, above in zip(timed, [None, *timed], strict=False)]
        rows += [_row(t, None, None, floor) for t in some if not t.rounds]
    return rows


def _place(some: Sequence[Timing]) -> tuple[int, bool, str]:
    """Return the sort key of a workload: by task, the plain state first, then by name."""
    first = some[0].record
    place = TASK_ORDER.index(first.task) if first.task in TASK_ORDER else len(TASK_ORDER)
    return place, first.state != "warm-same", first.workload


def noise_floor(records: Iterable[object]) -> float | None:
    """Return the largest difference between two copies of one implementation in this run, as a share, or None."""
    return measured_floor(of_kind(records, Measurement))


def _row(t: Timing, best: Timing | None, above: Timing | None, floor: float | None) -> Row:
    """Return the row of `t`; `best` and `above` are rows of the same workload, `best` is None if it was not timed."""
    m = t.record
    to_best = ratio_interval(t.rounds, best.rounds) if best is not None and t.ranked else None
    to_above = ratio_interval(t.rounds, above.rounds) if above is not None and t.ranked else None
    same = ("workload", "task", "state", "model", "corpus", "threads", "implementation")
    return {
        **{key: getattr(m, key) for key in same},
        "kind": wording.kind_of(m.implementation), "exact": m.exact, "ranked": t.ranked, "status": m.status,
        "reason": m.reason, "unit": t.unit,
        **_spread(t.figure if t.rounds else None, "median", "low", "high"),
        **_spread(to_best, "times_best", "times_best_low", "times_best_high"),
        "claimed": None if to_best is None or to_above is None else claim(to_best, floor) == "slower",
        "claimed_from_above": None if to_above is None else claim(to_above, floor) == "slower",
        "n_rounds": len(t.rounds), "n_samples": sum(map(len, t.rounds)), "n_bytes": m.n_bytes if t.rounds else None,
        "full_bytes": m.full_bytes or None, "n_tokens": m.n_tokens if t.rounds else None,
        "peak_memory_bytes": m.peak_memory_bytes, "remembered": m.remembered,
    }  # fmt: skip


def _spread(found: Interval | None, *keys: str) -> Row:
    """Return the value and the ends of an interval under `keys`."""
    return dict.fromkeys(keys) if found is None else dict(zip(keys, found, strict=False))


def shown_ratio(row: Row) -> str:
    """Return how many times longer it takes than the best, preceded by `≈` if this run cannot claim a difference."""
    if row["times_best"] is None:
        return wording.ABSENT
    mark = "" if row["claimed"] or row["times_best"] == 1 else "≈ "
    return mark + wording.figure(row["times_best"])


def shown_interval(row: Row) -> str:
    """Return the 95 % interval of a figure, or a dash."""
    return wording.ABSENT if row["low"] is None else f"{wording.figure(row['low'])}–{wording.figure(row['high'])}"


def shown_text(row: Row) -> str:
    """Return the size of a pass, and of the whole text if the pass is a slice."""
    if row["n_bytes"] is None:
        return wording.ABSENT
    whole = row["full_bytes"]
    return wording.size(row["n_bytes"]) + (f" of {wording.size(whole)}" if whole and row["n_bytes"] < whole else "")


def shown_verdict(row: Row) -> str:
    """Return why a row has no rank; empty if it has one."""
    if row["status"] != "ok":
        return f"{row['status']}: {row['reason']}" if row["reason"] else str(row["status"])
    if not row["exact"]:
        return "other ids by design; not ranked"
    if row["remembered"]:
        return REMEMBERED[row["remembered"]]
    if row["state"] == "sustained" and not row["ranked"]:
        return "ended early: the time ran out; not ranked"
    return "" if row["ranked"] else "only a slice of text read once; not ranked"


def _shown(row: Row, **more: object) -> Row:
    """Return a row with its formatted figures, and `more`, in addition to the raw ones."""
    written = {"interval": shown_interval(row), "ratio": shown_ratio(row), "text": shown_text(row)}
    return row | written | more | {"verdict": shown_verdict(row)}


def speed_table(speed_rows: Sequence[Row], floor: float | None) -> Table:
    """Return the speed of every implementation on every workload; training has its own table."""
    rows = [
        _shown(row, alike="≈" if row["claimed_from_above"] is False else "")
        for row in speed_rows
        if row["task"] != "train"
    ]
    better = {"MB/s": "higher"}
    return table_of(
        "speed",
        rows,
        group_title={
            str(row["workload"]): f"{row['workload']} · {row['unit']}, {better.get(row['unit'], 'lower')} is better"
            for row in rows
        },
        claimed=claimed_where(floor, {row["n_rounds"] for row in rows if row["n_rounds"]}),
    )


def claimed_where(floor: float | None, rounds: Collection[int]) -> str:
    """Return which differences a run with this noise floor claims; `rounds` are the numbers of rounds it timed."""
    if floor is not None and max(rounds, default=0) > 1:
        alone = f" What was timed in a single round needs a ratio above {NOISE_MARGIN:g}." if 1 in rounds else ""
        return (
            "Claimed is a difference whose 95 % interval does not hold 1 and which exceeds the noise floor of "
            f"{wording.percent(floor)} (the most by which two copies of one implementation differed).{alone}"
        )
    why = "It timed a single round" if floor is not None else "It ran no implementation twice"
    return (
        f"{why}, so its noise is unknown: claimed is only a ratio above {NOISE_MARGIN:g}, beyond all noise ever "
        "recorded (METHODOLOGY, Statistics)."
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
        shared=_summed(shared),
        alone="One alone has no place. " if alone else "",
        claimed=claimed_where(floor, {found.ratio.rounds for found in ranked}),
    )


def _is_behind(ranked: Sequence[Ranked], place: int, floor: float | None) -> bool:
    """Return whether the one at `place` (from 0) is claimed to be slower than the one before; True past either end."""
    to_above = ranked[place].to_above if place < len(ranked) else None
    return to_above is None or claim(to_above, floor) == "slower"


def _summed(workloads: Sequence[str]) -> str:
    """Count workloads by their first word: `encode (5), decode (2)`."""
    counts = Counter(name.partition("/")[0] for name in workloads)
    return ", ".join(f"{printable(name)} ({n})" if n > 1 else printable(name) for name, n in counts.items())


def training_table(speed_rows: Sequence[Row]) -> Table:
    """Return the time of every trainer on the training workloads."""
    rows = [
        _shown(row | {"seconds": row["n_bytes"] / row["median"] / 1e6 if row["median"] else None})
        for row in speed_rows
        if row["task"] == "train"
    ]
    return table_of("training", rows)


def memory_rows(speed_rows: Sequence[Row]) -> list[Row]:
    """Return peak memory and load time for each model and implementation, the least memory first."""
    found: dict[tuple[str, str], Row] = {}
    measured = ("load_ms", "load_low_ms", "load_high_ms", "load_memory_bytes", "peak_memory_bytes", "workload")
    for row in speed_rows:
        if row["status"] != "ok":
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
