"""`import bpebench`: what a user's program sees, and `python -m bpebench` from any folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bpebench
from harness.records import Measurement, RecordError, RecordWriter


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    trained = bpebench.train("priority", ["the cat sat on the mat"] * 3, bpebench.TrainingSpec(vocab_size=270))
    trained.model.save(tmp_path / "mine.json")
    return tmp_path / "mine.json"


def test_a_tokenizer_is_loaded_by_path_or_model(model_file: Path) -> None:
    by_path = bpebench.load("priority", model_file)
    by_model = bpebench.load("naive", bpebench.load_model(model_file))
    assert by_path.encode("the mat") == by_model.encode("the mat")
    with pytest.raises(bpebench.BPEError, match="unknown implementation 'fast'"):
        bpebench.load("fast", model_file)


def test_openai_models_have_their_vocabularies_by_name() -> None:
    assert bpebench.encoding_name_for_model("gpt-4o") == "o200k_base"
    assert bpebench.encoding_name_for_model("gpt-4-0314") == "cl100k_base"
    with pytest.raises(KeyError):
        bpebench.encoding_name_for_model("no-such-model")


def test_records_become_one_row_for_each_sample(tmp_path: Path) -> None:
    shared = {"workload": "encode/m/c", "task": "encode", "model": "m", "corpus": "c", "n_bytes": 2_000_000}
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(
            Measurement(implementation="naive", status="ok", loops=2, samples_seconds=[4.0, 2.0], **shared),
            Measurement(implementation="greedy", status="unsupported", reason="why", **shared),
        )
    frame = bpebench.read_records(tmp_path / "run", tmp_path / "run")
    assert len(frame) == 6
    naive = frame[frame.implementation == "naive"]
    assert naive.seconds.tolist() == [2.0, 1.0] * 2
    assert naive.mb_per_second.tolist() == [1.0, 2.0] * 2
    failed = frame[frame.status != "ok"].iloc[0]
    assert (failed.implementation, failed.reason) == ("greedy", "why")
    assert failed.isna().seconds
    with pytest.raises(RecordError, match=r"holds no records\.jsonl"):
        bpebench.read_records("m\0.json")


def test_the_module_is_the_command_whatever_lies_where_one_stands(tmp_path: Path) -> None:
    for name in ("impls", "harness"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "bpebench", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("bpebench, version "), done.stderr
