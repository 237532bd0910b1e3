"""Growth of time with the size of the input: the table of exponents, and the points of the charts."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness.measure.samples import is_growth
from harness.measure.scaling import ends, exponents, family_of, limit_of
from harness.measure.stats import Exponent
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, frame_of


def scale_records(records: Iterable[object]) -> list[Measurement]:
    """Return the measurements of growth among `records`."""
    return [m for m in of_kind(records, Measurement) if is_growth(m.workload)]


def growth_points(records: Iterable[object]) -> dict[tuple[str, str, str], list[Row]]:
    """Map (model, family, implementation) -> `n_bytes, seconds, bound` by size: the minimum time over rounds.

    A size that ran into its time limit is a bound: it took at least that long.
    """
    best: dict[tuple[str, str, str], dict[int, Row]] = {}
    for m in scale_records(records):
        points = best.setdefault((m.model, family_of(m), m.implementation), {})
        if m.status == "ok" and m.samples_seconds:
            seconds = min(m.samples_seconds) / max(1, m.loops)
            known = points.get(m.n_bytes)
            if known is None or known["bound"] or seconds < known["seconds"]:
                points[m.n_bytes] = {"n_bytes": m.n_bytes, "seconds": seconds, "bound": False}
        elif m.status == "timeout" and m.n_bytes:
            points.setdefault(m.n_bytes, {"n_bytes": m.n_bytes, "seconds": limit_of(m), "bound": True})
    return {key: [points[size] for size in sorted(points)] for key, points in best.items() if points}


def scaling_rows(records: Iterable[object]) -> list[Row]:
    """Return one row for each model, family and implementation: its exponent with interval, or why there is none."""
    by_model: dict[str, list[Measurement]] = {}
    for m in scale_records(records):
        by_model.setdefault(m.model, []).append(m)
    points = growth_points(records)
    rows: list[Row] = []
    for model, some in by_model.items():
        ended = ends(some)
        for (implementation, family), found in exponents(some).items():
            end = ended.get((implementation, family))
            done = [p for p in points.get((model, family, implementation), []) if not p["bound"]]
            row: Row = {
                "model": model, "family": family, "implementation": implementation,
                "kind": wording.kind_of(implementation), "status": "ok", "verdict": "",
                "largest_bytes": done[-1]["n_bytes"] if done else None,
                "largest_seconds": done[-1]["seconds"] if done else None,
                "end": None if end is None else end.status, "end_bytes": None if end is None else end.n_bytes,
                "limit_seconds": max(limit_of(m) for m in some),
            }  # fmt: skip
            if isinstance(found, Exponent):
                row |= {"exponent": found.value, "bound": found.lower_bound}
                if math.isfinite(found.high):
                    row |= {"low": found.low, "high": found.high}
                if end is not None and end.status != "timeout":
                    row["verdict"] = f"{end.status} at {wording.size(end.n_bytes)}: {end.reason}"
            else:
                row |= {"status": found.status, "verdict": f"{found.status}: {found.reason}"}
            rows.append(row)
    rows.sort(key=lambda row: (row["model"], row["family"], row.get("exponent") or 0.0))
    return rows


def shown_exponent(row: Row) -> str:
    """Return an exponent with its interval, and the bound where the next size timed out."""
    if row.get("exponent") is None:
        return wording.ABSENT
    shown = f"{row['exponent']:.2f}"
    if row.get("low") is not None:
        shown += f" ({row['low']:.2f}–{row['high']:.2f})"
    return shown if row.get("bound") is None else f"{shown}, then ≥ {row['bound']:.2f}"


def scaling_table(records: Iterable[object]) -> Table:
    """Return the table of exponents of growth on every family."""
    rows = [row | {"growth": shown_exponent(row)} for row in scaling_rows(records)]
    limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit_seconds"] for row in rows}))
    columns = (
        Column("implementation", "implementation"), Column("kind", "kind"),
        Column("growth", "exponent (95 % interval)"),
        Column("largest_bytes", "largest", wording.size, right=True),
        Column("largest_seconds", "time there", wording.duration, right=True),
        *((Column("verdict", "verdict", elastic=True),) if any(row["verdict"] for row in rows) else ()),
    )  # fmt: skip
    keys = [
        "model", "family", "implementation", "kind", "status", "exponent", "low", "high", "bound", "growth",
        "largest_bytes", "largest_seconds", "end", "end_bytes", "limit_seconds", "verdict",
    ]  # fmt: skip
    return Table(
        name="scaling",
        title="Scaling: how time grows with the length of one text",
        frame=frame_of(rows, keys),
        note="Time grows as length to the power of the exponent: 1 is linear, 2 quadratic; lower is better. "
        f"≥ is a lower bound: the next size did not end within {limits} s.",
        columns=columns,
        group_by="family",
    )
