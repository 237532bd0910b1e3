"""The chart of a README: what it draws, in which colours, and its words."""

from __future__ import annotations

import pytest
from records_by_hand import timed

from harness.records import AnyRecord
from harness.report import palette, wording
from harness.report.chart import Chart, svg, throughput
from harness.report.tables.speed import speed_rows


def encoded(name: str, seconds: float, model: str = "m", corpus: str = "turkish") -> list[AnyRecord]:
    workload = f"encode/{model}/{corpus}"
    return [*timed(name, [[seconds, seconds * 1.01]] * 2, workload, model=model, corpus=corpus)]


def chart_of(records: list[AnyRecord]) -> Chart:
    return throughput(speed_rows(records))


def test_the_chart_shows_real_text_that_may_be_cited_and_names_the_best_of_every_panel() -> None:
    others = [record for k in range(3) for record in encoded(f"other{k}", 0.3 + k)]
    records = [*encoded("naive", 0.2), *others, *encoded("naive", 0.3, model="n"), *encoded("naive", 0.1, model="o")]
    records += timed("naive", [[0.2], [0.5]], "encode/o/turkish", model="o", corpus="turkish", copy=1)
    chart = chart_of([*records, *encoded("naive", 0.2, corpus="gen/spaces:9")])
    assert {dot["workload"] for dot in chart.spec["data"]["values"]} == {"encode/m/turkish", "encode/n/turkish"}
    assert "encode/m/turkish: naive 4.98, other0 3.32, other1 0.765; encode/n/turkish: naive 3.32." in chart.alternative
    assert throughput([]) is None


def test_the_chart_has_one_unit() -> None:
    short = timed("naive", [[0.001, 0.001]] * 2, "short/m/turkish", n_bytes=50, model="m", corpus="turkish")
    assert "short" not in chart_of([*encoded("naive", 0.2), *short]).alternative


@pytest.mark.parametrize("scheme", palette.SCHEMES)
def test_an_image_has_its_title_colours_and_no_markup_of_a_name(scheme: palette.Scheme) -> None:
    image = svg(chart_of([*encoded("naive", 0.2), *encoded("<script>x</script>", 0.1)]), scheme)
    assert image.startswith("<svg")
    assert "higher is better" in image
    assert "<script" not in image
    assert "http" not in image.replace("http://www.w3.org", "")
    colours = [palette.COLOURS[scheme][f"kind_{kind}"] for kind in wording.KINDS]
    assert colours[0].lower() in image.lower()
    assert len(set(palette.SHAPES)) == len(set(colours)) == len(wording.KINDS)
