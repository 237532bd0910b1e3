"""Threads that share a batch: late, interrupted, forked, refused, and several jobs at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import NoReturn

import child
import pytest
from batch_texts import check_every_batch, texts_of

import impls
from impls.compiled import Compiled
from impls.compiled.codegen.native import Slots
from impls.compiled.context import Context
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.threads import worker_threads
from impls.compiled.threads.layout import JobRecord
from impls.core.model.model import Model
from impls.priority import Priority


def n_started() -> int:
    return len(worker_threads._shared.workers)


def test_a_context_in_use_is_left_alone(fast: Compiled, model: Model) -> None:
    taken: list[Builtins] = []

    def encode_beside(builtins: Builtins) -> bool:
        taken.append(builtins)
        check_every_batch(fast, model, texts_of(300), 2)
        assert fast.encode("the cat") == Priority(model).encode("the cat")
        return True

    def take_another(builtins: Builtins) -> bool:
        taken.append(builtins)
        run(encode_beside)
        return True

    def run(action: Callable[[Builtins], bool]) -> None:
        worker_threads.BatchJob(fast._pool, 1, [""]).run_claimed(fast._own, action)

    run(take_another)
    run(encode_beside)
    assert [each is fast._own.builtins for each in taken] == [True, False, True]


INTERRUPTED = """
import random, signal, time
import impls
from impls.compiled import Compiled
from impls.compiled.context import Context
from impls.compiled.threads import worker_threads
from impls.priority import Priority

signal.signal(signal.SIGALRM, signal.default_int_handler)
spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k")
model = Priority.train_model(["the cat sat kedi üstünde the cat üstünde"] * 2, spec)
tokenizer, beside = Compiled(model), Compiled(model)
beside._own["busy"] = 1  # as while another thread encodes with it
text = "the cat sat üstünde " * 40
texts, ids, kept = [text] * 60, Priority(model).encode(text), []

def interrupted(way, given, n_rounds, check):
    rng = random.Random(5)
    way(given)
    started = time.perf_counter()
    for _ in range(20):
        way(given)
    usual, n_before = (time.perf_counter() - started) / 20, len(kept)
    for _ in range(n_rounds):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.random() * 1.5 * usual)
            way(given)
            way(given)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt as error:
            kept.append(error if way != beside.encode else None)  # and with it every frame
        assert check()
    assert len(kept) - n_before > n_rounds // 8

for way in (tokenizer.encode_batch, tokenizer.encode_ragged):
    interrupted(lambda texts: way(texts, threads=2), texts, {rounds}, lambda: tokenizer._own["busy"] == 0)
interrupted(beside.encode, text, 5 * {rounds}, lambda: beside.encode(text) == ids)
assert tokenizer.encode_batch(texts, threads=2) == [ids] * 60
shared = worker_threads._shared
print(len(shared.idle()), len(shared.workers), len(beside._pool.free))
"""


def test_an_interrupt_leaves_contexts_and_workers_free() -> None:
    rounds = 100 * int(os.environ.get("BPEBENCH_FUZZ", "1"))
    done = child.run(INTERRUPTED.replace("{rounds}", str(rounds)), BPEBENCH_COMPILED_BORDER="")
    assert done.stdout == "1 1 1\n", done.stderr[-2000:]


def test_a_late_worker_gets_no_second_context(fast: Compiled, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(5000, 20)
    fast.encode_batch(texts, threads=4)  # so that several threads wait for work
    begun, waves, made = threading.Event(), threading.Semaphore(0), []
    tokenizer = Compiled(model)
    make, ask = tokenizer._pool.make, worker_threads.BatchJob._ask_workers

    def make_when_the_third_wave_has_begun() -> Context:
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


def test_jobs_of_several_models_share_workers(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """New tokenizers all the time, so that workers are called, and jobs often end before these are ready."""
    monkeypatch.delenv("BPEBENCH_COMPILED_BORDER", raising=False)
    monkeypatch.setattr(worker_threads, "_shared", worker_threads.WorkerThreads())
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
    assert len(worker_threads._shared.idle()) == 3


def test_without_workers_a_batch_is_encoded(fast: Compiled, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of(1500, 20)
    expected = [Priority(model).encode(text) for text in texts]
    monkeypatch.setattr(worker_threads, "_shared", worker_threads.WorkerThreads())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", raising(RuntimeError("can't start new thread")))
        assert fast.encode_batch(texts, threads=2) == expected
    assert n_started() == 0
    tokenizer, tried = Compiled(model), threading.Event()

    def no_memory() -> Context:
        tried.set()
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(tokenizer._pool, "make", no_memory)
        for _ in range(3):
            assert tokenizer.encode_batch(texts, threads=2) == expected
        assert tried.wait(timeout=60)
    assert tokenizer.encode_batch(texts, threads=2) == expected
    assert n_started() == 1


def test_a_job_that_returns_its_contexts_late_leaves_the_workers_of_others_alone() -> None:
    shared = worker_threads.WorkerThreads()
    early, late = Slots(JobRecord), Slots(JobRecord)
    worker = shared.take(early, 1)
    assert worker is not None
    assert shared.take(late, 1) is None
    early["is_closed"] = 1
    assert shared.take(late, 1) is worker
    shared.release(early)
    assert worker.job is late
    shared.release(late)
    assert shared.idle() == [worker]


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def test_batches_of_several_threads_at_once(tokenizer: Compiled, model: Model) -> None:
    """One thread runs Python all the time: getting the interpreter lock back then takes milliseconds."""
    texts, over, wrong = texts_of(700), threading.Event(), list[str]()
    expected = [Priority(model).encode(text) for text in texts]
    all_ids = [i for ids in expected for i in ids]

    def spin() -> None:
        while not over.is_set():
            sum(range(1000))

    def work() -> None:
        for _ in range(4):
            if tokenizer.encode_batch(texts, 3) != expected:
                wrong.append("lists")
            if tokenizer.encode_ragged(texts, 2)[0].tolist() != all_ids:
                wrong.append("ragged")
            for text, ids in zip(texts[:40], expected, strict=False):
                if tokenizer.encode(text) != ids or tokenizer.count(text) != len(ids):
                    wrong.append(text)

    spinner, callers = threading.Thread(target=spin), [threading.Thread(target=work) for _ in range(4)]
    spinner.start()
    try:
        check_every_batch(tokenizer, model, texts, 1)
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    finally:
        over.set()
        spinner.join()
    assert not wrong
