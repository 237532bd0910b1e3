"""Growth of time with size, in processes of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.measure.materials import Materials
from harness.measure.scaling import Scale, exponents, measure_scaling, size_of
from harness.measure.stats import Exponent
from harness.outcome import Outcome
from harness.records import Measurement, Pass, RecordError
from impls import Model

TOYS = Path(__file__).parent / "measure_toys"
SIZES = (1024, 2048, 4096)


class Generated:
    digest = "generated"

    def __init__(self, name: str) -> None:
        self.text = "a" * int(name.partition(":")[2])

    def documents(self) -> Iterable[str]:
        return [self.text]


def scaled(name: str, done: Sequence[Measurement] = ()) -> list[Measurement]:
    """The records written."""
    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    written: list[Measurement] = []
    with Materials(
        load_model=lambda _: model,
        load_corpus=lambda name, split: Generated(name),
        encoders=("toy-bytes",),
        confirming=("naive",),
    ) as materials:
        scale = Scale(
            implementations=(name,),
            model="toy",
            families=("letters",),
            sizes=SIZES,
            rounds=1,
        )
        everything = measure_scaling(scale, materials, written.append, done=done)
        assert everything == [*done, *written]
    return written


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TOYS))


def test_every_size_is_read_once_and_verified() -> None:
    records = scaled("toy-bytes")
    assert [size_of(record) for record in records] == list(SIZES)
    for record in records:
        assert (record.outcome, len(record.passes)) == (Outcome.RIGHT, 1)
        assert record.reference == "toy-bytes"
    assert set(exponents(records)) == {("toy-bytes", "letters")}


def test_a_curve_taken_up_again_measures_only_what_is_missing() -> None:
    records = scaled("toy-bytes")
    again = scaled("toy-bytes", done=records[:2])
    assert [size_of(record) for record in again] == list(SIZES[2:])
    assert scaled("toy-bytes", done=records) == []
    failed = scaled("toy-wrong-on-a")
    assert scaled("toy-wrong-on-a", done=failed) == []


def test_growth_stops_at_the_first_failure_which_is_recorded() -> None:
    (record,) = scaled("toy-wrong-on-a")
    assert record.outcome == "mismatch"
    (verdict,) = exponents([record]).values()
    assert verdict == record


@pytest.mark.parametrize(("name", "status"), [("toy-wrong-on-a", 1), ("toy-bytes", 0), ("toy-refusing", 0)])
def test_the_command_ends_with_1_where_a_curve_ends_in_a_fault(
    bpebench: Any, monkeypatch: pytest.MonkeyPatch, name: str, status: int
) -> None:
    records = scaled(name)
    monkeypatch.setattr("harness.commands.run.measure_growth", lambda *_, **__: records)
    ended = bpebench("run", "--scale", "-e", "^naive$", "--json")
    assert ended.status == status, ended.err
    (curve,) = json.loads(ended.out)["curves"]
    assert curve["outcome"] == {"toy-wrong-on-a": "mismatch", "toy-refusing": "refused"}.get(name, "right")


def point(n_bytes: int, seconds: float | None, number: int = 0, limit: float | None = None) -> Measurement:
    return Measurement(
        workload=f"scale/m/gen/spaces:{n_bytes}",
        implementation="one",
        task="encode",
        model="m",
        corpus=f"gen/spaces:{n_bytes}",
        outcome=Outcome.TIMEOUT if seconds is None else Outcome.RIGHT,
        opening=number,
        limit_seconds=limit,
        passes=[] if seconds is None else [Pass(0, False, n_bytes, [1], [seconds], [seconds])],
    )


def test_the_exponent_comes_from_the_least_time_of_each_size_and_a_timeout_bounds_it() -> None:
    quadratic = [point(n, n * n * 1e-8 * (1 + 3 * number), number) for n in (1000, 2000, 4000) for number in (0, 1)]
    fit = exponents([*quadratic, point(8000, None, limit=0.64)])["one", "spaces"]
    assert isinstance(fit, Exponent)
    assert fit.value == pytest.approx(2)
    assert fit.lower_bound == pytest.approx(2)


def test_a_timeout_without_a_limit_stands_at_three_seconds_and_a_flaky_one_bounds_nothing() -> None:
    linear = [point(n, n * 1e-3) for n in (1000, 2000)]
    bound = exponents([*linear, point(3000, None)])["one", "spaces"].lower_bound  # type: ignore[union-attr]
    assert bound == pytest.approx(1)
    assert exponents([*linear, point(2000, None)])["one", "spaces"].lower_bound is None  # type: ignore[union-attr]


def test_the_limit_is_recorded_and_a_curve_is_not_mixed_with_one_of_another_limit() -> None:
    records = scaled("toy-bytes")
    assert {record.limit_seconds for record in records} == {3.0}
    for record in records:
        record.limit_seconds = 1.0
    with pytest.raises(RecordError, match="measured with --limit 1, not 3"):
        scaled("toy-bytes", done=records)
