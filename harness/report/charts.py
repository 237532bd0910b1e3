"""All charts that a run's records allow. Knows records, not pages."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report import speed
from harness.report.chart import Chart, svg
from harness.report.charts_agreement import agreement_charts
from harness.report.charts_growth import memory_charts, merge_charts, scaling_charts
from harness.report.charts_speed import overview_chart, pareto_charts, thread_charts, throughput_charts
from harness.report.table import Row

__all__ = ["Chart", "charts", "svg"]


def charts(records: Sequence[object], speed_rows: Sequence[Row] | None = None) -> list[Chart]:
    """Return every chart these records allow, in the order of the report."""
    rows = list(speed.speed_rows(records) if speed_rows is None else speed_rows)
    return [
        *agreement_charts(records),
        *overview_chart(rows),
        *throughput_charts(rows),
        *pareto_charts(records, rows),
        *memory_charts(rows),
        *scaling_charts(records),
        *thread_charts(records),
        *merge_charts(records),
    ]
