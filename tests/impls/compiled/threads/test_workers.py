"""Threads that share a batch: late, interrupted, forked, refused, and several jobs at once."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

import pytest
from batch_texts import check_every_batch, texts_of

import impls
from impls.compiled import Compiled
from impls.compiled.threads import worker_threads
from impls.compiled.threads.pool import CallContext, Loan
from impls.core.model.model import Model
from impls.priority import Priority


def n_started() -> int:
    return sum(worker.is_started for worker in worker_threads._shared._threads)


def test_a_context_in_use_is_left_alone(fast: Compiled, model: Model) -> None:
    taken: list[CallContext] = []

    def encode_beside(call_context: CallContext) -> bool:
        taken.append(call_context)
        check_every_batch(fast, model, texts_of(300), 2)
        assert fast.encode("the cat") == Priority(model).encode("the cat")
        return True

    def take_another(call_context: CallContext) -> bool:
        taken.append(call_context)
        run(encode_beside)
        return True

    def run(action: Callable[[CallContext], bool]) -> None:
        job = worker_threads.BatchJob(fast._pool, 0, 1)
        fast._run_claimed(job.address, action)

    run(take_another)
    run(encode_beside)
    assert [one is fast._own for one in taken] == [True, False, True]


INTERRUPTED = """
import random, signal, sys, time
import impls
from impls.compiled import Compiled
from impls.compiled.threads import worker_threads
from impls.priority import Priority

spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k")
tokenizer = Compiled(Priority.train_model(["the cat sat kedi üstünde the cat üstünde"] * 2, spec))
texts = ["the cat sat üstünde " * 40] * 60
expected = Priority(tokenizer.model).encode(texts[0])
rng, interrupted, kept = random.Random(5), 0, []
for way in (tokenizer.encode_batch, tokenizer.encode_array_batch, tokenizer.encode_ragged):
    way(texts, threads=2)
    started = time.perf_counter()
    for _ in range(20):
        way(texts, threads=2)
    usual = (time.perf_counter() - started) / 20
    for _ in range({rounds}):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.random() * 1.5 * usual)
            way(texts, threads=2)
            way(texts, threads=2)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt as error:
            interrupted += 1
            kept.append(error)  # and with it every frame
        assert tokenizer._own.context["busy"] == 0
