"""Training from a file as a workload: the file that is made, what is timed, and who is found to be wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from toy_runs import PROFILE, TEXT, OneText, byte_model, carry_out, workload

import impls
from harness.measure.jobs.answers import digest_of_model
from harness.measure.protocol import Job
from harness.measure.run import setup
from harness.measure.run.materials import Materials
from harness.measure.run.setup import References
from harness.measure.schedule import Plan
from harness.measure.templates import WorkloadError, expand, load_templates
from harness.measure.workloads import Workload
from impls import TrainingSpec

pytestmark = pytest.mark.usefixtures("toys")
ONCE = msgspec.structs.replace(PROFILE, rounds=1, time_limit_seconds=60)
TRAINING = {"vocab_size": 280, "base_order": "gpt2"}
TABLE = """
[[workload]]
name = "train-file"
task = "train"
state = "cold"
threads = "all"
corpora = ["turkish"]
profiles = ["default"]
analysis = "why"
[workload.training]
vocab_size = 300
"""


def from_file(**changes: object) -> Workload:
    fields = {"task": "train", "state": "cold", "model": "gpt2-280", "max_bytes": 50_000, "training": TRAINING}
    return workload("train-file", **fields | changes)


def test_the_file_holds_new_lines_of_the_corpus_and_is_not_that_of_texts_in_memory() -> None:
    with Materials(lambda _: byte_model(), lambda *_: OneText()) as materials:
        made, texts = materials.texts(from_file()), materials.texts(from_file(state="warm-same"))
        content = Path(made.path).read_text()
        assert made.path != texts.path
        assert 50_000 <= made.n_bytes == len(content.encode()) < 55_000
        lines = content.splitlines()
        assert len(set(lines)) > 0.9 * len(lines)
        words = set(TEXT.split())
        known = [word in words for line in lines for word in line.split()]
        assert 0.8 < sum(known) / len(known) < 0.98
        again = Materials(lambda _: byte_model(), lambda *_: OneText())
        with again:
            assert again.texts(from_file()).digest == made.digest


def test_who_learns_other_merges_is_found_and_reading_is_timed() -> None:
    plan = Plan(profile=ONCE, implementations=("compiled", "priority", "toy-mislearning"), workloads=(from_file(),))
    found = {record.implementation: record for record in carry_out(plan)}
    assert {name: record.status for name, record in found.items()} == {
        "compiled": "ok",
        "priority": "ok",
        "toy-mislearning": "mismatch",
    }
    for name in ("compiled", "priority"):
        record = found[name]
        assert record.digest == found["compiled"].digest
        assert record.reference == "compiled"
        assert len(record.samples_seconds) == record.loops == 1
        assert 50_000 <= record.n_bytes == record.full_bytes
        assert record.n_tokens == 24
        assert record.parts_seconds["import"][0] > 0


@pytest.mark.parametrize(("second", "is_used"), [("priority", True), ("toy-mislearning", False)])
def test_a_reference_is_used_only_where_a_second_one_learns_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, second: str, is_used: bool
) -> None:
    monkeypatch.setattr(setup, "FILE_TRAINERS", ("compiled", second))
    path = tmp_path / "text.txt"
    path.write_text(TEXT.replace(", ", "\n"))
    job = Job(task="train", state="cold", texts=str(path), training=TRAINING)
    with Materials(lambda _: byte_model(), lambda *_: OneText()) as materials, References(materials) as asked:
        answer = asked.expected(job, "")
    assert (answer is not None) == is_used
    if answer is not None:
        lines = path.read_text().splitlines(keepends=True)
        expected = impls.get("priority").train_model(lines, TrainingSpec(**TRAINING))  # type: ignore[arg-type]
        assert answer.digest == digest_of_model(expected)


def test_training_takes_threads_and_a_fresh_process_and_no_other_state_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(TABLE)
    (made,) = expand(load_templates(tmp_path))
    assert (made.name, made.threads, made.reads_file) == ("train-file/gpt2-300/turkish", 0, True)
    (tmp_path / "some.toml").write_text(TABLE.replace('"cold"', '"sustained"'))
    with pytest.raises(WorkloadError, match="state: 'sustained' is for the tasks"):
        load_templates(tmp_path)
