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
    "toy-exiting": ("panic", "SystemExit"),
    "toy-raising": ("crash", "raised ValueError: cannot open file.bin"),
    "toy-dying": ("crash", "killed by SIGSEGV; its last line of output: about to die in file.c"),
    "toy-suicidal": ("crash", "killed by SIGKILL"),
    "toy-hungry": ("out-of-memory", "limit of 0.6 GB"),
    "toy-refusing": ("refused", "does not like this model"),
    "toy-missing": ("missing", "toys_that_are_not_there"),
    "toy-wrong-on-q": ("mismatch", "other ids than toy-bytes"),
    "toy-losing-text": ("mismatch", "do not decode"),
    "toy-swapping": ("mismatch", "other ids than toy-bytes"),
    "toy-last-text": ("mismatch", "do not decode"),
    "toy-floats": ("mismatch", "a list of float in place of int"),
    "toy-lazy": ("mismatch", "Later in place of a list"),
    "toy-arrays": ("mismatch", "ndarray in place of a list"),
    "toy-equal-to-all": ("mismatch", "a list of Equal in place of int"),
    "toy-clock-bender": ("protocol", "shorter times than the system counts"),
}
GOOD = ("toy-bytes", "toy-inexact", "toy-chatty", "toy-once", "toy-clock-patcher")


@pytest.fixture(scope="module")
def zoo(toys: None) -> dict[str, list[Measurement]]:
    """One run with every toy that ends: its records by implementation."""
    found: dict[str, list[Measurement]] = {}
    for record in carry_out(Plan(profile=PROFILE, implementations=(*OUTCOMES, *GOOD), workloads=(workload(),))):
        found.setdefault(record.implementation, []).append(record)
    return found


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_failure_is_recorded_once_with_its_kind_and_reason(zoo: dict[str, list[Measurement]], name: str) -> None:
    if name == "toy-clock-bender" and sys.platform != "linux":
        pytest.skip("only Linux tells the processor time of a process finely enough")
    outcome, reason = OUTCOMES[name]
    (record,) = zoo[name]
    assert (record.outcome, record.passes) == (outcome, [])
    assert reason in record.reason


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_or_says_it_is_inexact_is_timed_in_every_round(
    zoo: dict[str, list[Measurement]], name: str
) -> None:
    assert [(record.outcome, record.opening, record.exact) for record in zoo[name]] == [
        ("right", number, name != "toy-inexact") for number in range(PROFILE.openings)
    ]
    for record in zoo[name]:
        assert len([one for one in record.passes if not one.lost]) >= PROFILE.rounds or len(record.passes) == 4
        assert record.reference == "toy-bytes"
        assert record.warm_up_bytes > 0
        for one in record.passes:
            assert one.calls[-1] == record.n_calls
            assert len(one.calls) == len(one.wall_seconds) == len(one.cpu_seconds)
            assert one.n_bytes == 2_000 * record.n_calls


def test_everybody_reads_the_same_texts_in_a_round_or_the_beginning_of_them(zoo: dict[str, list[Measurement]]) -> None:
    sizes: dict[tuple[int, int, int], set[int]] = {}
    for name in GOOD:
        for record in zoo[name]:
            for one in record.passes:
                sizes.setdefault((record.opening, one.round, one.calls[-1]), set()).add(one.n_bytes)
    assert all(len(some) == 1 for some in sizes.values())


@pytest.mark.parametrize(("name", "text"), [("toy-wrong-on-q", "q"), ("toy-losing-text", "z")])
def test_a_mismatch_has_the_smallest_counterexample(zoo: dict[str, list[Measurement]], name: str, text: str) -> None:
    found = zoo[name][0].counterexample
    assert found is not None
    assert found.text.text == text
    assert found.reference == "toy-bytes"


def test_a_rare_swap_is_shown_where_it_was_met(zoo: dict[str, list[Measurement]]) -> None:
    found = zoo["toy-swapping"][0].counterexample
    assert found is not None
    assert found.got != found.expected
    assert "not seen again" in found.note


