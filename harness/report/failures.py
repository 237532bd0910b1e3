"""The table of every verdict other than ok, with its reason."""

from __future__ import annotations

from collections.abc import Iterable

from harness.records import Counterexample, Measurement, Verdict, of_kind
from harness.report import wording
from harness.report.correctness import COUNTEREXAMPLE_KEYS, counterexample_fields, training_verdicts, verdicts
from harness.report.table import Column, Table, frame_of


def _some_places(where: str, at_most: int = 3) -> str:
    places = where.split(", ")
    shown = wording.text(", ".join(places[:at_most]))
    return shown if len(places) <= at_most else f"{shown} and {len(places) - at_most:,} more"


def _failed_verdicts(records: Iterable[object]) -> list[Verdict]:
    """Return every failed verdict, except a rule a trainer does not follow, which the table of trainers shows."""
    return [*verdicts(records), *(v for v in training_verdicts(records) if v.status != "unsupported")]


def failures_table(records: Iterable[object]) -> Table:
    """Return everything that is not ok, with its reason; nothing is left out."""
    together: dict[tuple[str, str, str], dict[str, Counterexample | None]] = {}
    for m in of_kind(records, Measurement):
        if m.status != "ok":
            together.setdefault((m.implementation, m.status, m.reason), {})[m.workload] = m.counterexample
    for v in _failed_verdicts(records):
        if v.status != "ok":
            where = f"{v.check} {v.model}/{v.corpus}"
            together.setdefault((v.implementation, v.status, v.reason), {})[where] = v.counterexample
    rows = [
        {
            "implementation": implementation, "status": status, "reason": reason, "n_places": len(places),
            "where": ", ".join(places),
        } | counterexample_fields(next(filter(None, places.values()), None))
        for (implementation, status, reason), places in together.items()
    ]  # fmt: skip
    columns = (
        Column("implementation", "implementation"), Column("status", "verdict"),
        Column("reason", "reason", elastic=True),
        Column("n_places", "times", wording.count, right=True),
        Column("where", "where", _some_places, elastic=True),
    )  # fmt: skip
    return Table(
        name="failures",
        title="Failures: what could not be done, and why",
        frame=frame_of(rows, ["implementation", "status", "reason", "n_places", "where", *COUNTEREXAMPLE_KEYS]),
        note=" · ".join(
            f"{status}: {meaning}"
            for status, meaning in wording.STATUS_MEANS.items()
            if any(row["status"] == status for row in rows)
        ),
        columns=columns,
    )
