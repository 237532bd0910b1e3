"""A pool of workers that survives the death of any of them: a task that kills its worker ends in a `WorkerDied`."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Literal, TypeVar

from harness.process.child import WATCH_SECONDS
from harness.process.limits import Stopped, worker_limits
from harness.process.worker import Worker

T = TypeVar("T")

TASK_SECONDS = 3600.0
"""Default time limit of a task."""


class WorkerDied(Exception):
    """The worker of a task ended without an answer: it crashed inside a library or exceeded its limits."""

    def __init__(self, status: Literal["timeout", "crash", "out-of-memory"], reason: str) -> None:
        self.status = status
        super().__init__(status, reason)

    def __str__(self) -> str:
        return f"the worker process died without an answer: {self.args[1]}"


class Pool:
    """Workers that keep what they have loaded from one call of `run` to the next. A context manager."""

    def __init__(self) -> None:
        self._limits = worker_limits()
        self._idle: list[Worker] = []
        self._all = ExitStack()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self._all.close()

    def run(
        self,
        function: Callable[..., T],
        tasks: Sequence[tuple[Any, ...]],
        done: Callable[[int], None] = lambda index: None,
        *,
        seconds: float | None = None,
    ) -> list[T | WorkerDied]:
        """Return `function(*task)` for every task, in order of `tasks`; `done(index)` is called as each one ends.

        If a worker dies that earlier tasks have used, the task runs again in a process of its own. Exceptions of the
        function are raised here.
        """
        answers: dict[int, T | WorkerDied] = {}
        waiting = deque((index, False) for index in range(len(tasks)))
        """The tasks to start, and whether each needs a fresh process."""
        running: dict[Worker, int] = {}
        most = os.cpu_count() or 1
        while len(answers) < len(tasks):
            while waiting and len(running) < most:
                index, alone = waiting.popleft()
                worker = self._new() if alone or not self._idle else self._idle.pop()
                worker.start(function, *tasks[index], seconds=seconds or TASK_SECONDS)
                running[worker] = index
            for worker, index in list(running.items()):
                try:
                    reply = worker.poll()
                except Stopped as stopped:
                    del running[worker]
                    if worker.n_calls > 1 and stopped.verdict != "timeout":
                        waiting.append((index, True))
                        continue
                    answers[index] = WorkerDied(stopped.status, stopped.reason)
                else:
                    if reply is None:
                        continue
                    del running[worker]
                    self._idle.append(worker)
                    answers[index] = reply.result()
                done(index)
            if running and (not waiting or len(running) == most):
                select.select([worker.child for worker in running], [], [], WATCH_SECONDS)
        return [answers[index] for index in range(len(tasks))]

    def _new(self) -> Worker:
        worker = Worker(self._limits, echo=True)
        self._all.callback(worker.child.kill)
        return worker


def run_tasks(
    function: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int], None] = lambda index: None,
    *,
    seconds: float | None = None,
) -> list[T | WorkerDied]:
    """Run `Pool.run` with workers for this call only."""
    with Pool() as pool:
        return pool.run(function, tasks, done, seconds=seconds)


def run_tasks_on(
    executors: Callable[[], AbstractContextManager[Executor]],
    function: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    done: Callable[[int], None] = lambda index: None,
) -> list[T | WorkerDied]:
    """Run `run_tasks` with each task in a process of its own on one of an executor's workers."""
    with executors() as executor:
        futures = {executor.submit(run_tasks, function, [task]): index for index, task in enumerate(tasks)}
        for future in as_completed(futures):
            future.result()
            done(futures[future])
        return [future.result()[0] for future in futures]