def test_the_slow_get_fewer_calls_of_the_same_order() -> None:
    impatient = msgspec.structs.replace(ONCE, pass_seconds=1e-9)
    for record in only("toy-bytes", workload(n_calls=8), profile=impatient):
        assert (record.outcome, record.n_calls) == (Outcome.RIGHT, 1)
        assert [one.n_bytes for one in record.passes] == [2_000] * len(record.passes)


def test_who_needs_three_times_as_long_takes_part_in_fewer_rounds_and_openings() -> None:
    profile = msgspec.structs.replace(PROFILE, openings=3, slow_openings=2, slow_rounds=1)
    records = carry_out(Plan(profile=profile, implementations=("toy-bytes", "toy-slow"), workloads=(workload(),)))
    fast, slow = ([r for r in records if r.implementation == name] for name in ("toy-bytes", "toy-slow"))
    assert [record.opening for record in fast] == [0, 1, 2]
    assert [record.opening for record in slow] == [0, 1]
    assert all(len(record.passes) >= profile.rounds for record in fast)
    assert all(sum(not one.lost for one in record.passes) <= 1 for record in slow)


def test_what_does_not_open_is_not_tried_again() -> None:
    profile = msgspec.structs.replace(ONCE, openings=2)
    workloads = (workload(), workload("cold", state="cold"))
    records = only("toy-refusing", *workloads, profile=profile)
    assert [(record.workload, record.outcome, record.opening) for record in records] == [
        ("encode", "refused", 0),
        ("cold", "refused", 0),
    ]


FORMS = (
    workload("list"),
    workload("array", task="encode-array"),
    workload("documents", call_bytes=1_500, n_calls=4),
    workload("short", call_bytes=50, n_calls=16),
    workload("batch", task="encode-batch", n_documents=3, threads=2),
    workload("cold", state="cold"),
    workload("append", task="append", call_bytes=500),
    workload("chat", task="chat", call_bytes=9_000, n_calls=1),
)


def test_every_form_of_encoding_is_verified_and_timed() -> None:
    records = carry_out(Plan(profile=ONCE, implementations=("toy-bytes", "toy-wrong-on-q"), workloads=FORMS))
    assert [
        record.reason
        for record in records
        if record.outcome is not Outcome.RIGHT and "wrong" not in record.implementation
    ] == []
    assert {r.workload for r in records if r.outcome is Outcome.RIGHT} == {form.name for form in FORMS}
    assert {r.workload for r in records if r.outcome is Outcome.MISMATCH} == {form.name for form in FORMS}
    documents = next(r for r in records if r.workload == "documents" and r.outcome is Outcome.RIGHT)
    assert sum(n for _, n in documents.call_times) == sum(one.calls[-1] for one in documents.passes)
    cold = next(r for r in records if r.workload == "cold" and r.outcome is Outcome.RIGHT)
    assert (len(cold.passes), cold.warm_up_bytes, cold.peak_memory_bytes is not None) == (1, 0, True)


def test_counting_decoding_and_loading_are_verified_and_timed_as_well() -> None:
    tasks = ("count", "decode", "load")
    records = only("toy-bytes", *(workload(task, task=task) for task in tasks))
    assert {(record.workload, record.opening, record.outcome) for record in records} == {
        (name, number, "right") for name in tasks for number in (0, 1)
    }
    (load, _) = (record for record in records if record.workload == "load")
    assert list(load.parts_seconds) == ["import", "model", "build", "first ids"]
    (inexact,) = only("toy-miscounting", workload("count", task="count"))
    assert inexact.outcome == "unverified"


def lossy_model() -> Model:
    """Knows every letter of the texts but one."""
    spec = impls.TrainingSpec(vocab_size=60, alphabet="chars", unknown="<unk>")
    text = "document 0123456789: the quick brown fox jumps over the lay dog, again and abroad. "
    return impls.train("priority", [text * 3], spec).model


def test_what_neither_a_reference_nor_a_round_trip_shows_right_is_unverified() -> None:
    def carried(name: str, *references: str, model: Callable[[], Model] = byte_model, task: str = "encode") -> set[str]:
        plan = Plan(profile=ONCE, implementations=(name,), workloads=(workload(task, task=task),))
        return {record.outcome for record in carry_out(plan, references=references, model=model)}

    assert carried("toy-bytes") == {"unverified"}
    assert carried("toy-inexact") == {"right"}
    assert carried("greedy", model=lossy_model) == {"unverified"}
    assert carried("greedy", "priority", "naive", model=lossy_model) == {"right"}
    for task in ("decode", "count", "load"):
        assert carried("toy-bytes", task=task) == {"unverified"}


