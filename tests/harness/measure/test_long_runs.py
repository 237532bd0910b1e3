"""New documents without end, the second call on a long text, calls after pauses: what is read and recorded."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import msgspec
import pytest
from toy_runs import PROFILE, TEXT, carry_out, workload

from harness.measure.analysis.samples import rankable_times
from harness.measure.analysis.stats import binned, percentile
from harness.measure.jobs import long_runs
from harness.measure.jobs.answers import Wrong, digest
from harness.measure.jobs.opening import Opening
from harness.measure.protocol import Expected, Job, Measure, Measured
from harness.measure.schedule import Plan, turns
from harness.measure.templates import load_templates
from harness.measure.texts import NEW_WORD_SHARE, new_documents, write_texts
from harness.measure.workloads import N_PARTS, WorkloadError
from harness.records import Measurement
from harness.report.tables.speed import shown_verdict, speed_rows
from impls import Model, Tokenizer

ONCE = msgspec.structs.replace(PROFILE, rounds=1, time_limit_seconds=20)
ENDLESS = {"state": "sustained", "max_bytes": 200_000, "document_bytes": 500}

pytestmark = pytest.mark.usefixtures("toys")


class CountingBytes(Tokenizer):
    """Every byte is a token; counts its calls and keeps what it was given."""

    name = "bytes"
    exact = True

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.given: list[str] = []

    def encode(self, text: str, **_: object) -> list[int]:
        self.given.append(text)
        return list(text.encode())


def byte_model() -> Model:
    return Model(tokens=tuple(bytes([byte]) for byte in range(256)), merges=())


def opening(implementation: type[CountingBytes] = CountingBytes) -> Opening:
    model = byte_model()
    return Opening(implementation, implementation(model), model, baseline_bytes=0, pinned=False, import_seconds=0.0)


@pytest.fixture(scope="module")
def endless(toys: None) -> dict[tuple[str, str], Measurement]:
    """What was recorded of endless documents, by implementation and task."""
    workloads = tuple(workload(task, task=task, **ENDLESS) for task in ("encode-documents", "encode-documents-array"))
    names = ("toy-bytes", "toy-inexact", "toy-swapping", "toy-wrong-on-q", "toy-losing-text", "toy-last-text")
    records = carry_out(Plan(profile=ONCE, implementations=names, workloads=workloads))
    return {(record.implementation, record.task): record for record in records}


@pytest.mark.parametrize("task", ["encode-documents", "encode-documents-array"])
def test_new_documents_are_timed_part_by_part_and_call_by_call(
    endless: dict[tuple[str, str], Measurement], task: str
) -> None:
    record = endless["toy-bytes", task]
    assert (record.status, record.reason, record.reference) == ("ok", "", "toy-bytes")
    assert len(record.samples_seconds) == len(record.resident_bytes) == record.samples_wanted == N_PARTS
    assert record.n_bytes == record.full_bytes == record.n_tokens == 2_000
    assert (record.n_texts, record.n_calls) == (4, 4)
    assert sum(n for _, n in record.call_times) == 4 * N_PARTS
    if os.name == "posix":
        assert len(record.page_faults) == len(record.system_seconds) == N_PARTS
    assert endless["toy-inexact", task].status == "ok"
    assert endless["toy-inexact", task].n_tokens < record.n_tokens


@pytest.mark.parametrize("name", ["toy-swapping", "toy-wrong-on-q"])
def test_wrong_ids_are_found_in_new_documents(endless: dict[tuple[str, str], Measurement], name: str) -> None:
    record = endless[name, "encode-documents"]
    assert (record.status, record.samples_seconds) == ("mismatch", [])
    assert record.counterexample is not None


@pytest.mark.parametrize("name", ["toy-losing-text", "toy-last-text"])
def test_right_ids_of_new_documents_that_decode_to_another_text_are_wrong(
    endless: dict[tuple[str, str], Measurement], name: str
) -> None:
    assert endless[name, "encode-documents"].status == "mismatch"


def test_who_runs_out_of_time_has_fewer_parts_and_is_not_ranked(tmp_path: Path) -> None:
    for part in range(N_PARTS):
        write_texts(tmp_path / f"texts-{part}", [b"abc", b"defg"])
    job = Job(task="encode-documents", state="sustained", texts=str(tmp_path / "texts"))
    expected = long_runs.expected(job, CountingBytes(byte_model()))
    asked = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0, most_seconds=0)
    found = long_runs.sustained(opening(), asked)
    assert (len(found.samples_seconds), found.samples_wanted, found.n_bytes) == (1, N_PARTS, 7)

    record = Measurement(
        workload="endless", implementation="slow", task="encode-documents", model="m", corpus="c", status="ok",
        state="sustained", n_bytes=7, full_bytes=7, samples_seconds=found.samples_seconds, samples_wanted=N_PARTS,
    )  # fmt: skip
    whole = msgspec.structs.replace(record, implementation="fast", samples_seconds=[1.0] * N_PARTS)
    assert set(rankable_times([record, whole])) == {"fast"}
    rows = {row["implementation"]: row for row in speed_rows([record, whole], None)}
    assert (rows["fast"]["ranked"], rows["slow"]["ranked"]) == (True, False)
    assert shown_verdict(rows["slow"])


def test_every_part_is_held_against_its_own_digest(tmp_path: Path) -> None:
    for part in range(N_PARTS):
        write_texts(tmp_path / f"texts-{part}", [f"document {part}".encode()])
    job = Job(task="encode-documents", state="sustained", texts=str(tmp_path / "texts"))
    expected = long_runs.expected(job, CountingBytes(byte_model()))
    assert len(set(expected.parts)) == N_PARTS
    assert expected.n_tokens == sum(len(f"document {part}") for part in range(N_PARTS))
    beginning = long_runs.expected(msgspec.structs.replace(job, n_bytes=4), CountingBytes(byte_model()))
    assert (len(beginning.parts), beginning.n_tokens) == (1, 4)
    expected.parts[-1] = expected.parts[0]
    asked = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0)
    with pytest.raises(Wrong, match="other ids"):
        long_runs.sustained(opening(), asked)


def long_asked(
    tmp_path: Path, state: str, implementation: type[CountingBytes] = CountingBytes
) -> tuple[CountingBytes, Measured]:
    other, text = b"x" * 1000, b"y" * 1000
    write_texts(tmp_path / "texts", [other, text])
    job = Job(task="encode", state=state, texts=str(tmp_path / "texts"), document_bytes=300)  # type: ignore[arg-type]
    found, n_tokens = digest(job, [CountingBytes(byte_model()).encode(text.decode())])
    expected = Expected(digest=found, n_tokens=n_tokens, reference="r")
    asked = Measure(job=job, expected=expected, n_samples=1, sample_seconds=0)
    opened = opening(implementation)
    assert isinstance(opened.tokenizer, CountingBytes)
    return opened.tokenizer, long_runs.long_text(opened, asked)


def test_the_second_call_follows_documents_of_other_text_and_one_call(tmp_path: Path) -> None:
    tokenizer, found = long_asked(tmp_path, "second-call")
    assert tokenizer.given == ["x" * 300] * 3 + ["x" * 100] + ["y" * 1000] * 2
    assert len(found.samples_seconds) == 1
    assert (found.n_bytes, found.n_texts) == (1000, 1)


def test_calls_after_a_pause_follow_idle_ones_and_others_work_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[str] = []
    monkeypatch.setattr(long_runs, "_idle", lambda: pauses.append("idle"))
    monkeypatch.setattr(long_runs, "_others_work", lambda: pauses.append("others"))
    tokenizer, found = long_asked(tmp_path, "after-pause")
    assert pauses == ["idle", "others"] * long_runs.N_PAUSES
    assert tokenizer.given.count("y" * 1000) == 3 + 2 * long_runs.N_PAUSES
    assert len(found.samples_seconds) == 2 * long_runs.N_PAUSES
    assert {kind: len(some) for kind, some in found.parts_seconds.items()} == {
        "after an idle pause": long_runs.N_PAUSES,
        "after another's work": long_runs.N_PAUSES,
    }


def test_wrong_ids_of_any_timed_call_after_a_pause_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class WrongAtTheFourth(CountingBytes):
        n_long = 0

        def encode(self, text: str, **_: object) -> list[int]:
            self.n_long += len(text) >= 1000
            ids = super().encode(text)
            return [0] * len(ids) if self.n_long == 4 else ids

    for wait in ("_idle", "_others_work"):
        monkeypatch.setattr(long_runs, wait, lambda: None)
    with pytest.raises(Wrong, match="other ids in an earlier timed call"):
        long_asked(tmp_path, "after-pause", WrongAtTheFourth)


def test_long_texts_are_run_and_verified_in_processes_of_their_own() -> None:
    workloads = tuple(
        workload(f"{state}-{task}", task=task, state=state, max_bytes=5_000)
        for state in ("second-call", "after-pause")
        for task in ("encode", "encode-array")
    )
    plan = Plan(profile=ONCE, implementations=("toy-bytes", "toy-wrong-on-q"), workloads=workloads)
    assert all(len(turn.workloads) == 1 for turn in turns(plan))
    for record in carry_out(plan):
        assert record.status == ("ok" if record.implementation == "toy-bytes" else "mismatch"), record.reason
        if record.status == "ok":
            assert record.n_bytes == record.full_bytes == record.n_tokens == 5_000
            assert len(record.page_faults) in (0, len(record.samples_seconds))


def test_new_documents_are_as_long_as_asked_never_twice_and_of_the_words_of_the_corpus() -> None:
    corpus = [TEXT.replace("again", f"again {number}") for number in range(50)]
    made = list(islice(new_documents(corpus, 4096), 300))
    assert made == list(islice(new_documents(corpus, 4096), 300)), "the same from the same seed"
    assert {len(document) for document in made} == {4096}
    assert len(set(made)) == len(made)
    known = set(" ".join(corpus).split())
    words = Counter(word for document in made for word in document.decode().split(" "))
    new = sum(n for word, n in words.items() if word.strip("\n") not in known) / words.total()
    assert 0.3 * NEW_WORD_SHARE < new < 1.5 * NEW_WORD_SHARE


def test_new_documents_are_cut_between_characters_and_need_a_line() -> None:
    for document in islice(new_documents(["çok güzel bir gün 我是猫 🙂 " * 20], 777), 20):
        document.decode()
        assert 774 <= len(document) <= 777
    with pytest.raises(ValueError, match="no line"):
        next(new_documents(["", " \n "], 100))


def test_percentiles_are_read_from_the_bins_within_one_percent() -> None:
    seconds = [number * 1e-6 for number in range(1, 10_001)]
    bins = binned(seconds)
    assert sum(bins.values()) == len(seconds)
    assert len(bins) < 500
    for share in (0.5, 0.99, 0.999, 1.0):
        assert percentile(bins, share) == pytest.approx(share * 1e-2, rel=0.0101)
    shares = [percentile(bins, share) for share in (0.1, 0.5, 0.9, 0.99, 0.999)]
    assert all(a <= b for a, b in pairwise(shares))
    assert len(set(shares)) > 3
    with pytest.raises(ValueError, match="no times"):
        percentile({}, 0.5)


def test_a_workload_of_so_many_rounds_is_left_out_of_later_ones() -> None:
    few, all_rounds = workload("few", rounds=1), workload("all")
    plan = Plan(profile=PROFILE, implementations=("a",), workloads=(few, all_rounds))
    assert [sorted(w.name for w in turn.workloads) for turn in turns(plan)] == [["all", "few"], ["all"]]


@pytest.mark.parametrize(
    ("key", "value"),
    [("state", '"sustained"'), ("state", '"second-call"\ntask = "encode-batch"'), ("rounds", "-1")],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, key: str, value: str) -> None:
    task = "" if "task" in value else 'task = "encode"\n'
    (tmp_path / "w.toml").write_text(
        f'[[workload]]\nname = "w"\n{task}models = ["m"]\ncorpora = ["c"]\nprofiles = []\nanalysis = "a"\n'
        f"{key} = {value}\n"
    )
    with pytest.raises(WorkloadError, match=key):
        load_templates(tmp_path)
