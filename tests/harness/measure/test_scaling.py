"""Growth of time with size, in processes of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from records_by_hand import timed

from harness.measure.materials import Materials
from harness.measure.references import References
from harness.measure.scaling import Scale, curves, measure_scaling, size_of
from harness.measure.texts import Corpora
from harness.outcome import Outcome
from harness.records import Measurement
from impls import Model

pytestmark = pytest.mark.usefixtures("toys")
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
    with Materials() as materials:
        materials.load_model = lambda _: model
        materials.corpora = Corpora(lambda name, split: Generated(name))
        materials.references = References(materials.model_file, ("toy-bytes",), ("naive",))
        scale = Scale(implementations=(name,), model="toy", families=("letters",), sizes=SIZES, rounds=1)
        everything = measure_scaling(scale, materials, written.append, done=done)
        assert everything == [*done, *written]
    return written


def test_every_size_is_read_once_and_verified_and_only_what_is_missing_is_measured() -> None:
    records = scaled("toy-bytes")
    assert [size_of(record) for record in records] == list(SIZES)
    for record in records:
        assert (record.outcome, len(record.passes), record.limit_seconds) == (Outcome.RIGHT, 1, 3.0)
        assert record.reference == "toy-bytes"
    again = scaled("toy-bytes", done=records[:2])
    assert [size_of(record) for record in again] == list(SIZES[2:])


def test_growth_stops_at_the_first_failure_which_is_recorded() -> None:
    (record,) = failed = scaled("toy-wrong-on-a")
    assert record.outcome == "mismatch"
    assert curves(failed)["toy-wrong-on-a", "letters"] == ({}, record, None)
    assert scaled("toy-wrong-on-a", done=failed) == []


@pytest.mark.parametrize(("outcome", "status"), [(Outcome.MISMATCH, 1), (Outcome.REFUSED, 0), (Outcome.RIGHT, 0)])
def test_a_fault_ends_with_1(bpebench: Any, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, status: int) -> None:
    records = [*points(1000, 1.0), *points(2000, 2.0)]
    records[-1].outcome = outcome
    monkeypatch.setattr("harness.commands.run.measure_growth", lambda *_, **__: records)
    ended = bpebench("run", "--scale", "-e", "^naive$", "--json")
    assert ended.status == status, ended.err
    assert [curve["outcome"] for curve in json.loads(ended.out)["curves"]] == [outcome]


def points(n_bytes: int, *seconds: float, limit: float | None = None) -> list[Measurement]:
    """One of each number of seconds; of none, one that took too long."""
    passes, corpus = [[each] for each in seconds] or [[]], f"gen/spaces:{n_bytes}"
    outcome = Outcome.RIGHT if seconds else Outcome.TIMEOUT
    return timed("one", passes, f"scale/m/{corpus}", outcome, n_bytes, corpus=corpus, limit_seconds=limit)


def test_the_exponent_comes_from_the_least_time_of_each_size_and_a_timeout_bounds_it() -> None:
    quadratic = [record for n in (1000, 2000, 4000) for record in points(n, n * n * 1e-8, n * n * 4e-8)]
    fit = curves([*quadratic, *points(8000, limit=0.64)])["one", "spaces"].exponent
    assert (fit.value, fit.lower_bound) == (pytest.approx(2), pytest.approx(2))


def test_a_timeout_without_a_limit_stands_at_three_seconds_and_a_flaky_one_bounds_nothing() -> None:
    linear = [*points(1000, 1.0), *points(2000, 2.0)]
    for size, bound in ((3000, pytest.approx(1)), (2000, None)):
        fit = curves([*linear, *points(size)])["one", "spaces"].exponent
        assert fit.lower_bound == bound
