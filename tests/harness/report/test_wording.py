"""How figures and texts are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import impls
from harness.outcome import Outcome
from harness.report import wording
from harness.report.table import declared


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"), (1.0, "1.00"), (0.00123456, "0.00123"), (12.345, "12.3"), (123.45, "123"), (1234.5, "1,230"),
        (9.996, "10.0"), (0.9996, "1.00"), (1e-6, "1.00e-06"), (math.inf, "∞"), (None, "—"), (math.nan, "—"),
    ],
)  # fmt: skip
def test_figures_have_three_significant_digits(value: float | None, written: str) -> None:
    assert wording.figure(value) == written


@given(st.floats(min_value=1e-4, max_value=1e12))
def test_a_figure_is_within_half_a_unit_of_its_third_digit(value: float) -> None:
    assert float(wording.figure(value).replace(",", "")) == pytest.approx(value, rel=0.00501)


def test_what_cannot_be_printed_is_escaped_and_the_rest_kept() -> None:
    assert wording.text("ağaç\n\x1b[31m\ud83d\u202e") == "ağaç\\n\\x1b[31m\\ud83d\\u202e"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (wording.size(999), "999 B"), (wording.size(1_234_567), "1.23 MB"), (wording.size(None), "—"),
        (wording.duration(0.0012), "1.20 ms"), (wording.duration(61.0), "61.0 s"), (wording.duration(5e-9), "5.00 ns"),
        (wording.money(0.0000997), "0.0000997"), (wording.money(12.345), "12.35"), (wording.money(0.0), "0.00"),
        (wording.percent(0.0123), "1.23 %"), (wording.percent(1.0), "100 %"), (wording.percent(0.00001), "<0.01 %"),
        (wording.count(1234567), "1,234,567"), (wording.ids(list(range(15))), "0 1 2 3 4 5 6 7 8 9 10 11 … (15)"),
        (wording.ids(None), "—"),
    ],
)  # fmt: skip
def test_sizes_durations_amounts_and_ids_are_written_with_their_units(written: str, expected: str) -> None:
    assert written == expected


def test_the_kind_inferred_from_a_name_is_the_kind_of_its_class() -> None:
    kinds = {name: wording.kind_of(name) for name in impls.default_names()}
    assert kinds == {name: impls.get(name).kind for name in kinds}
    assert wording.kind_of("somebody-else") == "peer"


def test_every_verdict_has_a_meaning() -> None:
    assert set(declared()["failures"]["meanings"]) == set(Outcome)
