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

TOYS = '''
import os, signal, time
from impls import Tokenizer, Unsupported

class Bytes(Tokenizer):
    name = "toy-bytes"
    kind = "third-party"
    def encode_ordinary(self, text):
        return list(text.encode())

class Swapping(Bytes):
    """Swaps two neighbouring ids once in a hundred thousand."""
    name = "toy-swapping"
    emitted = 0
    def encode_ordinary(self, text):
        ids = super().encode_ordinary(text)
        for position in range(len(ids) - 1):
            self.emitted += 1
            if self.emitted % 100_000 == 0:
                ids[position], ids[position + 1] = ids[position + 1], ids[position]
        return ids

class WrongOnQ(Bytes):
    name = "toy-wrong-on-q"
    def encode_ordinary(self, text):
        return [ord("k") if i == ord("q") else i for i in super().encode_ordinary(text)]

class Inexact(Bytes):
    name = "toy-inexact"
    exact = False
    def encode_ordinary(self, text):
        data, ids, k = text.encode(), [], 0
        while k < len(data):
            if data[k:k + 2] == b"ab":
                ids.append(256); k += 2
            else:
                ids.append(data[k]); k += 1
        return ids

class PanicException(BaseException):
    pass

class Panicking(Bytes):
    name = "toy-panicking"
    def encode_ordinary(self, text):
        raise PanicException("called `Option::unwrap()` on a `None` value")

class Exiting(Bytes):
    name = "toy-exiting"
    def encode_ordinary(self, text):
        raise SystemExit(0)

class Dying(Bytes):
    name = "toy-dying"
    def encode_ordinary(self, text):
        os.kill(os.getpid(), signal.SIGSEGV)

class Hanging(Bytes):
    name = "toy-hanging"
    def encode_ordinary(self, text):
        while True:
            time.sleep(60)

class Hungry(Bytes):
    name = "toy-hungry"
    def encode_ordinary(self, text):
        kept = []
        while True:
            kept.append(bytearray(b"x" * 20_000_000))

class Refusing(Bytes):
    name = "toy-refusing"
    def __init__(self, model):
        raise Unsupported(self.name, "does not like this model")

class Chatty(Bytes):
    name = "toy-chatty"
    def encode_ordinary(self, text):
        os.write(1, b"noise on standard output\\n" * 20)
        return super().encode_ordinary(text)
'''

NAMES = {
    "toy-bytes": "toys:Bytes",
    "toy-swapping": "toys:Swapping",
    "toy-wrong-on-q": "toys:WrongOnQ",
    "toy-inexact": "toys:Inexact",
    "toy-panicking": "toys:Panicking",
    "toy-exiting": "toys:Exiting",
    "toy-dying": "toys:Dying",
    "toy-hanging": "toys:Hanging",
    "toy-hungry": "toys:Hungry",
    "toy-refusing": "toys:Refusing",
    "toy-chatty": "toys:Chatty",
    "toy-missing": "toys_that_are_not_there:Nothing",
}

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
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toys where worker processes find them."""
    (tmp_path / "toys.py").write_text(TOYS)
    dist_info = tmp_path / "toys-1.0.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    points = "\n".join(f"{name} = {target}" for name, target in NAMES.items())
    (dist_info / "entry_points.txt").write_text(f"[bpebench.implementations]\n{points}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


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
        ("toy-dying", "crash", "SIGSEGV"),
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
