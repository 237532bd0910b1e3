"""The table of growth: how time grows with the size of the input, and where that ends."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness.grouping import grouped
from harness.measure.scaling import PASS_LIMIT_SECONDS, Curve, curves, size_of
from harness.measure.summary import is_growth
from harness.outcome import Outcome
from harness.records import Measurement, of_kind
from harness.report import wording
from harness.report.table import Row, Table, table_of


def _row(curve: Curve) -> Row:
    fit, end = curve.exponent, curve.end
    status, verdict = Outcome.RIGHT, ""
    if end is not None and fit is None:
        status, verdict = end.outcome, f"{end.outcome}: {end.reason}"
    elif end is not None and end.outcome is not Outcome.TIMEOUT:
        verdict = f"{end.outcome} at {wording.size(size_of(end))}: {end.reason}"
    is_bounded = fit is not None and math.isfinite(fit.high)
    largest = max(curve.seconds, default=None)
    return {
        "status": status, "exponent": fit and fit.value, "low": fit.low if fit and is_bounded else None,
        "high": fit.high if fit and is_bounded else None, "bound": fit and fit.lower_bound, "largest_bytes": largest,
        "largest_seconds": None if largest is None else curve.seconds[largest],
        "end": end and end.outcome, "end_bytes": end and size_of(end), "verdict": verdict,
    }  # fmt: skip


def scaling_table(records: Iterable[object]) -> Table:
    """Return one row for each model, family and implementation: its exponent with interval, or why it has none."""
    scaled = [m for m in of_kind(records, Measurement) if is_growth(m.workload)]
    limits = {m.limit_seconds or PASS_LIMIT_SECONDS for m in scaled}
    rows = [
        {"model": model, "family": family, "implementation": name, "kind": wording.kind_of(name)} | _row(curve)
        for model, some in grouped(scaled, lambda m: m.model).items()
        for (name, family), curve in curves(some).items()
    ]
    rows.sort(key=lambda row: (row["model"], row["family"], row["exponent"] or 0.0))
    return table_of("scaling", rows, limits=" or ".join(f"{limit:g}" for limit in sorted(limits)))
