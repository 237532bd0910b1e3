"""Growth of time with the size of the input: exponents, where implementations fail, and the points of the charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from harness.data.generated import FAMILIES
from harness.measure.scaling import ends, exponents, family_of, limit_of, seconds_of, size_of
from harness.measure.stats import Exponent
from harness.measure.summary import is_growth
from harness.outcome import Outcome
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Column, Row, Table, grouped, table_of


def _scaled(records: Iterable[object]) -> list[Measurement]:
    """Return the measurements of growth among `records`."""
    return [m for m in of_kind(records, Measurement) if is_growth(m.workload)]


def growth_points(records: Iterable[object]) -> dict[tuple[str, str, str], list[Row]]:
    """Map (model, family, implementation) -> `n_bytes, seconds, bound` by size: the minimum time over rounds.

    A size that reached its time limit is a bound: it took at least that long.
    """
    best: dict[tuple[str, str, str], dict[int, Row]] = {}
    for m in _scaled(records):
        points = best.setdefault((m.model, family_of(m), m.implementation), {})
        n_bytes = size_of(m)
        if m.outcome is Outcome.RIGHT:
            seconds, known = seconds_of(m), points.get(n_bytes)
            if known is None or known["bound"] or seconds < known["seconds"]:
                points[n_bytes] = {"n_bytes": n_bytes, "seconds": seconds, "bound": False}
        elif m.outcome is Outcome.TIMEOUT:
            points.setdefault(n_bytes, {"n_bytes": n_bytes, "seconds": limit_of(m), "bound": True})
    return {key: [points[size] for size in sorted(points)] for key, points in best.items() if points}


def scaling_rows(records: Iterable[object]) -> list[Row]:
    """Return one row for each model, family and implementation: its exponent with interval, or why it has none."""
    records = list(records)
    points = growth_points(records)
    rows: list[Row] = []
    for model, some in grouped(_scaled(records), lambda m: m.model).items():
        ended = ends(some)
        for (implementation, family), found in exponents(some).items():
            end = ended.get((implementation, family))
            done = [p for p in points.get((model, family, implementation), []) if not p["bound"]]
            fitted = found if isinstance(found, Exponent) else None
            status, verdict = Outcome.RIGHT, ""
            if not isinstance(found, Exponent):
                status, verdict = found.outcome, f"{found.outcome}: {found.reason}"
            elif end is not None and end.outcome is not Outcome.TIMEOUT:
                verdict = f"{end.outcome} at {wording.size(size_of(end))}: {end.reason}"
            bounded = fitted if fitted is not None and math.isfinite(fitted.high) else None
            row = {
                "model": model, "family": family, "implementation": implementation,
                "kind": wording.kind_of(implementation), "status": status,
                "exponent": fitted and fitted.value, "low": bounded and bounded.low, "high": bounded and bounded.high,
                "bound": fitted and fitted.lower_bound,
            }  # fmt: skip
            rows.append(
                row | {
                    "growth": shown_exponent(row),
                    "largest_bytes": done[-1]["n_bytes"] if done else None,
                    "largest_seconds": done[-1]["seconds"] if done else None,
                    "end": end and end.outcome, "end_bytes": end and size_of(end),
                    "limit_seconds": max(limit_of(m) for m in some), "verdict": verdict,
                }
            )  # fmt: skip
    return sorted(rows, key=lambda row: (row["model"], row["family"], row["exponent"] or 0.0))


def shown_exponent(row: Row) -> str:
    """Return an exponent with its interval, or its bound if the next size timed out."""
    if row["exponent"] is None:
        return wording.ABSENT
    shown = f"{row['exponent']:.2f}"
    if row["low"] is not None:
        shown += f" ({row['low']:.2f}–{row['high']:.2f})"
    return shown if row["bound"] is None else f"{shown}, then ≥ {row['bound']:.2f}"


def scaling_table(records: Iterable[object]) -> Table:
    """Return the table of exponents of growth on every family."""
    rows = scaling_rows(records)
    limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit_seconds"] for row in rows}))
    return table_of("scaling", rows, limits=limits)


def breaks_table(records: Sequence[object]) -> Table:
    """Return one row for each model and implementation, one column for each generated family with any measurement."""
    measured = [m for m in of_kind(records, Measurement) if m.corpus.startswith("gen/") and m.task.startswith("encode")]
    opened = _opened(records)
    cells = {
        key: _cell(row)
        for row in scaling_rows(records)
        if (key := (row["model"], row["implementation"], row["family"]))[:2] in opened
    }
    for key, some in grouped(measured, lambda m: (m.model, m.implementation, family_of(m))).items():
        words = [wording.WORDS[m.outcome] for m in some if not is_growth(m.workload) and key[:2] in opened]
        word = next((word for word in words if word != Outcome.RIGHT), Outcome.RIGHT if words else None)
        if word is not None and (word != Outcome.RIGHT or key not in cells):
            cells[key] = word  # a failure outweighs shorter texts before it
    known = list(FAMILIES)
    families = sorted({key[2] for key in cells}, key=lambda name: known.index(name) if name in known else len(known))
    rows = [
        {"model": model, "implementation": implementation, "kind": wording.kind_of(implementation)}
        | {family: cells.get((model, implementation, family), "") for family in families}
        for model, implementation in dict.fromkeys((m.model, m.implementation) for m in measured)
        if any(key[:2] == (model, implementation) for key in cells)
    ]
    said = ", ".join(
        f"{word}: {wording.STATUS_MEANS[status]}"
        for status, word in wording.WORDS.items()
        if word in cells.values() and status not in (Outcome.REFUSED, Outcome.RIGHT)
    )
    left_out = sorted({m.implementation for m in measured} - {name for _, name in opened})
    legend = ", ".join(f"{number} {family}" for number, family in enumerate(families, 1))
    legend += f".\n{said}" if said else ""
    legend += f".\nNot shown, as they cannot run the model: {', '.join(left_out)}" if left_out else ""
    figures = (Column(family, f"{number}", right=True) for number, family in enumerate(families, 1))
    return table_of("breaks", rows, (Column("implementation", "implementation"), *figures), legend=legend)


def _cell(row: Row) -> str:
    if row["bound"] is not None:
        return f"≥{row['bound']:.1f}"
    if row["end"] is not None and (row["end"] is not Outcome.TIMEOUT or row["exponent"] is None):
        return wording.WORDS[row["end"]]
    return f"{row['exponent']:.2f}"


def _opened(records: Iterable[object]) -> set[tuple[str, str]]:
    """Return the (model, implementation) pairs that could be built, whether or not they then encoded a text."""
    return {
        (m.model, m.implementation) for m in of_kind(records, Measurement) if not m.outcome.did_not_run or m.round_trip
    }
