"""Charts: what they draw, in which colours, and what they say in words."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.outcome import Outcome
from harness.records import Agreement, AgreementClass, AnyRecord, Compression, Measurement, Pass
from harness.report import palette, wording
from harness.report.charts import charts, plots
from harness.report.charts.chart import Chart, svg
from harness.report.charts.speed import on_the_front


def timed(implementation: str, seconds: float, model: str = "m", **more: Any) -> list[Measurement]:
    fields: dict[str, Any] = {
        "workload": f"encode/{model}/turkish", "task": "encode", "corpus": "turkish", "outcome": Outcome.RIGHT,
    }  # fmt: skip
    passes = [Pass(i, False, 1_000_000, [1], [t], [t]) for i, t in enumerate((seconds, seconds * 1.01)) if seconds]
    return [
        Measurement(implementation=implementation, model=model, opening=i, passes=passes, **(fields | more))
        for i in range(2)
    ]


def named(records: list[AnyRecord], name: str) -> Chart:
    found = {chart.name: chart for chart in charts(records)}
    return found[name]


def data_of(chart: Chart) -> list[dict[str, Any]]:
    return [row for rows in chart.spec["datasets"].values() for row in rows]


# --- throughput -------------------------------------------------------------------------------------------------


def test_a_throughput_chart_holds_every_implementation_failures_too() -> None:
    records = [
        *timed("naive", 0.2),
        *timed("priority", 0.1),
        *timed("far", 0, outcome=Outcome.CRASH),
    ]
    chart = named([*records], "speed-encode/m/turkish")
    rows = {row["implementation"]: row for row in data_of(chart)}
    assert rows["priority"]["figure"] == "9.95"
    assert rows["far"]["status"] == "crash"
    best_first = "encode/m/turkish, MB/s, higher is better, best first: priority 9.95, naive 4.98."
    assert chart.alternative == f"{best_first} Without a figure: far (crash)."
    assert "higher is better" in chart.subtitle


def test_the_overview_shows_real_text_only_and_names_the_best_of_every_panel() -> None:
    generated = timed("naive", 0.2, workload="encode/m/gen/spaces:9", corpus="gen/spaces:9")
    others = [record for k in range(3) for record in timed(f"other{k}", 0.3 + k)]
    chart = named([*timed("naive", 0.2), *others, *timed("naive", 0.3, model="n"), *generated], "throughput")
    assert {row["workload"] for row in data_of(chart)} == {"encode/m/turkish", "encode/n/turkish"}
    assert "encode/m/turkish: naive 4.98, other0 3.32, other1 0.765; encode/n/turkish: naive 3.32." in chart.alternative
    assert "other2" not in chart.alternative
    assert "encode/n/turkish" in svg(chart, "dark")


@given(st.floats(1e-9, 1e9), st.floats(1, 1e9))
def test_ticks_lie_within_the_axis_and_are_few(low: float, factor: float) -> None:
    ticks = plots.log_ticks(low, low * factor)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 7
    assert all(low <= tick <= low * factor for tick in ticks)
    if factor >= 1.5:
        assert ticks


# --- agreement --------------------------------------------------------------------------------------------------


def agreed(kind: AgreementClass, differing: int, model: str = "m") -> Agreement:
    return Agreement(
        a="naive", b="priority", model=model, corpus="c", agreement_class=kind, n_texts=9, n_differing_texts=differing
    )


@pytest.mark.parametrize(
    ("kind", "differing", "status", "mark"),
    [
        ("provably equal", 0, "equal, provably", "="),
        ("provably equal", 1, "differs: a fault", "≠"),
        ("equal under conditions", 0, "equal, under conditions", "="),
        ("equal under conditions", 1, "differs, under conditions", "≠"),
        ("expected to differ", 1, "differs, as expected", "≠"),
    ],
)
def test_a_cell_says_the_class_and_whether_the_pair_agrees(
    kind: AgreementClass, differing: int, status: str, mark: str
) -> None:
    (cell,) = data_of(named([agreed(kind, differing)], "agreement"))
    assert (cell["status"], cell["mark"]) == (status, mark)
    assert status in palette.AGREEMENTS


def test_pairs_that_differ_are_counted_by_their_class() -> None:
    records = [agreed("equal under conditions", 1), agreed("provably equal", 0, model="n")]
    assert "1 differed (1 equal under conditions)" in named([*records], "agreement").alternative


def test_over_all_models_a_pair_is_as_good_as_on_its_worst() -> None:
    (cell,) = data_of(named([agreed("provably equal", 0), agreed("provably equal", 2, model="n")], "agreement"))
    assert cell["mark"] == "≠"


# --- compression against speed ----------------------------------------------------------------------------------

FIGURES = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=12)


@given(FIGURES)
def test_nothing_beats_a_point_of_the_front_and_everything_else_is_beaten(figures: list[tuple[int, int]]) -> None:
    front = on_the_front([{"median": speed, "bytes_per_token": reach} for speed, reach in figures])
    for (speed, reach), kept in zip(figures, front, strict=True):
        beaten = any(s >= speed and r >= reach and (s, r) != (speed, reach) for s, r in figures)
        assert kept == (not beaten)


def weighed(model: str, n_tokens: int) -> Compression:
    return Compression(
        model=model, corpus="turkish", implementation="", n_texts=1, n_bytes=900, n_characters=1, n_words=1,
        n_tokens=n_tokens, vocab_size=1,
    )  # fmt: skip


def test_the_front_is_marked_and_described_in_words() -> None:
    records = [*timed("naive", 0.2), *timed("priority", 0.1), *timed("naive", 0.4, model="n")]
    chart = named([*records, weighed("m", 225), weighed("n", 180)], "pareto-turkish")
    front = {(row["implementation"], row["model"]) for row in data_of(chart) if row["front"]}
    assert front == {("priority", "m"), ("naive", "n")}
    assert "priority · m 9.95 MB/s, 4.00 bytes per token" in chart.alternative


def test_a_model_whose_tokens_were_not_counted_has_no_place() -> None:
    records = [*timed("priority", 0.1), *timed("priority", 0.1, model="n"), *timed("priority", 0.1, model="unknown")]
    chart = named([*records, weighed("m", 300), weighed("n", 225)], "pareto-turkish")
    assert {row["model"]: row["bytes_per_token"] for row in data_of(chart)} == {"m": 3.0, "n": 4.0}


# --- colours and images -----------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", palette.SCHEMES)
def test_colours_stand_out_from_their_ground(scheme: palette.Scheme) -> None:
    ground = palette.GROUND[scheme]
    assert contrast(palette.INK[scheme], ground) >= 7
    assert contrast(palette.QUIET[scheme], ground) >= 4.5
    assert contrast(palette.LINK[scheme], ground) >= 4.5
    assert all(contrast(colour, ground) >= 3 for colour in palette.KIND_COLOURS[scheme])


def test_every_kind_has_a_colour_and_a_shape_of_its_own() -> None:
    assert len(set(palette.SHAPES)) == len(wording.KINDS)
    for scheme in palette.SCHEMES:
        assert len(set(palette.KIND_COLOURS[scheme])) == len(wording.KINDS)
        assert len(set(palette.AGREEMENT_COLOURS[scheme])) == len(palette.AGREEMENTS)


def test_every_agreement_class_can_be_drawn() -> None:
    for kind, differing in itertools.product(get_args(AgreementClass), (0, 1)):
        (cell,) = data_of(named([agreed(kind, differing)], "agreement"))
        assert cell["status"] in palette.AGREEMENTS


@pytest.mark.parametrize("scheme", palette.SCHEMES)
def test_an_image_has_its_title_its_direction_and_its_colours(scheme: palette.Scheme) -> None:
    image = svg(named([*timed("naive", 0.2), *timed("priority", 0.1)], "speed-encode/m/turkish"), scheme)
    assert image.startswith("<svg")
    assert "encode/m/turkish" in image
    assert "higher is better" in image
    assert palette.KIND_COLOURS[scheme][0].lower() in image.lower()
    assert "http" not in image.replace("http://www.w3.org", "")


def test_a_heat_map_of_many_models_becomes_an_image_too() -> None:
    chart = named([agreed("provably equal", 0), agreed("provably equal", 0, model="n")], "agreement")
    assert "wordcount" not in svg(chart, "light")
    assert "priority" in svg(chart, "light")


def test_names_that_look_like_markup_are_text_in_an_image() -> None:
    image = svg(named([*timed("<script>x</script>", 0.2)], "speed-encode/m/turkish"), "light")
    assert "<script" not in image
