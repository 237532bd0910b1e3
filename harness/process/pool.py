"""A pool of sessions that survives the death of any of them: a task that kills its process ends in a `Failed`."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from harness.outcome import Outcome
from harness.process.child import WATCH_SECONDS
from harness.process.session import Answer, Failed, Session, functions

T = TypeVar("T")

TASK_SECONDS = 3600.0
"""Default time limit of a task."""


class Pool:
    """Processes that keep what they have loaded from one call of `run` to the next. A context manager."""

    def __init__(self) -> None:
        self._idle: list[Session] = []
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
        seconds: float = TASK_SECONDS,
    ) -> list[T | Failed]:
        """Return `function(*task)` for every task, in order of `tasks`; `done(index)` is called as each one ends.

        If a process dies that earlier tasks have used, the task runs again in a process of its own. Exceptions of the
        function are raised here.
        """
        answers: dict[int, T | Failed] = {}
        waiting = deque(range(len(tasks)))
        running: dict[int, Session] = {}
        most = os.cpu_count() or 1
        while len(answers) < len(tasks):
            while waiting and len(running) < most:
                index = waiting.popleft()
                session = running[index] = self._idle.pop() if self._idle else self._new()
                session.begin_call(function, *tasks[index], seconds=seconds)
            for index, session in list(running.items()):
                answer = session.poll()
                if answer is None:
                    continue
                if isinstance(answer, Answer):
                    answers[index] = answer.value
                elif answer.error:
                    raise answer.raised or RuntimeError(answer.reason)
                elif session.n_asked > 1 and answer.outcome is not Outcome.TIMEOUT:
                    session.begin_call(function, *tasks[index], seconds=seconds)
                    continue
                else:
                    answers[index] = answer
                del running[index]
                self._idle.append(session)
                done(index)
            if running and (not waiting or len(running) == most):
                select.select(list(running.values()), [], [], WATCH_SECONDS)
        return [answers[index] for index in range(len(tasks))]

    def _new(self) -> Session:
        session = functions(echo=True)
        self._all.callback(session.kill)
        return session
