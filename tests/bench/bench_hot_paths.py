"""Our own hot paths, for `make bench`. Everything is made here, from the samples, so that nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impls
from impls import Model

_SAMPLES = Path(__file__).resolve().parents[2] / "datasets" / "samples"
_ENCODERS = ["naive", "greedy", "wordcount", "priority", "bytelevel", "backtracking"]


def _documents() -> list[str]:
    return [path.read_text("utf-8") for path in sorted(_SAMPLES.glob("*.txt"))]


@pytest.fixture(scope="module")
def model() -> impls.Model:
    return impls.train("priority", _documents(), impls.TrainingSpec(vocab_size=1500)).model


@pytest.mark.parametrize("name", _ENCODERS)
def test_encode(benchmark: Any, name: str, model: impls.Model) -> None:
    tokenizer = impls.load(name, model)
    text = "\n".join(_documents())[:20_000]
    benchmark(lambda: tokenizer.encode(text, disallowed_special=()))


@pytest.mark.parametrize("name", ["priority", "backtracking"])
def test_encode_one_long_piece(benchmark: Any, name: str, model: impls.Model) -> None:
    tokenizer = impls.load(name, model.with_(pattern=()))
    text = "".join("\n".join(_documents()).split())[:20_000]
    benchmark(lambda: tokenizer.encode(text, disallowed_special=()))


def test_decode(benchmark: Any, model: impls.Model) -> None:
    tokenizer = impls.load("priority", model)
    ids = tokenizer.encode("\n".join(_documents()), disallowed_special=())
    benchmark(lambda: tokenizer.decode(ids))


@pytest.mark.parametrize("name", ["wordcount", "priority", "bytelevel"])
def test_train(benchmark: Any, name: str) -> None:
    documents = _documents()
    benchmark.pedantic(lambda: impls.train(name, documents, impls.TrainingSpec(vocab_size=700)), rounds=3, iterations=1)


def test_model_construction(benchmark: Any, model: impls.Model) -> None:
    benchmark(lambda: model.with_(merge_counts=None))


# --- the harness's own ---------------------------------------------------------------------------------------


def test_judge(benchmark: Any) -> None:
    from harness.judge import Encoded, judge

    model = Model(tokens=tuple(bytes([byte]) for byte in range(256)))
    answers = [Encoded("x" * 1000, np.full(1000, 120, dtype=np.uint32)) for _ in range(100)]
    reference = [answer.ids for answer in answers]
    benchmark(lambda: judge(answers, reference, model))


def test_a_record_written_and_read(benchmark: Any, tmp_path: Path) -> None:
    from harness.outcome import Outcome
    from harness.records import RecordWriter, Verdict, read_records

    verdict = Verdict(implementation="a", model="m", corpus="c", check="round-trip", status=Outcome.RIGHT, n_texts=1)

    def work() -> None:
        with RecordWriter(tmp_path, resume=True) as writer:
            writer.write(verdict)
        read_records(tmp_path)
        (tmp_path / "records.jsonl").unlink()

    benchmark(work)


def test_smallest_text(benchmark: Any) -> None:
    from harness.minimize import smallest_text

    text = "the quick brown fox jumps over the lazy dog " * 20
    benchmark(lambda: smallest_text(text, lambda candidate: "x" in candidate and "z" in candidate))
