"""Every recorded counterexample is replayed: what differed still differs, what was fixed agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

import impls
from harness.check.fuzz.findings import key_of
from harness.check.fuzz.replay import Replayed, read_counterexamples, replay
from harness.records import Disagreement

_FILE = Path(__file__).resolve().parents[2] / "results" / "counterexamples.jsonl"
_RECORDS = read_counterexamples(_FILE)


@pytest.fixture(scope="module")
def replayed() -> list[Replayed]:
    return replay(_RECORDS)


def _needed(record: Disagreement) -> list[pytest.MarkDecorator]:
    return [] if {record.a, record.b} <= set(impls.default_names()) else [pytest.mark.needs("peers")]


@pytest.mark.corpus
@pytest.mark.parametrize(
    "index", [pytest.param(k, id=f"{r.a},{r.b}:{r.shape!a}", marks=_needed(r)) for k, r in enumerate(_RECORDS)]
)
def test_a_kept_counterexample_holds(replayed: list[Replayed], index: int) -> None:
    one = replayed[index]
    assert one.outcome == "holds", f"{one.record.counterexample.text.escaped}: {one.reason}"


def test_of_each_kind_one_counterexample_is_kept() -> None:
    keys = [key_of(record) for record in _RECORDS]
    assert len(set(keys)) == len(keys)
