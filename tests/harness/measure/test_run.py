"""A run with toy implementations, loaded through the entry point a third party uses."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from toy_runs import PROFILE, TEXT, byte_model, carry_out, everything, workload

import impls
from harness.measure.analysis.samples import is_comparable
from harness.measure.schedule import Plan, Profile
from harness.measure.workloads import Workload
from harness.records import Measurement, TextMemory, key_of
from impls import Model

pytestmark = pytest.mark.usefixtures("toys")
ONCE = msgspec.structs.replace(PROFILE, rounds=1)
COPIED = msgspec.structs.replace(PROFILE, rounds=2, copies=True)


def only(name: str, *workloads: Workload, profile: Profile = PROFILE) -> list[Measurement]:
    return carry_out(Plan(profile=profile, implementations=(name,), workloads=workloads or (workload(),)))


VERDICTS = {
    "toy-panicking": ("panic", "PanicException"),
    "toy-exiting": ("panic", "SystemExit"),
    "toy-raising": ("crash", "raised ValueError: cannot open file.bin"),
    "toy-dying": ("crash", "killed by SIGSEGV; its last line of output: about to die in file.c"),
    "toy-suicidal": ("crash", "killed by SIGKILL"),
    "toy-hungry": ("out-of-memory", "limit of 0.6 GB"),
    "toy-refusing": ("unsupported", "does not like this model"),
    "toy-missing": ("missing", "toys_that_are_not_there"),
    "toy-wrong-on-q": ("mismatch", "other ids than toy-bytes"),
    "toy-losing-text": ("mismatch", "do not decode"),
    "toy-swapping": ("mismatch", "after the verified one"),
    "toy-last-text": ("mismatch", "in another order do not decode"),
    "toy-floats": ("mismatch", "a list of float in place of int"),
    "toy-lazy": ("mismatch", "Later in place of a list"),
    "toy-arrays": ("mismatch", "ndarray in place of a list"),
}
GOOD = ("toy-bytes", "toy-inexact", "toy-chatty")


@pytest.fixture(scope="module")
def zoo(toys: None) -> dict[str, list[Measurement]]:
    """One run with every toy that ends: its records by implementation."""
    found: dict[str, list[Measurement]] = {}
    for record in carry_out(Plan(profile=PROFILE, implementations=(*VERDICTS, *GOOD), workloads=(workload(),))):
        found.setdefault(record.implementation, []).append(record)
    return found


@pytest.mark.parametrize("name", VERDICTS)
def test_every_failure_is_recorded_once_with_its_kind_and_reason(zoo: dict[str, list[Measurement]], name: str) -> None:
    status, reason = VERDICTS[name]
    (record,) = zoo[name]
    assert (record.status, record.samples_seconds) == (status, [])
    assert reason in record.reason
    built = status not in ("unsupported", "missing")
    assert record.full_bytes == (20_000 if built else 0)


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_or_says_it_is_inexact_is_timed_in_every_round(
    zoo: dict[str, list[Measurement]], name: str
) -> None:
    assert [(record.status, record.round, record.exact) for record in zoo[name]] == [
        ("ok", number, name != "toy-inexact") for number in range(PROFILE.rounds)
    ]
    for record in zoo[name]:
        assert len(record.samples_seconds) == PROFILE.n_samples
        assert record.reference == "toy-bytes"
        assert record.n_bytes == record.full_bytes == 20_000
        assert (record.n_tokens == record.n_bytes) == record.exact


@pytest.mark.parametrize(("name", "text"), [("toy-wrong-on-q", "q"), ("toy-losing-text", "z")])
def test_a_mismatch_has_the_smallest_counterexample(zoo: dict[str, list[Measurement]], name: str, text: str) -> None:
    found = zoo[name][0].counterexample
    assert found is not None
    assert found.text.text == text
    assert found.reference == "toy-bytes"


def test_a_swap_once_in_a_hundred_thousand_ids_is_shown_where_it_was_met(zoo: dict[str, list[Measurement]]) -> None:
    found = zoo["toy-swapping"][0].counterexample
    assert found is not None
    assert found.got != found.expected
    assert "not seen again" in found.note


def test_a_text_is_sliced_for_the_slow_unless_the_workload_says_that_it_must_be_whole() -> None:
    impatient = msgspec.structs.replace(PROFILE, pass_seconds=1e-9)
    records = only("toy-bytes", workload("sliced"), workload("whole", whole=True), profile=impatient)
    sliced, whole = ({record.workload: record for record in records}[name] for name in ("sliced", "whole"))
    assert sliced.n_bytes < sliced.full_bytes == 20_000
    assert whole.n_bytes == whole.full_bytes == 20_000


def test_counting_and_decoding_are_verified_and_timed_as_well() -> None:
    tasks = ("count", "decode", "decode-stream", "truncate")
    records = only("toy-bytes", *(workload(task, task=task) for task in tasks))
    assert {(record.workload, record.round, record.status) for record in records} == {
        (name, number, "ok") for name in tasks for number in (0, 1)
    }


def test_a_count_that_no_reference_can_judge_is_that_of_its_own_ids() -> None:
    (wrong,) = only("toy-miscounting", workload("count", task="count"))
    assert (wrong.status, wrong.reason) == ("mismatch", "its count is not its number of ids")
    assert {record.status for record in only("toy-inexact", workload("count", task="count"))} == {"ok"}


def lossy_model() -> Model:
    """Knows every letter of the text but one."""
    spec = impls.TrainingSpec(vocab_size=60, alphabet="chars", unknown="<unk>")
    return impls.train("priority", [TEXT.replace("z", "")], spec).model


@pytest.mark.parametrize("task", ["encode", "count"])
def test_what_neither_a_reference_nor_a_round_trip_shows_right_is_unverified(task: str) -> None:
    def carried(name: str, *references: str, model: Callable[[], Model] = byte_model) -> set[str]:
        plan = Plan(profile=ONCE, implementations=(name,), workloads=(workload(task, task=task),))
        return {record.status for record in carry_out(plan, references=references, model=model)}

    assert carried("toy-bytes") == {"unverified"}
    assert carried("toy-inexact") == {"ok"}
    assert carried("greedy", model=lossy_model) == {"unverified"}
    assert carried("greedy", "priority", "naive", model=lossy_model) == {"ok"}


@pytest.mark.parametrize("task", ["decode", "decode-stream", "truncate", "load"])
def test_what_is_decoded_or_loaded_without_a_reference_is_unverified(task: str) -> None:
    plan = Plan(profile=ONCE, implementations=("toy-bytes",), workloads=(workload(task, task=task),))
    (record,) = carry_out(plan, references=())
    assert (record.status, "reference" in record.reason) == ("unverified", True), record.reason
    assert {record.status for record in carry_out(plan, references=("toy-bytes", "naive"))} == {"ok"}


def test_ids_of_a_lossy_model_decode_to_what_they_stand_for() -> None:
    names = ("priority", "toy-last-text")
    plan = Plan(profile=ONCE, implementations=names, workloads=(workload("decode", task="decode"),))
    records = {r.implementation: r for r in carry_out(plan, references=("priority", "naive"), model=lossy_model)}
    assert records["priority"].status == "ok", records["priority"].reason
    assert records["toy-last-text"].status == "mismatch"


@pytest.mark.parametrize(
    ("name", "references", "status"),
    [
        ("toy-merging", ("toy-merging", "toy-bytes"), "unverified"),
        ("toy-bytes", ("toy-merging", "toy-refusing", "toy-bytes"), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-wrong-on-a"), "ok"),
        ("toy-bytes", ("toy-bytes",), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-refusing"), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-raising"), "unverified"),
        ("toy-bytes", ("toy-bytes", "toy-refusing", "naive"), "ok"),
    ],
)
def test_a_reference_does_not_verify_itself(name: str, references: tuple[str, ...], status: str) -> None:
    plan = Plan(profile=ONCE, implementations=(name,), workloads=(workload(max_bytes=900),))
    (record,) = carry_out(plan, references=references)
    assert record.status == status, record.reason


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the highest memory of a process never falls")
def test_memory_is_that_of_one_workload_without_what_ran_before_it_or_verified_it() -> None:
    records = only(
        "toy-hoarding",
        workload("short", max_bytes=10_000),
        workload("long"),
        workload("decode", task="decode"),
        workload("cold", state="cold"),
    )
    peaks = {(record.workload, record.round): record.peak_memory_bytes for record in records}
    for name in ("short", "long", "decode"):
        peak = peaks[name, 0]
        assert peak is not None
        assert 40_000_000 < peak < 60_000_000, name
        assert peaks[name, 1] is None
    for number in (0, 1):
        peak = peaks["cold", number]
        assert peak is not None
        assert 40_000_000 < peak < 60_000_000


def test_what_hangs_is_ended_at_the_time_limit_and_the_rest_still_runs() -> None:
    profile = msgspec.structs.replace(PROFILE, time_limit_seconds=2, rounds=1)
    records = only("toy-hanging", workload(), workload("decode", task="decode"), profile=profile)
    assert {record.workload: record.status for record in records} == {"encode": "timeout", "decode": "ok"}


def test_what_a_killed_worker_leaves_behind_goes_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (record,) = only("toy-littering")
    assert record.status == "crash"
    assert list(tmp_path.iterdir()) == []


def test_a_run_taken_up_again_writes_the_records_that_are_missing_and_no_others() -> None:
    plan = Plan(
        profile=PROFILE,
        implementations=("toy-bytes", "toy-panicking"),
        workloads=(workload(), workload("count", task="count")),
    )
    undisturbed = {key_of(record) for record in everything(plan)}
    first = everything(plan, stop_after=5)
    second = everything(plan, done=first)
    both = [key_of(record) for record in [*first, *second]]
    assert len(both) == len(set(both))
    assert set(both) == undisturbed
    assert {type(record) for record in first} == {TextMemory, Measurement}


def test_cold_and_warm_other_read_each_text_once() -> None:
    cold = workload("cold", state="cold")
    other = workload("other", state="warm-other", max_bytes=2_000)
    records = only("toy-bytes", cold, other)
    by_name = {(record.workload, record.round): record for record in records}
    assert all(record.status == "ok" and record.loops == 1 for record in records)
    assert len(by_name["cold", 0].samples_seconds) == 1
    assert len(by_name["other", 0].samples_seconds) == 5
    assert by_name["other", 0].n_bytes == 2_000


FORMS = [
    workload(
        f"{task}-{state}", task=task, state=state, max_bytes=2_000, document_bytes=300, threads=threads, whole=True
    )
    for state in ("warm-same", "warm-between", "warm-other")
    for task, threads in (
        ("encode-documents", 1),
        ("encode-documents-array", 1),
        ("encode-short", 1),
        ("encode-batch", 2),
        ("encode-ragged", 2),
    )
]


def test_documents_and_batches_are_verified_and_timed_in_every_state() -> None:
    cold = workload("cold", task="encode-ragged", state="cold", max_bytes=2_000, document_bytes=300, threads=2)
    records = carry_out(Plan(profile=ONCE, implementations=("toy-bytes",), workloads=(*FORMS, cold)))
    assert [record.reason for record in records if record.status != "ok"] == []
    for record in records:
        one_call = record.task in ("encode-batch", "encode-ragged")
        assert record.n_calls == (1 if one_call else record.n_texts), record.workload
        assert record.n_tokens == record.n_bytes <= 2_000
        assert record.n_texts >= 6
        assert is_comparable(record.state, record.n_bytes, record.full_bytes), record.workload
        if record.state == "warm-other":
            assert len(record.samples_seconds) == 5
    digests = {(record.task == "encode-short", record.state): set() for record in records}
    for record in records:
        digests[record.task == "encode-short", record.state].add(record.digest)
    assert {len(some) for some in digests.values()} == {1}, "lists and arrays, one call and many: the same ids"


def test_wrong_ids_are_found_in_every_form_and_state() -> None:
    records = carry_out(Plan(profile=ONCE, implementations=("toy-wrong-on-q",), workloads=tuple(FORMS)))
    assert {record.status for record in records} == {"mismatch"}
    assert {record.workload for record in records} == {form.name for form in FORMS}
    for record in records:
        assert record.counterexample is not None, record.workload
        assert "q" in record.counterexample.text.text


def test_the_copy_is_of_one_that_runs_the_workloads() -> None:
    names = ("toy-refusing", "toy-wrong-on-q", "toy-inexact", "toy-bytes")
    records = carry_out(Plan(profile=COPIED, implementations=names, workloads=(workload(),)))
    copies = [record for record in records if record.copy]
    assert [(record.implementation, record.status, record.round) for record in copies] == [
        ("toy-inexact", "ok", 0),
        ("toy-inexact", "ok", 1),
    ]
