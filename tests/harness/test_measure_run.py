"""A run with toy implementations, loaded through the entry point a third party uses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.measure.materials import Materials
from harness.measure.references import References
from harness.measure.run import key_of, run
from harness.measure.schedule import Plan, Profile, keys, turns
from harness.measure.workloads import Workload
from harness.records import Measurement
from impls import Model

TOYS = Path(__file__).parent / "measure_toys"
TEXT = "the quick brown fox jumps over the lazy dog, again and abroad. " * 400

PROFILE = Profile(
    name="test",
    rounds=2,
    n_samples=2,
    sample_seconds=0.001,
    pass_seconds=0.05,
    training_seconds=0.05,
    time_limit_seconds=5,
    copies=False,
)


class OneText:
    digest = "none"

    def documents(self) -> Iterable[str]:
        return [TEXT]


def byte_model() -> Model:
    tokens = [bytes([byte]) for byte in range(256)]
    return Model(tokens=(*tokens, b"ab"), merges=())


def workload(name: str = "encode", **changes: object) -> Workload:
    fields = {"task": "encode", "state": "warm-same", "model": "toy", "corpus": "one", "max_bytes": 20_000}
    return Workload(name=name, **fields | changes)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toys where worker processes find them."""
    monkeypatch.setenv("PYTHONPATH", str(TOYS))


def carry_out(plan: Plan, done: Iterable[Measurement] = (), stop_after: int | None = None) -> list[Measurement]:
    records: list[Measurement] = []

    def write(record: Measurement) -> None:
        if stop_after is not None and len(records) == stop_after:
            raise KeyboardInterrupt
        records.append(record)

    with (
        Materials(lambda _: byte_model(), lambda *_: OneText()) as materials,
        References(materials, encoders=("toy-bytes",)) as references,
    ):
        try:
            run(plan, materials, write, done=done, references=references, memory_limit_bytes=600_000_000)
        except KeyboardInterrupt:
            assert stop_after is not None
    return records


def only(name: str, *workloads: Workload, profile: Profile = PROFILE) -> list[Measurement]:
    return carry_out(Plan(profile=profile, implementations=(name,), workloads=workloads or (workload(),)))


def test_a_right_implementation_is_verified_and_timed_in_every_round() -> None:
    records = only("toy-bytes", workload(), workload("count", task="count"), workload("decode", task="decode"))
    assert {(r.workload, r.round) for r in records} == {(w, n) for w in ("encode", "count", "decode") for n in (0, 1)}
    for record in records:
        assert record.status == "ok", record.reason
        assert record.reference == "toy-bytes"
        assert len(record.samples_seconds) == 2
        assert record.n_bytes == record.full_bytes == 20_000


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("toy-panicking", "panic", "PanicException"),
        ("toy-exiting", "panic", "SystemExit"),
        ("toy-raising", "crash", "raised ValueError: cannot open file.bin"),
        ("toy-dying", "crash", "killed by SIGSEGV; its last line of output: about to die in file.c"),
        ("toy-suicidal", "crash", "killed by SIGKILL"),
        ("toy-hungry", "out-of-memory", "limit of 0.6 GB"),
        ("toy-refusing", "unsupported", "does not like this model"),
        ("toy-missing", "missing", "toys_that_are_not_there"),
    ],
)
def test_every_failure_is_recorded_once_with_its_kind_and_reason(name: str, status: str, reason: str) -> None:
    records = only(name)
    assert [record.status for record in records] == [status]
    assert reason in records[0].reason
    assert not records[0].samples_seconds


def test_what_hangs_is_ended_at_the_time_limit_and_the_rest_still_runs() -> None:
    import msgspec

    profile = msgspec.structs.replace(PROFILE, time_limit_seconds=0.5, rounds=1)
    records = only("toy-hanging", workload(), workload("decode", task="decode"), profile=profile)
    assert {record.workload: record.status for record in records} == {"encode": "timeout", "decode": "ok"}


def test_wrong_ids_are_a_mismatch_with_the_smallest_counterexample_and_no_samples() -> None:
    (record,) = only("toy-wrong-on-q")
    assert record.status == "mismatch"
    assert not record.samples_seconds
    assert record.counterexample is not None
    assert record.counterexample.text.text == "q"
    assert (record.counterexample.expected, record.counterexample.got) == ([ord("q")], [ord("k")])


def test_ids_that_do_not_decode_to_the_text_are_a_mismatch() -> None:
    (record,) = only("toy-losing-text")
    assert (record.status, record.samples_seconds) == ("mismatch", [])
    assert record.counterexample is not None
    assert record.counterexample.text.text == "z"
    assert "do not decode" in record.counterexample.note


def test_two_ids_swapped_once_in_a_hundred_thousand_are_caught_in_the_timed_passes() -> None:
    (record,) = only("toy-swapping")
    assert record.status == "mismatch"
    assert "after the verified one" in record.reason
    assert record.counterexample is not None
    assert record.counterexample.got != record.counterexample.expected
    assert "not met again" in record.counterexample.note


def test_a_declared_inexact_implementation_is_timed_but_marked() -> None:
    records = only("toy-inexact")
    assert [(record.status, record.exact) for record in records] == [("ok", False)] * 2
    assert records[0].n_tokens < records[0].n_bytes


def test_what_a_library_prints_does_not_disturb_the_protocol() -> None:
    assert [record.status for record in only("toy-chatty")] == ["ok", "ok"]


def test_a_run_taken_up_again_writes_the_records_that_are_missing_and_no_others() -> None:
    plan = Plan(
        profile=PROFILE,
        implementations=("toy-bytes", "toy-panicking"),
        workloads=(workload(), workload("count", task="count")),
    )
    undisturbed = {(key_of(record), record.status, record.order) for record in carry_out(plan)}
    first = carry_out(plan, stop_after=3)
    second = carry_out(plan, done=first)
    both = [(key_of(record), record.status, record.order) for record in [*first, *second]]
    assert len(both) == len(set(both))
    assert set(both) == undisturbed


def test_cold_and_warm_other_read_each_text_once() -> None:
    cold = workload("cold", state="cold")
    other = workload("other", state="warm-other", max_bytes=2_000)
    records = only("toy-bytes", cold, other)
    by_name = {(record.workload, record.round): record for record in records}
    assert all(record.status == "ok" and record.loops == 1 for record in records)
    assert len(by_name["cold", 0].samples_seconds) == 1
    assert len(by_name["other", 0].samples_seconds) == 5
    assert by_name["other", 0].n_bytes == 2_000


def test_the_order_depends_on_the_seed_and_not_on_what_has_run() -> None:
    plan = Plan(
        profile=PROFILE,
        implementations=("a", "b", "c"),
        workloads=tuple(workload(f"w{number}") for number in range(6)),
    )
    assert list(turns(plan)) == list(turns(plan))
    other = Plan(**{name: getattr(plan, name) for name in plan.__struct_fields__} | {"seed": 1})
    assert list(turns(plan)) != list(turns(other))
    assert {key for turn in turns(plan) for key in keys(turn)} == {key for turn in turns(other) for key in keys(turn)}
