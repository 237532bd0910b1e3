"""A run with toy implementations, loaded through the entry point a third party uses. No time is asserted."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from toy_runs import PROFILE, byte_model, carry_out, workload

import impls
from harness.measure import worker
from harness.measure.counterexamples import shrink
from harness.measure.turns import ContestantProcess
from harness.measure.workloads import Plan, Profile, Workload
from harness.outcome import Outcome
from harness.records import Measurement
from impls import Model

pytestmark = pytest.mark.usefixtures("toys")
ONCE = msgspec.structs.replace(PROFILE, openings=1, rounds=1)


def only(name: str, *workloads: Workload, profile: Profile = PROFILE) -> list[Measurement]:
    return carry_out(Plan(profile=profile, implementations=(name,), workloads=workloads or (workload(),)))


OUTCOMES = {
    "toy-panicking": ("panic", "PanicException"),
    "toy-raising": ("crash", "raised ValueError: cannot open file.bin"),
    "toy-dying": ("crash", "killed by SIGSEGV; its last line of output: about to die in file.c"),
    "toy-hungry": ("out-of-memory", "limit of 0.6 GB"),
    "toy-refusing": ("refused", "does not like this model"),
    "toy-missing": ("missing", "toys_that_are_not_there"),
    "toy-wrong-on-q": ("mismatch", "different ids than toy-bytes"),
    "toy-losing-text": ("mismatch", "do not decode"),
    "toy-swapping": ("mismatch", "different ids than toy-bytes"),
    "toy-last-text": ("mismatch", "do not decode"),
    "toy-lazy": ("mismatch", "Later in place of a list"),
    "toy-equal-to-all": ("mismatch", "Equal in place of int"),
    "toy-clock-bender": ("protocol", "shorter times than the system counts"),
}
GOOD = ("toy-bytes", "toy-inexact", "toy-chatty", "toy-once", "toy-clock-patcher")
SMALLEST = {"toy-wrong-on-q": "q", "toy-losing-text": "z"}


def test_every_failure_is_recorded_once_with_its_reason_and_what_is_right_is_timed_in_every_round() -> None:
    """One run with every toy that ends."""
    zoo: dict[str, list[Measurement]] = {}
    for record in carry_out(Plan(profile=PROFILE, implementations=(*OUTCOMES, *GOOD), workloads=(workload(),))):
        zoo.setdefault(record.implementation, []).append(record)
    for name, (outcome, reason) in OUTCOMES.items():
        if name == "toy-clock-bender" and sys.platform != "linux":
            continue  # only Linux tells the processor time of a process finely enough
        (record,) = zoo[name]
        assert (record.outcome, record.passes) == (outcome, []), (name, record.reason)
        assert reason in record.reason, name
        found = record.counterexample
        if name in SMALLEST:
            assert (found.text.text, found.reference) == (SMALLEST[name], "toy-bytes")
        elif name == "toy-swapping":  # shown where it was met
            assert found.got != found.expected
            assert "not reproduced" in found.note
    sizes: dict[tuple[int, int, int], set[int]] = {}
    for name in GOOD:
        assert [(record.outcome, record.opening, record.exact) for record in zoo[name]] == [
            ("right", number, name != "toy-inexact") for number in range(PROFILE.openings)
        ], name
        for record in zoo[name]:
            assert len([one for one in record.passes if not one.lost]) >= PROFILE.rounds or len(record.passes) == 4
            assert (record.reference, record.warm_up_bytes > 0) == ("toy-bytes", True)
            for one in record.passes:
                assert one.calls[-1] == record.n_calls
                assert len(one.calls) == len(one.wall_seconds) == len(one.cpu_seconds)
                assert one.n_bytes == 2_000 * record.n_calls
                sizes.setdefault((record.opening, one.round, one.calls[-1]), set()).add(one.n_bytes)
    assert all(len(some) == 1 for some in sizes.values()), "everybody reads the same texts in a round"


def test_of_a_fault_of_long_texts_only_the_beginning_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(impls.get("priority")):  # type: ignore[misc]
        def encode_normalized(self, text: str) -> list[int]:
            ids: list[int] = super().encode_normalized(text)
            return ids[:-1] if len(ids) > 20_000 else ids

    monkeypatch.setattr(worker, "held", lambda: Forgetful(byte_model()))
    example = shrink("ab" * 15_000, 29_999, "priority")
    assert example is not None
    assert (len(example.text.text), len(example.got or ())) == (64, 200)
    assert "the first 64 of 20,0" in example.note


def test_a_run_taken_up_again_has_slow_ones_copies_and_what_does_not_open_as_if_it_had_not_stopped() -> None:
    """Who is slow takes part in fewer openings and rounds, who does not open is not tried again."""
    profile = msgspec.structs.replace(PROFILE, slow_openings=1, slow_rounds=1, copies=True)
    names = ("toy-bytes", "toy-slow", "toy-refusing", "toy-inexact")
    plan = Plan(profile=profile, implementations=names, workloads=(workload(n_calls=4), workload("cold", state="cold")))
    first = carry_out(plan, stop_after=2)
    records = [*first, *carry_out(plan, done=first)]
    openings: dict[tuple[str, str, int], list[int]] = {}
    for record in records:
        openings.setdefault((record.workload, record.implementation, record.copy), []).append(record.opening)
    assert openings["encode", "toy-slow", 0] == [0]
    for name in ("encode", "cold"):
        assert openings[name, "toy-refusing", 0] == [0]
        for who in (("toy-bytes", 0), ("toy-bytes", 1), ("toy-inexact", 0), ("toy-inexact", 1)):
            assert openings[name, *who] == [0, 1]
    for record in records:
        if record.implementation == "toy-slow" and record.workload == "encode":
            assert sum(not one.lost for one in record.passes) <= 1
        elif record.implementation != "toy-refusing":
            assert len(record.passes) >= (profile.rounds if record.workload == "encode" else 1)


def test_the_slow_get_fewer_calls_of_the_same_order_and_what_hangs_is_ended_while_the_rest_still_runs() -> None:
    impatient = msgspec.structs.replace(ONCE, pass_seconds=1e-9, time_limit_seconds=5)
    plan = Plan(
        profile=impatient,
        implementations=("toy-bytes", "toy-hanging"),
        workloads=(workload(n_calls=8), workload("decode", task="decode")),
    )
    found = {(record.implementation, record.workload): record for record in carry_out(plan)}
    record = found["toy-bytes", "encode"]
    assert (record.outcome, record.n_calls) == (Outcome.RIGHT, 1)
    assert [one.n_bytes for one in record.passes] == [2_000] * len(record.passes)
    assert found["toy-hanging", "encode"].outcome == "timeout"
    assert found["toy-hanging", "decode"].outcome == "right"


FORMS = (
    workload("array", task="encode-array"),
    workload("documents", call_bytes=1_500, n_calls=4),
    workload("batch", task="encode-batch", n_documents=3, threads=2),
    workload("cold", state="cold"),
    workload("append", task="append", call_bytes=500),
    workload("chat", task="chat", call_bytes=9_000, n_calls=1),
)
OTHERS = tuple(workload(task, task=task) for task in ("count", "decode", "load"))


def test_every_task_is_verified_and_timed() -> None:
    plan = Plan(profile=ONCE, implementations=("toy-bytes", "toy-wrong-on-q"), workloads=(*FORMS, *OTHERS))
    records = carry_out(plan)
    right = {record.workload: record for record in records if record.implementation == "toy-bytes"}
    assert {name: record.reason for name, record in right.items() if record.outcome is not Outcome.RIGHT} == {}
    wrong = {record.workload for record in records if record.outcome is Outcome.MISMATCH}
    assert wrong == {form.name for form in FORMS}
    assert sum(n for _, n in right["documents"].call_times) == sum(one.calls[-1] for one in right["documents"].passes)
    cold = right["cold"]
    assert (len(cold.passes), cold.warm_up_bytes, cold.peak_memory_bytes is not None) == (1, 0, True)
    (inexact,) = only("toy-miscounting", workload("count", task="count"))
    assert inexact.outcome == "unverified"


def lossy_model() -> Model:
    """Knows every letter of the texts but one."""
    spec = impls.TrainingSpec(vocab_size=60, alphabet="chars", unknown="<unk>")
    text = "document 0123456789: the quick brown fox jumps over the lay dog, again and abroad. "
    return impls.train("priority", [text * 3], spec).model


TASKS = tuple(workload(task, task=task) for task in ("encode", "decode", "count", "load"))


@pytest.mark.parametrize(
    ("name", "references", "model", "outcome"),
    [
        ("toy-bytes", ("toy-merging", "toy-refusing", "toy-bytes"), byte_model, "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-refusing", "naive"), byte_model, "right"),
        ("toy-merging", ("toy-merging", "toy-bytes"), byte_model, "unverified"),
        ("greedy", (), lossy_model, "unverified"),
    ],
)
def test_what_neither_a_second_reference_nor_a_round_trip_shows_right_is_unverified(
    name: str, references: tuple[str, ...], model: Callable[[], Model], outcome: str
) -> None:
    plan = Plan(profile=ONCE, implementations=(name, "toy-inexact"), workloads=TASKS[:1] if references else TASKS)
    for record in carry_out(plan, references=references, model=model):
        if record.implementation == name:
            assert record.outcome == outcome, record.reason
        elif record.workload == "encode" and model is byte_model:
            assert record.outcome == "right", "it declares its ids, which its round trip proves"


def test_what_read_from_a_disk_is_loaded_again_in_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ask, processes = ContestantProcess.ask, list[int | None]()

    def opened(self: ContestantProcess, *arguments: object) -> worker.Opened:
        answer: worker.Opened = ask(self, *arguments)  # type: ignore[arg-type]
        processes.append(self.session.pid)
        return answer._replace(read_from_disk=len(processes) < 3)

    monkeypatch.setattr(ContestantProcess, "ask", opened)
    (record,) = only("toy-bytes", workload("load", task="load"), profile=ONCE)
    assert (len(set(processes)), [one.lost for one in record.passes]) == (3, [False])


def test_what_a_killed_process_leaves_behind_goes_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (record,) = only("toy-littering")
    assert record.outcome == "crash"
    assert list(tmp_path.iterdir()) == []


def test_a_short_corpus_ends_the_samples_and_only_text_to_be_read_again_is_repeated() -> None:
    profile = msgspec.structs.replace(ONCE, rounds=10)
    (record,) = only("toy-once", workload(call_bytes=30_000), profile=profile)
    assert record.outcome == "right"
    assert 1 <= len({one.round for one in record.passes}) < 10
    plan = Plan(profile=ONCE, implementations=("toy-once", "toy-bytes"), workloads=(workload(state="again"),))
    again, steady = sorted(carry_out(plan), key=lambda record: record.implementation == "toy-bytes")
    assert again.outcome != "right"
    assert (steady.outcome, steady.state) == ("right", "again")
    assert len({one.round for one in steady.passes}) == ONCE.rounds


def test_training_is_judged_by_what_two_trainers_learn() -> None:
    training = {"vocab_size": 300, "pattern": "gpt2", "base_order": "gpt2"}
    train = workload("train", task="train", model="", training=training, call_bytes=20_000)
    plan = Plan(profile=ONCE, implementations=("priority", "toy-mislearning"), workloads=(train,))
    right, wrong = sorted(carry_out(plan), key=lambda record: record.implementation)
    assert (right.outcome, right.n_tokens, right.passes[0].n_bytes) == ("right", 44, 20_000), right.reason
    assert right.reference != "priority"
    assert wrong.outcome == "mismatch"
