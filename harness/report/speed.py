"""Tables of speed: every implementation on every workload, and the ranking over shared workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.measure.comparison import ranking
from harness.measure.samples import measured_floor
from harness.measure.stats import NOISE_MARGIN, Ranked, claim, ratio_interval
from harness.printable import printable
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of
from harness.report.timings import Timing, timings

SPEED_KEYS = (
    "workload", "task", "state", "model", "corpus", "threads", "implementation", "kind", "exact", "ranked", "status",
    "reason", "unit", "median", "low", "high", "times_best", "times_best_low", "times_best_high", "claimed",
    "claimed_from_above", "n_rounds", "n_samples", "n_bytes", "full_bytes", "n_tokens", "peak_memory_bytes",
    "remembered",
)  # fmt: skip
TASK_ORDER = (
    "encode", "encode-array", "encode-documents", "encode-documents-array", "encode-short", "encode-batch",
    "encode-ragged", "count", "decode", "load", "train",
)  # fmt: skip
REMEMBERED = {
    "process": "remembers whole texts; not ranked where they repeat",
    "machine": "remembers whole texts from one process to the next; not ranked",
    "unknown": "whether it remembers whole texts could not be found out; not ranked where they repeat",
}


def speed_rows(records: Sequence[object]) -> list[Row]:
    """Return one row for each workload and implementation: workloads by name, the best first, failures last.

    `claimed` and `claimed_from_above` say whether this run can claim the difference to the best and to the row above
    (`stats.claim`). Inexact implementations follow the exact ones: shown, never ranked.
    """
    floor = noise_floor(records)
    by_workload: dict[str, list[Timing]] = {}
    for timing in timings(records):
        by_workload.setdefault(timing.workload, []).append(timing)
    rows = [row for some in sorted(by_workload.values(), key=_place) for row in _workload_rows(some, floor)]
    return [{key: row.get(key) for key in SPEED_KEYS} for row in rows]


def _place(some: Sequence[Timing]) -> tuple[int, bool, str]:
    """Return the sort key of a workload: by task, the plain state first, then by name."""
    first = some[0]
    place = TASK_ORDER.index(first.task) if first.task in TASK_ORDER else len(TASK_ORDER)
    return place, first.state != "warm-same", first.workload


def noise_floor(records: Iterable[object]) -> float | None:
    """Return the largest difference between two copies of one implementation in this run, as a share, or None."""
    return measured_floor(of_kind(records, Measurement))


def _workload_rows(some: Sequence[Timing], floor: float | None) -> list[Row]:
    timed = [t for t in some if t.rounds]
    seconds = {t.implementation: t.time() for t in timed}
    timed.sort(key=lambda t: (not t.ranked, seconds[t.implementation].value))
    rows = []
    for i, t in enumerate(timed):
        time = seconds[t.implementation]
        figures = sorted((t.figure_of(time.low), t.figure_of(time.high)))
        row = _identity(t) | {"median": t.figure_of(time.value), "low": figures[0], "high": figures[1]}
        if t.ranked:
            to_best = ratio_interval(t.rounds, timed[0].rounds)
            row |= {"times_best": to_best.value, "times_best_low": to_best.low, "times_best_high": to_best.high}
            if i > 0:
                to_above = ratio_interval(t.rounds, timed[i - 1].rounds)
                row |= {
                    "claimed": claim(to_best, floor) == "slower",
                    "claimed_from_above": claim(to_above, floor) == "slower",
                }
        rows.append(row)
    return rows + [_identity(t) for t in some if not t.rounds]


def _identity(t: Timing) -> Row:
    return {
        "workload": t.workload, "task": t.task, "state": t.state, "model": t.model, "corpus": t.corpus,
        "threads": t.threads, "implementation": t.implementation, "kind": wording.kind_of(t.implementation),
        "exact": t.exact, "ranked": t.ranked, "status": t.status, "reason": t.reason, "unit": t.unit,
        "n_rounds": len(t.rounds),
        "n_samples": sum(map(len, t.rounds)), "n_bytes": t.n_bytes if t.rounds else None,
        "full_bytes": t.full_bytes or None, "n_tokens": t.n_tokens if t.rounds else None,
        "peak_memory_bytes": t.peak_memory_bytes, "remembered": t.remembered,
    }  # fmt: skip


def shown_ratio(row: Row) -> str:
    """Return how many times longer it takes than the best, after `≈` where this run cannot claim a difference."""
    if row["times_best"] is None:
        return wording.ABSENT
    mark = "" if row["claimed"] or row["times_best"] == 1 else "≈ "
    return mark + wording.figure(row["times_best"])


def shown_interval(row: Row) -> str:
    """Return the 95 % interval of a figure, or a dash."""
    if row.get("low") is None:
        return wording.ABSENT
    return f"{wording.figure(row['low'])}–{wording.figure(row['high'])}"


def shown_text(row: Row) -> str:
    """Return the size of a pass, and of the whole text where it is a slice."""
    if row["n_bytes"] is None:
        return wording.ABSENT
    whole = row["full_bytes"]
    return wording.size(row["n_bytes"]) + (f" of {wording.size(whole)}" if whole and row["n_bytes"] < whole else "")


def shown_verdict(row: Row) -> str:
    """Return why a row has no rank; empty where it has one."""
    if row["status"] != "ok":
        return f"{row['status']}: {row['reason']}" if row["reason"] else str(row["status"])
    if not row["exact"]:
        return "other ids by design; not ranked"
    if row["remembered"]:
        return REMEMBERED[row["remembered"]]
    if row["state"] == "sustained" and not row["ranked"]:
        return "ended early: the time ran out; not ranked"
    return "" if row["ranked"] else "only a slice of text read once; not ranked"


def shown(row: Row) -> Row:
    """Return a row with its formatted figures beside the raw ones."""
    return row | {
        "ratio": shown_ratio(row), "interval": shown_interval(row), "text": shown_text(row),
        "verdict": shown_verdict(row), "alike": "≈" if row["claimed_from_above"] is False else "",
    }  # fmt: skip


def speed_table(speed_rows: Sequence[Row], floor: float | None) -> Table:
    """Return the speed of every implementation on every workload; training has its own table."""
    rows = [shown(row) for row in speed_rows if row["task"] != "train"]
    titles = {
        str(row["workload"]): f"{row['workload']} · {row['unit']}, "
        f"{'higher' if row['unit'] == 'MB/s' else 'lower'} is better"
        for row in rows
    }
    columns = (
        Column("implementation", "implementation"),
        Column("kind", "kind"),
        Column("median", "median", wording.figure, right=True),
        Column("alike", ""),
        Column("interval", "95 % interval", right=True),
        Column("ratio", "× best", right=True),
        Column("text", "text", right=True),
        *((Column("verdict", "verdict", elastic=True),) if any(row["verdict"] for row in rows) else ()),
    )
    return Table(
        name="speed",
        title="Speed",
        frame=frame_of(rows, [*SPEED_KEYS, "interval", "ratio", "text", "alike", "verdict"]),
        note=claims_note(floor, max((row["n_rounds"] for row in rows), default=0)),
        columns=columns,
        group_by="workload",
        group_title=titles,
    )


def claims_note(floor: float | None, n_rounds: int) -> str:
    """Return the explanation of ≈ for this run."""
    meaning = (
        "× best: how many times longer than the fastest exact implementation. ≈: a difference this run cannot claim, "
        "before × best to the best, beside the median to the row above"
    )
    return f"{meaning}. {claimed_where(floor, n_rounds)}"


def claimed_where(floor: float | None, n_rounds: int) -> str:
    """Return which differences a run with this noise floor and this many rounds claims."""
    if floor is not None and n_rounds > 1:
        return (
            "Claimed is a difference whose 95 % interval does not hold 1 and which exceeds the noise floor of "
            f"{wording.percent(floor)} (the most by which two copies of one implementation differed)."
        )
    why = "It timed a single round" if floor is not None else "It ran no implementation twice"
    return (
        f"{why}, so its noise is unknown: claimed is only a ratio above {NOISE_MARGIN:g}, beyond all noise ever "
        "recorded (METHODOLOGY, Statistics)."
    )


_ONE_ALONE = "One alone has no place. "


def ranking_table(
    records: Sequence[object], names: Iterable[str] | None = None, workloads: Iterable[str] | None = None
) -> Table:
    """Return the ranking with the probability of each implementation's place; see `comparison.ranking`."""
    ranked, shared = ranking(of_kind(records, Measurement), names, workloads)
    floor = noise_floor(records)
    rows: list[Row] = []
    for place, found in enumerate(ranked):
        rows.append(
            {
                "place": place + 1, "implementation": found.name, "kind": wording.kind_of(found.name),
                "times_best": found.ratio.value, "low": found.ratio.low, "high": found.ratio.high,
                "claimed": place > 0 and claim(found.ratio, floor) == "slower",
                "place_claimed": _is_behind(ranked, place, floor) and _is_behind(ranked, place + 1, floor),
                "probability": found.rank_probabilities[place],
            }
        )  # fmt: skip
    if len(rows) == 1:
        rows[0] |= {"place": None, "place_claimed": False, "probability": None}
    for row in rows:
        row |= {"ratio": shown_ratio(row), "interval": shown_interval(row)}
        row["sure"] = wording.percent(row["probability"]) if row["place_claimed"] or len(rows) == 1 else "≈"
    columns = (
        Column("place", "place", wording.count, right=True),
        Column("implementation", "implementation"),
        Column("kind", "kind"),
        Column("ratio", "× best", right=True),
        Column("interval", "95 % interval", right=True),
        Column("sure", "sure of place", right=True),
    )
    keys = [
        "place", "implementation", "kind", "times_best", "low", "high", "claimed", "probability", "place_claimed",
        "ratio", "interval", "sure",
    ]  # fmt: skip
    return Table(
        name="ranking",
        title=f"Ranking: geometric mean of time over {len(shared)} workload{'s' if len(shared) != 1 else ''}",
        frame=frame_of(rows, keys),
        note="Exact implementations only, timed on three quarters of the workloads or more, over those all of them "
        f"share: {_summed(shared)}. ≈: a difference this run cannot claim, before × best to the best, as a place to "
        f"a neighbour. {_ONE_ALONE if len(rows) == 1 else ''}"
        f"{claimed_where(floor, min(found.ratio.rounds for found in ranked))}"
        if shared
        else "",
        columns=columns,
    )


def _is_behind(ranked: Sequence[Ranked], place: int, floor: float | None) -> bool:
    """Return whether the one at `place` (from 0) is claimed slower than the one before; True past either end."""
    to_above = ranked[place].to_above if place < len(ranked) else None
    return to_above is None or claim(to_above, floor) == "slower"


def _summed(workloads: Sequence[str]) -> str:
    """Count workloads by their first word: `encode (5), decode (2)`."""
    counts = Counter(name.partition("/")[0] for name in workloads)
    return ", ".join(f"{printable(name)} ({n})" if n > 1 else printable(name) for name, n in counts.items())