@pytest.mark.parametrize(
    ("name", "references", "outcome"),
    [
        ("toy-merging", ("toy-merging", "toy-bytes"), "unverified"),
        ("toy-bytes", ("toy-merging", "toy-refusing", "toy-bytes"), "unverified"),
        ("toy-bytes", ("toy-bytes",), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-raising"), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-refusing", "naive"), "right"),
    ],
)
def test_a_reference_does_not_verify_itself(name: str, references: tuple[str, ...], outcome: str) -> None:
    plan = Plan(profile=ONCE, implementations=(name,), workloads=(workload(),))
    (record,) = carry_out(plan, references=references)
    assert record.outcome == outcome, record.reason


def test_what_hangs_is_ended_at_the_time_limit_and_the_rest_still_runs() -> None:
    profile = msgspec.structs.replace(ONCE, time_limit_seconds=2)
    records = only("toy-hanging", workload(), workload("decode", task="decode"), profile=profile)
    assert {record.workload: record.outcome for record in records} == {"encode": "timeout", "decode": "right"}


def test_what_a_killed_process_leaves_behind_goes_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (record,) = only("toy-littering")
    assert record.outcome == "crash"
    assert list(tmp_path.iterdir()) == []


def test_a_run_taken_up_again_writes_the_records_that_are_missing_and_no_others() -> None:
    plan = Plan(
        profile=msgspec.structs.replace(PROFILE, openings=3, rounds=1),
        implementations=("toy-bytes", "toy-panicking"),
        workloads=(workload(), workload("cold", state="cold")),
    )

    def key_of(record: Measurement) -> tuple[str, str, int]:
        return record.workload, record.implementation, record.opening

    undisturbed = {key_of(record) for record in carry_out(plan)}
    first = carry_out(plan, stop_after=3)
    second = carry_out(plan, done=first)
    both = [key_of(record) for record in [*first, *second]]
    assert len(both) == len(set(both))
    assert set(both) == undisturbed


def test_copies_run_along_of_a_fast_and_of_a_slow_one() -> None:
    names = ("toy-inexact", "toy-refusing", "toy-bytes")
    copied = msgspec.structs.replace(PROFILE, copies=True)
    records = carry_out(Plan(profile=copied, implementations=names, workloads=(workload(),)))
    copies = [(record.implementation, record.opening) for record in records if record.copy]
    assert sorted(copies) == [(name, number) for name in ("toy-bytes", "toy-inexact") for number in (0, 1)]


def test_a_corpus_that_is_too_short_ends_the_samples_and_never_repeats() -> None:
    (record,) = only("toy-once", workload(call_bytes=30_000), profile=msgspec.structs.replace(ONCE, rounds=10))
    assert record.outcome == "right"
    assert 1 <= len({one.round for one in record.passes}) < 10


def test_text_read_again_is_what_the_process_has_just_read_and_nothing_else_is() -> None:
    (new,) = only("toy-once", workload(), profile=ONCE)
    (again,) = only("toy-once", workload(state="again"), profile=ONCE)
    assert new.outcome == "right"
    assert again.outcome != "right"
    (steady,) = only("toy-bytes", workload(state="again"), profile=ONCE)
    assert (steady.outcome, steady.state) == ("right", "again")
    assert len({one.round for one in steady.passes}) == ONCE.rounds


@pytest.mark.parametrize(("name", "outcome"), [("priority", "right"), ("toy-mislearning", "mismatch")])
def test_training_is_judged_by_what_two_trainers_learn(name: str, outcome: str) -> None:
    training = {"vocab_size": 300, "pattern": "gpt2", "base_order": "gpt2"}
    (record,) = only(
        name, workload("train", task="train", model="", training=training, call_bytes=20_000), profile=ONCE
    )
    assert (record.outcome, record.reference != name) == (outcome, True), record.reason
    if outcome == "right":
        assert (record.n_tokens, record.passes[0].n_bytes) == (44, 20_000)
