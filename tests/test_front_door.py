"""`import bpebench`: what a user's program sees, and `python -m bpebench` from any folder."""

from __future__ import annotations

import inspect
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused

import bpebench
from harness.outcome import Outcome
from harness.records import Measurement, Pass, RecordError, RecordWriter


@pytest.fixture
def model_file(saved: Callable[..., Path]) -> Path:
    return saved(*["the cat sat on the mat"] * 3, name="mine.json", vocab_size=270)


def test_a_tokenizer_is_loaded_by_path_or_model(model_file: Path) -> None:
    by_path = bpebench.load("priority", model_file)
    by_model = bpebench.load("naive", bpebench.load_model(model_file))
    assert by_path.encode("the mat") == by_model.encode("the mat")
    refused(bpebench.BPEError, "unknown implementation 'fast'", bpebench.load, "fast", model_file)


def test_a_model_alone_is_loaded_by_the_fast_one(model_file: Path) -> None:
    assert bpebench.load(model_file).name == bpebench.load(bpebench.load_model(model_file)).name == "compiled"
    assert bpebench.load(str(model_file)).encode("the mat") == bpebench.load("priority", model_file).encode("the mat")
    refused(bpebench.BPEError, r"unknown model 'compiled'.* is an implementation", bpebench.load, "compiled")
    for wrong in (5, None):
        refused(TypeError, f"model must be a name or a path, not {wrong}", bpebench.load_model, wrong)
    with pytest.raises(TypeError, match="pattern must be a name, an expression or several expressions, not 5"):
        bpebench.load("priority", model_file, pattern=5)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_a_pattern_may_be_given_for_a_file_that_has_none(tmp_path: Path) -> None:
    file = tmp_path / "mine.tiktoken"
    file.write_text("".join(f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)), encoding="ascii")
    patterns = [
        bpebench.load_model(file, pattern="cl100k").pattern,
        bpebench.load("priority", file, pattern="cl100k").model.pattern,
        bpebench.load("priority", bpebench.load_model(file, pattern="gpt2"), pattern="cl100k").model.pattern,
    ]
    assert patterns == [bpebench.load_model("cl100k_base", pattern="cl100k").pattern] * 3


def test_files_and_paths_are_read_and_a_text_that_names_a_file_warns(tmp_path: Path) -> None:
    spec = bpebench.TrainingSpec(vocab_size=262)
    (tmp_path / "corpus.txt").write_text("the cat sat on the mat\n" * 9, encoding="utf-8")
    expected = bpebench.train("priority", ["the cat sat on the mat\n" * 9], spec).model.merges
    for given in (
        {"files": [str(tmp_path / "corpus.txt")]},
        {"files": [tmp_path / "corpus.txt"]},
        {"texts": tmp_path / "corpus.txt"},
        {"texts": [tmp_path / "corpus.txt"]},
    ):
        assert bpebench.train("priority", spec=spec, **given).model.merges == expected
        assert bpebench.train("priority", vocab_size=262, min_count=1, **given).model.merges == expected
    refused(TypeError, "min_counts", bpebench.train, "priority", ["a"], vocab_size=262, min_counts=1)
    with pytest.warns(
        UserWarning, match=r"corpus\.txt' is used as text, but is also a file; to read it give a Path, or files="
    ) as warned:
        bpebench.train("priority", [str(tmp_path / "corpus.txt")], spec)
    assert warned[0].filename == __file__
    refused(TypeError, r"give either texts or files=", bpebench.train, "priority", spec=spec)
    refused(TypeError, r"spec=bpebench\.TrainingSpec\(vocab_size=", bpebench.train, "priority", ["a"])
    refused(TypeError, "the implementation comes first", bpebench.train, ["a"], vocab_size=300)
    refused(bpebench.BPEError, "missing", bpebench.train, "priority", files=["missing"], spec=spec)
    with pytest.raises(TypeError, match="files must be several paths, not one str; put it into a list"):
        bpebench.train("priority", files="corpus.txt", spec=spec)


def test_a_tokenizer_is_saved_and_shown_in_one_line(model_file: Path, tmp_path: Path) -> None:
    tokenizer = bpebench.load("priority", model_file)
    tokenizer.save(tmp_path / "again.json")
    assert bpebench.load_model(tmp_path / "again.json") == tokenizer.model
    assert repr(tokenizer.model) == "Model(268 ids, 12 merges, pattern gpt2)"
    assert repr(tokenizer) == "<priority: Model(268 ids, 12 merges, pattern gpt2)>"


def test_help_says_what_the_fields_of_a_specification_are() -> None:
    told = bpebench.TrainingSpec.__doc__ or ""
    assert all(f"{field}: " in told for field in bpebench.TrainingSpec.__dataclass_fields__)
    model = bpebench.load_model("gpt2")
    assert all(inspect.getdoc(bpebench.load(name, model).encode) for name in ("priority", "compiled"))


def test_records_become_one_row_for_each_pass(tmp_path: Path) -> None:
    shared = {"workload": "encode/m/c", "task": "encode", "model": "m", "corpus": "c"}
    passes = [Pass(i, False, 2_000_000, [1], [seconds], [seconds]) for i, seconds in enumerate((2.0, 1.0))]
    with RecordWriter(tmp_path / "run") as writer:
        writer.write(
            Measurement(implementation="naive", outcome=Outcome.RIGHT, passes=passes, **shared),
            Measurement(implementation="greedy", outcome=Outcome.REFUSED, reason="why", **shared),
        )
    frame = bpebench.read_records(tmp_path / "run", tmp_path / "run")
    assert len(frame) == 6
    naive = frame[frame.implementation == "naive"]
    assert naive.seconds.tolist() == [2.0, 1.0] * 2
    assert naive.mb_per_second.tolist() == [1.0, 2.0] * 2
    failed = frame[frame.outcome != "right"].iloc[0]
    assert (failed.implementation, failed.reason) == ("greedy", "why")
    assert failed.isna().seconds
    refused(RecordError, r"contains no records\.jsonl", bpebench.read_records, "m\0.json")


def test_reading_records_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "harness.records.frame", raising=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(bpebench.BPEError, match="the package 'pandas' is not installed; pip install pandas"):
        bpebench.read_records("results")


def test_the_module_is_the_command_whatever_lies_where_one_stands(tmp_path: Path) -> None:
    for name in ("impls", "harness"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "bpebench", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("bpebench, version "), done.stderr
