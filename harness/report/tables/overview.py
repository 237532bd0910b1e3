"""The first table of a run: every implementation, whether its ids are right, and its speed on common tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.grouping import grouped
from harness.measure.comparison import ranking
from harness.measure.workloads import GROWING
from harness.outcome import Outcome
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Row, Table, declared_columns, table_of

MEMORY = "memory_mb"


def overview_table(records: Sequence[object], speed_rows: Sequence[Row]) -> Table:
    """Return one row for each timed implementation, the fastest first; the note names the others.

    Figures are the medians of `speed_rows`, or a word for the verdict. Empty if none of its workloads was
    run.
    """
    rows = [row for row in speed_rows if row["task"] != "train"]
    run = {row["workload"] for row in rows}
    columns = [column for column in declared_columns("overview") if column.workload]
    shown = [column for column in columns if column.workload in run]
    by_name = {
        name: {row["workload"]: row for row in some}
        for name, some in grouped(rows if shown else [], lambda row: row["implementation"]).items()
    }
    place = {ranked.name: i for i, ranked in enumerate(ranking(of_kind(records, Measurement))[0])}
    order = sorted(by_name, key=lambda name: (place.get(name, len(place)), -_n_timed(by_name[name]), name))
    timed = [name for name in order if _n_timed(by_name[name])]

    def outcome(name: str) -> Outcome:
        return Counter[Outcome](row["status"] for row in by_name[name].values()).most_common(1)[0][0]

    untimed = grouped((name for name in order if name not in timed), outcome)
    return table_of(
        "overview",
        [
            {"implementation": name, "kind": wording.kind_of(name), "ids": _verdict(by_name[name])}
            | {column.key: _cell(column.key, by_name[name].get(column.workload)) for column in shown}
            for name in timed
        ],
        without=[column.key for column in columns if column not in shown],
        left_out="".join(f"\nNot timed, {status}: {', '.join(names)}." for status, names in untimed.items()),
    )


def _n_timed(rows: dict[str, Row]) -> int:
    return sum(row["median"] is not None for row in rows.values())


def _verdict(rows: dict[str, Row]) -> str:
    """Return `exact`, or how often ids were wrong, or why the ids are unverified, or that no ids were asked for."""
    asked = [row for row in rows.values() if not row["status"].did_not_run]
    failed = Counter(row["status"] for row in asked if row["status"] is not Outcome.RIGHT)
    if failed:
        return ", ".join(f"{wording.WORDS[status]} {n}/{len(asked)}" for status, n in failed.most_common())
    if not all(row["exact"] for row in asked):
        return "differs by design"
    if not any(row["task"].startswith("encode") or row["task"] in GROWING for row in asked):
        return "not asked"
    return "exact"


def _cell(key: str, row: Row | None) -> float | str | None:
    if row is None or row["status"].did_not_run:
        return None
    if row["status"] is not Outcome.RIGHT:
        return wording.WORDS[row["status"]]
    figure: float | None = row["peak_memory_bytes"] if key == MEMORY else row["median"]
    return figure and figure / (1e6 if key == MEMORY else 1)
