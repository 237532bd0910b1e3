"""The sizes a curve is shown at, and what the chart of it holds."""

from __future__ import annotations

import pytest

from harness.report.charts.chart import svg
from harness.report.charts.growth import size_chart
from harness.report.vocabulary import curve_sizes


@pytest.mark.parametrize(
    ("n_merges", "round_ones"),
    [(0, [0]), (1, [0, 1]), (7, [0, 1, 2, 5, 7]), (120, [0, 1, 2, 5, 10, 20, 50, 100, 120])],
)
def test_sizes_begin_with_none_end_with_all_and_hold_round_numbers(n_merges: int, round_ones: list[int]) -> None:
    sizes = curve_sizes(n_merges)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (0, n_merges)
    assert set(round_ones) <= set(sizes)
    assert len(curve_sizes(200_000)) < 90


def test_a_chart_of_sizes_has_a_band_where_there_is_an_interval() -> None:
    points = [
        {"vocab_size": size, "bytes_per_token": value, "low": low, "high": high}
        for size, value, low, high in [(256, 1.0, 1.0, 1.0), (300, 1.5, 1.4, 1.7), (400, 2.25, 2.0, 2.5)]
    ]
    (chart,) = size_chart("sizes-m", "m", points, "turkish/held-out")
    assert chart.alternative == "Bytes per token of m on turkish/held-out: 1.00 at 256 ids, 2.25 at 400."
    assert [layer["mark"]["type"] for layer in chart.spec["layer"]] == ["area", "line", "point"]
    assert "Bytes per token by size: m" in svg(chart, "dark")
    (alone,) = size_chart("sizes-m", "m", [point | {"low": None, "high": None} for point in points], "one")
    assert [svg(one, "light").count('aria-roledescription="area mark"') for one in (chart, alone)] == [1, 0]
    assert list(size_chart("sizes-m", "m", points[:1], "one")) == []
