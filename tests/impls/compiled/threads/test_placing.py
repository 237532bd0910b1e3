"""Worker threads of `compiled` run anywhere but on the processor of the thread that asks for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

import impls
from impls.compiled import Compiled
from impls.compiled.threads import worker_threads
from impls.priority import Priority

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads are placed on Linux only")
TEXTS = ["the cat sat on the mat", "kedi paspasın üstünde"] * 2000


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> Compiled:
    monkeypatch.delenv("BPEBENCH_COMPILED_BORDER", raising=False)
    monkeypatch.setattr(worker_threads, "_shared", worker_threads.WorkerThreads())
    spec = impls.TrainingSpec(vocab_size=300, pattern="cl100k")
    return Compiled(Priority.train_model(TEXTS[:2], spec))


@pytest.fixture
def on_processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Make the calling thread believe it runs there."""
    allowed = os.sched_getaffinity(0)
    yield lambda number: monkeypatch.setattr(worker_threads, "_processor", lambda: number)
    os.sched_setaffinity(0, allowed)


def worker_ids() -> list[int]:
    return [worker.thread.native_id or 0 for worker in worker_threads._shared.workers]


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="there is one processor")
def test_workers_avoid_the_processor_of_the_caller(tokenizer: Compiled, on_processor: Callable[[int], None]) -> None:
    allowed = os.sched_getaffinity(0)
    assert worker_threads._processor() in allowed
    expected = [tokenizer.encode(text) for text in TEXTS]
    for number in sorted(allowed)[:2] * 2:
        on_processor(number)
        assert tokenizer.encode_batch(TEXTS, 3) == expected
        assert len(worker_ids()) == 2
        assert [os.sched_getaffinity(worker) for worker in worker_ids()] == [allowed - {number}] * 2
    assert os.sched_getaffinity(0) == allowed


def test_a_system_that_does_not_let_us_is_left_alone(tokenizer: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        refused.append(1)
        raise PermissionError

    refused: list[int] = []
    monkeypatch.setattr(worker_threads, "_processor", lambda: -1)
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    expected = [tokenizer.encode(text) for text in TEXTS]
    assert tokenizer.encode_batch(TEXTS, 2) == expected
    assert refused
    monkeypatch.setattr(worker_threads, "_processor", lambda: None)
    monkeypatch.setattr(worker_threads, "_shared", worker_threads.WorkerThreads())
    assert tokenizer.encode_batch(TEXTS, 2) == expected
    assert len(refused) == 1
