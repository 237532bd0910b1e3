"""What workers count of a text, joined, is what one process counts: every figure and every interval."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import msgspec
import pytest

import impls
from harness.evaluate import run, texts
from harness.evaluate.metrics import EvaluationRow
from harness.evaluate.run import EvaluationPlan, evaluate
from harness.evaluate.texts import CountedText
from harness.progress import Bar
from impls.core.errors import BPEError

WORDS = ["bir", "evlerimizden", "gelen", "été", "шла", "水", "\u0301", "12", "🙂", "e\u0301"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An exact model, which remembers documents it was trained on, and a lossy one."""
    folder = tmp_path_factory.mktemp("models")
    spec = impls.TrainingSpec(vocab_size=300)
    exact = impls.train("priority", ["bir evlerimizden"], spec).model
    chars = impls.TrainingSpec(vocab_size=40, alphabet="chars", unknown="<unk>", pattern="none")
    impls.train("priority", ["bir gelen évlerimizden 12"], chars).model.save(folder / "lossy.json")
    exact.save(folder / "exact.json")
    return [str(folder / "exact.json"), str(folder / "lossy.json")]


def plan(models: list[str], n_documents: int, seed: int) -> EvaluationPlan:
    rng = random.Random(seed)
    documents = [" ".join(rng.choices(WORDS, k=rng.randrange(1, 30))) for _ in range(n_documents)]
    return EvaluationPlan(models, [CountedText("made", "tr", lambda: iter(documents))], {}, baseline=models[0])


def untimed(rows: list[EvaluationRow]) -> object:
    assert all(row.megabytes_per_second for row in rows)
    return msgspec.to_builtins([replace(row, megabytes_per_second=None) for row in rows])


class _Here(Executor):
    """Runs what is submitted at once, its answer pickled as another process would."""

    def submit(self, function: Callable[..., object], /, *arguments: object, **_: object) -> Future[object]:  # type: ignore[override]
        import pickle

        future: Future[object] = Future()
        future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        return future


@contextmanager
def here() -> Iterator[Executor]:
    yield _Here()


def two_processes() -> AbstractContextManager[Executor]:
    return ProcessPoolExecutor(2, get_context("spawn"))


@pytest.mark.parametrize("n_documents", [1, 7, 2500])
@pytest.mark.parametrize("most_waiting", [1, 3])
def test_joined_parts_are_the_whole(
    models: list[str], n_documents: int, most_waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_BATCH_CHARACTERS", 600)
    monkeypatch.setattr(run, "_MOST_WAITING", most_waiting)
    chosen = plan(models, n_documents, n_documents)
    assert untimed(evaluate(chosen, Bar(), here)) == untimed(evaluate(chosen, Bar()))


def test_processes_count_the_same(models: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_BATCH_CHARACTERS", 5_000)
    chosen = plan(models, 400, 1)
    assert untimed(evaluate(chosen, Bar(), two_processes)) == untimed(evaluate(chosen, Bar()))


def test_a_worker_with_another_vocabulary_of_that_name_is_an_error(models: list[str]) -> None:
    with pytest.raises(BPEError, match="is another vocabulary on a worker"):
        run.tally_batch(["bir"], ((models[0], "0" * 64),), 0, 0)


def test_a_text_that_is_empty_is_an_error_on_workers_too(models: list[str], tmp_path: Path) -> None:
    with pytest.raises(BPEError, match="made: holds no text"):
        evaluate(plan(models, 0, 0), Bar(), here)