assert tokenizer.encode_batch(texts, threads=2) == [expected] * 60
job = worker_threads.BatchJob(tokenizer._pool, 0, 1)
free = [worker for worker in worker_threads._shared._threads if worker.reserve(job._memory)]
print(interrupted > {rounds} // 2, len(free), len(worker_threads._shared._threads))
"""


INTERRUPTED_BESIDE = """
import random, signal, time
import impls
from impls.compiled import Compiled
from impls.priority import Priority

spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k")
tokenizer = Compiled(Priority.train_model(["the cat sat kedi üstünde the cat üstünde"] * 2, spec))
rng, interrupted, text = random.Random(5), 0, "the cat sat üstünde " * 9
tokenizer._own.context["busy"] = 1  # as while another thread encodes with it
expected = tokenizer.encode(text)
started = time.perf_counter()
for _ in range(20):
    tokenizer.encode(text)
usual = (time.perf_counter() - started) / 20
for _ in range({rounds}):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.random() * 1.5 * usual)
        assert tokenizer.encode(text) == expected
        assert tokenizer.encode(text) == expected
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
assert tokenizer.encode(text) == expected
print(interrupted > {rounds} // 2, len(tokenizer._pool._contexts))
"""


@pytest.mark.parametrize(
    ("script", "rounds", "expected"), [(INTERRUPTED, 100, "True 1 1\n"), (INTERRUPTED_BESIDE, 1000, "True 1\n")]
)
def test_an_interrupt_leaves_contexts_and_workers_free(script: str, rounds: int, expected: str) -> None:
    rounds *= int(os.environ.get("BPEBENCH_FUZZ", "1"))
    script = "import signal\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\n" + script
    command = [sys.executable, "-c", script.replace("{rounds}", str(rounds))]
    environment = {**os.environ, "BPEBENCH_COMPILED_BORDER": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == expected, done.stderr[-2000:]


def test_a_late_worker_does_not_get_a_second_context(
    fast: Compiled, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = texts_of(5000, 20)
    fast.encode_batch(texts, threads=4)  # so that several threads wait for work
    begun, waves, made = threading.Event(), threading.Semaphore(0), []
    tokenizer = Compiled(model)
    make, ask = tokenizer._pool.make, worker_threads.BatchJob._ask_workers

    def make_when_the_third_wave_has_begun() -> Loan:
        made.append(threading.current_thread())
        begun.set()
        for _ in range(3):
            assert waves.acquire(timeout=60)
        return make()

    def ask_and_count(job: worker_threads.BatchJob) -> None:
        ask(job)
        assert begun.wait(timeout=60)
        waves.release()

    monkeypatch.setattr(tokenizer._pool, "make", make_when_the_third_wave_has_begun)
    monkeypatch.setattr(worker_threads.BatchJob, "_ask_workers", ask_and_count)
    expected = [Priority(model).encode(text) for text in texts]
    assert tokenizer.encode_batch(texts, threads=2) == expected
    assert len(made) == 1


def test_a_worker_that_comes_when_all_is_over_does_nothing_there(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of one model called it, and it is ready when a job of another model has called it."""
    monkeypatch.delenv("BPEBENCH_COMPILED_BORDER", raising=False)
    monkeypatch.setattr(worker_threads, "_shared", worker_threads._WorkerThreads())
    spec = impls.TrainingSpec(vocab_size=290, pattern="gpt2")
    other = Priority.train_model(["on the mat it sat, kedi paspasın üstünde"] * 2, spec)
    texts = texts_of(1500, 20)
    first, second = Compiled(model), Compiled(other)
    called, over = threading.Event(), threading.Event()
    make = first._pool.make

    def make_late() -> Loan:
        called.set()
        assert over.wait(timeout=60)
        return make()

    monkeypatch.setattr(first._pool, "make", make_late)
    ask = worker_threads.BatchJob._ask_workers

    def ask_and_wait(job: worker_threads.BatchJob) -> None:
        ask(job)
        assert called.wait(timeout=60)

    with monkeypatch.context() as patch:
        patch.setattr(worker_threads.BatchJob, "_ask_workers", ask_and_wait)
        assert first.encode_batch(texts, threads=2) == [Priority(model).encode(text) for text in texts]

    def ask_and_let_go(job: worker_threads.BatchJob) -> None:
        ask(job)
        over.set()

    monkeypatch.setattr(worker_threads.BatchJob, "_ask_workers", ask_and_let_go)
    expected = [Priority(other).encode(text) for text in texts]
    for _ in range(20):
        assert second.encode_batch(texts, threads=2) == expected
    assert n_started() == 1


def test_jobs_of_several_models_share_workers(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """New tokenizers all the time, so that workers are called, and jobs often end before these are ready."""
    monkeypatch.delenv("BPEBENCH_COMPILED_BORDER", raising=False)
    monkeypatch.setattr(worker_threads, "_shared", worker_threads._WorkerThreads())
    spec = impls.TrainingSpec(vocab_size=290, pattern="gpt2")
    models = [model, Priority.train_model(["on the mat it sat, kedi paspasın üstünde"] * 2, spec)]
    texts = texts_of(1500, 20)
    expected = [[Priority(one).encode(text) for text in texts] for one in models]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(6):
            tokenizer = Compiled(models[number % 2])
            for threads in (2, 4, 3, 2):
                if tokenizer.encode_batch(texts, threads) != expected[number % 2]:
                    wrong.append(number)

    callers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
    assert n_started() == 3
    job = worker_threads.BatchJob(Compiled(model)._pool, 0, 1)
    assert all(worker.reserve(job._memory) for worker in worker_threads._shared._threads)


def test_workers_are_reserved_and_added_by_one_thread_at_a_time(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = worker_threads._WorkerThreads()
    class_, others_wait = worker_threads.WorkerThread, []

    def added() -> worker_threads.WorkerThread:
        others_wait.append(not workers._reserving.acquire(blocking=False))
        return class_()

    monkeypatch.setattr(worker_threads, "WorkerThread", added)
    job = worker_threads.BatchJob(Compiled(model)._pool, 0, 2)
    assert len(workers.reserve(3, 2, job._memory)) == 2, "no more than the most there may be"
    assert others_wait == [True, True]
    assert workers._reserving.acquire(blocking=False)


def test_without_threads_or_memory_for_workers_a_batch_is_encoded_alone(
    fast: Compiled, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = texts_of(1500, 20)
    expected = [Priority(model).encode(text) for text in texts]
    monkeypatch.setattr(worker_threads, "_shared", worker_threads._WorkerThreads())
    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", raising(RuntimeError("can't start new thread")))
        assert fast.encode_batch(texts, threads=2) == expected
    assert n_started() == 0
    tokenizer, tried = Compiled(model), threading.Event()

    def no_memory() -> Loan:
        tried.set()
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(tokenizer._pool, "make", no_memory)
        for _ in range(3):
            assert tokenizer.encode_batch(texts, threads=2) == expected
        assert tried.wait(timeout=60)
    assert tokenizer.encode_batch(texts, threads=2) == expected
    assert n_started() == 1


def test_batches_beside_threads_that_run_python_all_the_time(tokenizer: Compiled, model: Model) -> None:
    """Getting the interpreter lock back takes milliseconds, so text is then encoded in longer stretches."""
    texts, over = texts_of(1500, 20), threading.Event()

    def run() -> None:
        while not over.is_set():
            sum(range(1000))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for threads in (1, 2):
            check_every_batch(tokenizer, model, texts, threads)
    finally:
        over.set()
        thread.join()


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def test_batches_of_several_threads_at_once(tokenizer: Compiled, model: Model) -> None:
    texts = texts_of(700)
    expected = [Priority(model).encode(text) for text in texts]
    all_ids = [i for ids in expected for i in ids]
    wrong: list[str] = []

    def work() -> None:
        for _ in range(4):
            if tokenizer.encode_batch(texts, 3) != expected:
                wrong.append("lists")
            if tokenizer.encode_ragged(texts, 2)[0].tolist() != all_ids:
                wrong.append("ragged")
            if tokenizer.encode("the cat") != Priority(model).encode("the cat"):
                wrong.append("one")

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own(tokenizer: Compiled, model: Model) -> None:
    texts = texts_of(500)
    expected = [Priority(model).encode(text) for text in texts]
    assert tokenizer.encode_batch(texts, 2) == expected
    child = os.fork()
    if child == 0:
        right = tokenizer.encode_batch(texts, 2) == expected and tokenizer.encode_batch(texts, 3) == expected
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
