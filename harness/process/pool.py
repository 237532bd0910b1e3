"""A pool of worker processes that survives the death of any of them: a task that kills its worker is a `crash`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from impls.formats import PatternAssumed

T = TypeVar("T")


class WorkerDied(Exception):
    """The worker of a task ended without an answer (crashed inside a library, or was killed)."""


def run_tasks(
    function: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int], None] = lambda index: None,
) -> list[T | WorkerDied]:
    """Return `function(*task)` for every task, in order of `tasks`; `done(index)` is called as each one ends.

    When a worker dies, the tasks without an answer run again, each in a process of its own.
    """
    answers: dict[int, T | WorkerDied] = {}
    workers = min(os.cpu_count() or 1, max(1, len(tasks)))
    broken = False
    with _pool(workers) as pool:
        futures: dict[Future[T], int] = {pool.submit(function, *task): i for i, task in enumerate(tasks)}
        try:
            for future in as_completed(futures):
                try:
                    answers[futures[future]] = future.result()
                    done(futures[future])
                except BrokenProcessPool:
                    broken = True
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise
    if broken:
        for index in (i for i in range(len(tasks)) if i not in answers):
            answers[index] = _alone(function, tasks[index])
            done(index)
    return [answers[index] for index in range(len(tasks))]


def _alone(function: Callable[..., T], task: tuple[Any, ...]) -> T | WorkerDied:
    with _pool(1) as pool:
        try:
            return pool.submit(function, *task).result()
        except BrokenProcessPool:
            return WorkerDied("the worker process died without an answer")


def _pool(workers: int) -> ProcessPoolExecutor:
    # Fresh interpreters: a fork would carry the parent's threads and loaded libraries into the verdict.
    # Ctrl-C is handled by the parent, which ends the workers.
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
    )


def _begin() -> None:
    """Prepare a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent has loaded every model itself, and warned.
    warnings.simplefilter("ignore", PatternAssumed)
