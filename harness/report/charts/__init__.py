"""All charts that a run's records allow. Knows records, not pages."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.charts.chart import Chart
from harness.report.charts.growth import merge_charts, scaling_charts
from harness.report.charts.speed import overview_chart
from harness.report.table import Row
from harness.report.tables import speed


def charts(records: Sequence[object], speed_rows: Sequence[Row] | None = None) -> list[Chart]:
    """Return every chart these records allow, in the order of the report."""
    rows = speed.speed_rows(records) if speed_rows is None else speed_rows
    return [
        *overview_chart(rows),
        *scaling_charts(records),
        *merge_charts(records),
    ]
