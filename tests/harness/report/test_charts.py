"""Charts: what they draw, in which colours, and what they say in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_by_hand import timed

from harness.records import AnyRecord
from harness.report import palette, wording
from harness.report.charts import charts, plots
from harness.report.charts.chart import Chart, svg


def encoded(name: str, seconds: float, model: str = "m", corpus: str = "turkish") -> list[AnyRecord]:
    workload = f"encode/{model}/{corpus}"
    return [*timed(name, [[seconds, seconds * 1.01]] * 2, workload, model=model, corpus=corpus)]


def throughput(records: list[AnyRecord]) -> Chart:
    return {chart.name: chart for chart in charts(records)}["throughput"]


def data_of(chart: Chart) -> list[dict[str, Any]]:
    return [row for rows in chart.spec["datasets"].values() for row in rows]


def test_the_overview_shows_real_text_only_and_names_the_best_of_every_panel() -> None:
    others = [record for k in range(3) for record in encoded(f"other{k}", 0.3 + k)]
    records = [*encoded("naive", 0.2), *others, *encoded("naive", 0.3, model="n")]
    chart = throughput([*records, *encoded("naive", 0.2, corpus="gen/spaces:9")])
    assert {row["workload"] for row in data_of(chart)} == {"encode/m/turkish", "encode/n/turkish"}
    assert "encode/m/turkish: naive 4.98, other0 3.32, other1 0.765; encode/n/turkish: naive 3.32." in chart.alternative
    assert "other2" not in chart.alternative
    assert "encode/n/turkish" in svg(chart, "dark")


def test_a_workload_that_may_not_be_cited_is_left_out() -> None:
    copy = timed("naive", [[0.2], [0.5]], "encode/n/turkish", model="n", corpus="turkish", copy=1)
    records = [*encoded("naive", 0.2), *encoded("naive", 0.3, model="n"), *copy]
    assert {row["workload"] for row in data_of(throughput(records))} == {"encode/m/turkish"}


@given(st.floats(1e-9, 1e9), st.floats(1, 1e9))
def test_ticks_lie_within_the_axis_and_are_few(low: float, factor: float) -> None:
    ticks = plots.log_ticks(low, low * factor)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 7
    assert all(low <= tick <= low * factor for tick in ticks)
    if factor >= 1.5:
        assert ticks


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", palette.SCHEMES)
def test_colours_stand_out_from_their_ground_and_every_kind_has_its_own(scheme: palette.Scheme) -> None:
    ground = palette.GROUND[scheme]
    assert contrast(palette.INK[scheme], ground) >= 7
    assert contrast(palette.QUIET[scheme], ground) >= 4.5
    assert contrast(palette.LINK[scheme], ground) >= 4.5
    assert all(contrast(colour, ground) >= 3 for colour in palette.KIND_COLOURS[scheme])
    assert len(set(palette.SHAPES)) == len(set(palette.KIND_COLOURS[scheme])) == len(wording.KINDS)


@pytest.mark.parametrize("scheme", palette.SCHEMES)
def test_an_image_has_its_title_direction_and_colours_and_no_markup_of_a_name(scheme: palette.Scheme) -> None:
    records = [*encoded("naive", 0.2), *encoded("<script>x</script>", 0.1)]
    image = svg(throughput(records), scheme)
    assert image.startswith("<svg")
    assert "higher is better" in image
    assert "<script" not in image
    assert palette.KIND_COLOURS[scheme][0].lower() in image.lower()
    assert "http" not in image.replace("http://www.w3.org", "")
