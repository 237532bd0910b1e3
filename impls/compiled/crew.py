"""Threads that wait for batches to help with, and what the thread that encodes a batch shares with them.

They sleep between batches, so that a batch of a millisecond does not pay for starting them. Batches that run at the
same time share them; a batch nobody has come to help with does all its work itself.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from impls.compiled.build import is_checked
from impls.compiled.builtins import Builtins
from impls.compiled.layout import ITEM_BYTES, ITEM_COUNT, JOB_ITEMS_AT, JOB_MOST_ITEMS, JOB_N_ITEMS, JOB_N_TASKS
from impls.compiled.native import address, declare, forget
from impls.compiled.placing import Placing
from impls.compiled.pool import Pool, Worker

_MOST_ITEMS = 1024
"""Texts of one wave."""

_Answer = TypeVar("_Answer")


class Job:
    """The texts of a batch in waves; `main` are the built-ins of this thread, others take their workers from `pool`."""

    def __init__(self, main: Builtins, pool: Pool, n_helpers: int, n_texts: int) -> None:
        self._main = main
        self._helps = [_Help(pool, self) for _ in range(n_helpers)]
        most_items = max(1, min(n_texts, _MOST_ITEMS))
        n_bytes = JOB_ITEMS_AT + (ITEM_BYTES + 4) * most_items
        self._memory = np.zeros((n_bytes + 7) >> 3, np.int64)
        self._memory[JOB_MOST_ITEMS >> 3] = most_items
        self.address = address(self._memory)
        self.left: SimpleQueue[None] = SimpleQueue()
        """An entry for every time a helper has left."""

    def waves(self, texts: Sequence[str | None], look: int) -> Generator[tuple[int, int], None, None]:
        """For every wave the number of its first text and how many it has; both are for the caller to encode.

        `texts` must not change meanwhile. None stands for a text that needs care; `look`: whether texts that may hold
        a special token need care (1) or not (0). To be closed where it is not exhausted.
        """
        numbers = [declare(self._memory)] if is_checked() else []
        done = 0
        try:
            while done < len(texts):
                n_texts = self._main.batch_fetch(self.address, texts, done, 2 + 2 * len(self._helps), look)
                self._ask_for_help()
                yield done, n_texts
                self.until_left(lambda: self._main.batch_close(self.address))
                done += n_texts
        finally:
            self.until_left(lambda: self._main.batch_close(self.address))
            for help_ in self._helps:
                help_.end()
            forget(*numbers)

    def texts_that_need_care(self) -> list[int]:
        """Which texts of the wave that has been encoded the kernels did not encode, counted from its first."""
        n_texts = int(self._memory[JOB_N_ITEMS >> 3])
        counts = self._memory[(JOB_ITEMS_AT + ITEM_COUNT) >> 3 :: ITEM_BYTES >> 3][:n_texts]
        found: list[int] = np.flatnonzero(counts < 0).tolist()
        return found

    def until_left(self, ask: Callable[[], _Answer | None]) -> _Answer:
        """What `ask` answers in the end; while that is None, waits for helpers to leave."""
        while (answer := ask()) is None:
            self.left.get()
        return answer

    def _ask_for_help(self) -> None:
        n_wanted = min(len(self._helps), int(self._memory[JOB_N_TASKS >> 3]) - 1)
        if n_wanted > 0:
            wanted = self._helps[:n_wanted]
            _crew.ask([help_ for help_ in wanted if help_.ask()], len(self._helps))


class _Help:
    """What one helper does for one job, again and again, but never twice at the same time: it has one worker.

    Its worker is taken by the helper, since making one may take longer than the job; it is given back by whoever
    ends the job, because ids lie there until they are collected.
    """

    def __init__(self, pool: Pool, job: Job) -> None:
        self._pool, self._job = pool, job
        self._worker: Worker | None = None
        self._over = False
        self._lock = threading.Lock()
        self._asked = self._again = False

    def ask(self) -> bool:
        """Asks for it; True where somebody has to call it, False where the call that is not over yet will do it."""
        with self._lock:
            self._again = self._asked
            self._asked = True
            return not self._again

    def __call__(self) -> None:
        wanted = True
        while wanted:
            try:
                # Returns at once where the job is over, or between two waves.
                worker = self._taken()
                if worker is not None and worker.builtins is not None:
                    worker.builtins.batch_help(self._job.address)
                wanted = self._goes_on()
            except MemoryError:
                with self._lock:
                    self._asked = self._again = False
                raise
            finally:
                self._job.left.put(None)

    def _goes_on(self) -> bool:
        with self._lock:
            self._asked, self._again = self._again, False
            return self._asked

    def _taken(self) -> Worker | None:
        if self._worker is None and not self._over:
            worker = self._pool.take()
            with self._lock:
                if self._over:
                    self._pool.give(worker)
                else:
                    self._worker = worker
        return self._worker

    def end(self) -> None:
        """The job is over, and nobody is at work on it."""
        with self._lock:
            self._over = True
            worker, self._worker = self._worker, None
        if worker is not None:
            self._pool.give(worker)


class _Crew:
    """As many threads as one batch ever asked for. Daemons: the end of the program does not wait for them."""

    def __init__(self) -> None:
        self._wanted: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads: list[int] = []
        """Their native ids."""
        self._starting = threading.Lock()
        self._placing = Placing()

    def ask(self, works: Sequence[Callable[[], None]], n_threads: int) -> None:
        """Has one of the threads do each of `works`, at some time."""
        if len(self._threads) < n_threads:
            with self._starting:
                while len(self._threads) < n_threads:
                    thread = threading.Thread(target=self._serve, name="bpebench-batch", daemon=True)
                    thread.start()
                    self._threads.append(thread.native_id or 0)
        self._placing.keep_off_this_processor(self._threads)
        for work in works:
            self._wanted.put(work)

    def _serve(self) -> None:
        while True:
            with contextlib.suppress(MemoryError):
                # Without this helper the others do the work.
                self._wanted.get()()


_crew = _Crew()


def _new_crew() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    # Threads do not survive in a forked child.
    os.register_at_fork(after_in_child=_new_crew)
