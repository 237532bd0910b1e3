"""Threads that wait for batches to help with, and what the thread that encodes a batch shares with them.

They sleep between batches without the interpreter lock (`threads/helpers`), so that a batch of a millisecond pays
neither for starting nor for waking the interpreter in them. Batches that run at the same time share them; a batch
nobody has come to help with does all its work itself.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import weakref
from collections.abc import Iterator, Sequence

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import Native, address, declare, forget
from impls.compiled.cpython.builtins import Builtins
from impls.compiled.layout import (
    ASKED,
    HELPER_BYTES,
    HELPER_CONTEXT,
    HELPER_LOCK,
    HELPER_NEXT,
    ITEM_BYTES,
    ITEM_COUNT,
    JOB_CLOSED,
    JOB_HELPERS,
    JOB_ITEMS_AT,
    JOB_MOST_ITEMS,
    JOB_N_ITEMS,
    JOB_N_TASKS,
    PREPARING,
    RESTING,
)
from impls.compiled.threads.placing import keep_off, this_processor
from impls.compiled.threads.pool import Loan, Pool

_MOST_ITEMS = 1024
"""Texts of one wave."""


class Job:
    """The texts of a batch in waves; helpers take their workers from `pool`.

    Whoever uses it sees to it that it is closed (`run_claimed`): its helpers are free for others from then on.
    """

    def __init__(self, pool: Pool, n_helpers: int, n_texts: int) -> None:
        self._pool, self._n_helpers = pool, n_helpers
        self._helpers: list[Helper] = []
        most_items = max(1, min(n_texts, _MOST_ITEMS))
        n_bytes = JOB_ITEMS_AT + (ITEM_BYTES + 4) * most_items
        self._memory = np.zeros((n_bytes + 7) >> 3, np.int64)
        self._memory[JOB_MOST_ITEMS >> 3] = most_items
        self.address = address(self._memory)
        if is_checked():
            weakref.finalize(self, forget, declare(self._memory))

    def waves(self, main: Builtins, texts: Sequence[str | None], look: int) -> Iterator[tuple[int, int]]:
        """For every wave the number of its first text and how many it has; both are for the caller to encode.

        `main` are the built-ins of this thread. `texts` must not change meanwhile. None stands for a text that needs
        care; `look`: whether texts that may hold a special token need care (1) or not (0).
        """
        done = 0
        while done < len(texts):
            n_texts = main.batch_fetch(self.address, texts, done, 2 + 2 * self._n_helpers, look)
            self._ask_for_help()
            yield done, n_texts
            main.batch_close(self.address)
            done += n_texts

    def give_workers_back(self) -> None:
        """Give the helpers' workers back to the pool, once the job is closed.

        Where an interrupt comes before, each is given back when its helper is taken again.
        """
        for helper in self._helpers:
            helper.leave()

    def texts_that_need_care(self) -> list[int]:
        """Which texts of the wave that has been encoded the kernels did not encode, counted from its first."""
        n_texts = int(self._memory[JOB_N_ITEMS >> 3])
        counts = self._memory[(JOB_ITEMS_AT + ITEM_COUNT) >> 3 :: ITEM_BYTES >> 3][:n_texts]
        found: list[int] = np.flatnonzero(counts < 0).tolist()
        return found

    def _ask_for_help(self) -> None:
        n_wanted = min(self._n_helpers, int(self._memory[JOB_N_TASKS >> 3]) - 1)
        if n_wanted <= 0:
            return
        if n_wanted > len(self._helpers):
            # The helpers of a job are one chain, which grows at its beginning.
            for helper in _crew.take(n_wanted - len(self._helpers), self._n_helpers, self._memory):
                helper.join(self._helpers[-1] if self._helpers else None)
                self._helpers.append(helper)
            self._memory[JOB_HELPERS >> 3] = self._helpers[-1].address if self._helpers else 0
        here = this_processor()
        for helper in self._helpers[:n_wanted]:
            helper.ask(self.address, self._pool, here)


class Helper:
    """A thread that takes part in jobs: one at a time, with a worker of the pool of whoever asked."""

    def __init__(self) -> None:
        self._native = Native.load()
        self._slots = np.zeros(HELPER_BYTES >> 3, np.int64)
        self.address = address(self._slots)
        if is_checked():
            declare(self._slots)
        self._slots[HELPER_LOCK >> 3] = _new_lock()
        self._pool: Pool | None = None
        self._loan: Loan | None = None
        self._kept_off: int | None = None
        self._job: np.ndarray | None = None
        self.is_started = False
        self._runs = threading.Event()
        self.native_id: int | None = None
        """What the system calls its thread."""

    def take(self, job: np.ndarray) -> bool:
        """Return whether this helper is that job's from now on: if the last one it was taken for is closed.

        One caller at a time.
        """
        if self._job is not None and not self._job[JOB_CLOSED >> 3]:
            return False
        self.leave()
        self._job = job
        return True

    def start(self) -> None:
        """Start its thread; raises RuntimeError where the system has no more. One started twice does no harm."""
        if not self.is_started:
            _thread.start_new_thread(self._serve, ())
            self.is_started = True
            self._runs.wait()

    def join(self, next_helper: Helper | None) -> None:
        """Becomes the first of a job's helpers; the next one is that which was first."""
        self._slots[HELPER_NEXT >> 3] = 0 if next_helper is None else next_helper.address

    def ask(self, job: int, pool: Pool, processor: int | None) -> None:
        """Has this helper, which rests, take part in a job; `processor` is that of the calling thread, if known.

        Where no worker is free it makes one first, which may take longer than the job.
        """
        if processor is not None and processor != self._kept_off and self.native_id is not None:
            keep_off(self.native_id, processor)
            self._kept_off = processor
        self._pool = pool
        if self._loan is None:
            self._loan = pool.take_free()
        self._native.ask_helper(self.address, job, 0 if self._loan is None else self._loan.worker.context.address)

    def leave(self) -> None:
        """Give its worker back; nobody needs the ids any more that lie there."""
        self._loan = None
        self._job = None

    def _serve(self) -> None:
        self.native_id = threading.get_native_id()
        self._runs.set()
        while True:
            call = self._native.help_out(self.address)
            try:
                self._prepare(call)
            except MemoryError:
                # Without this helper the others do the work.
                self._native.change_state(self.address, call, RESTING)

    def _prepare(self, call: int) -> None:
        """Makes a worker, and takes part in the job it was called for, if that is not over."""
        # The pool of a later call, if that has withdrawn this one.
        pool = self._pool
        assert pool is not None, "it was called before it was asked"
        loan = pool.take()
        if not self._native.change_state(self.address, call, PREPARING):
            return
        self._loan = loan
        self._slots[HELPER_CONTEXT >> 3] = loan.worker.context.address
        self._native.change_state(self.address, PREPARING, ASKED)


def _new_lock() -> int:
    """The address of a lock of the interpreter's that is held, and never freed."""
    allocate, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    allocate.restype, acquire.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]
    lock: int | None = allocate()
    if lock is None:
        raise MemoryError
    acquire(lock, 0)
    return lock


class _Crew:
    """As many helpers as one batch ever asked for. Daemons: the end of the program does not wait for them.

    A helper stays in the list while it works, so that no interrupt can lose one.
    """

    def __init__(self) -> None:
        self._helpers: list[Helper] = []
        self._taking = threading.Lock()

    @property
    def n_helpers(self) -> int:
        """How many have a thread."""
        return sum(helper.is_started for helper in self._helpers)

    def take(self, n_helpers: int, most: int, job: np.ndarray) -> list[Helper]:
        """As many helpers as are free or may be added, so that there are `most` in all, up to `n_helpers`."""
        found: list[Helper] = []
        with self._taking:
            try:
                while len(found) < n_helpers:
                    helper = next((one for one in self._helpers if one.take(job)), None)
                    if helper is None:
                        if len(self._helpers) >= most:
                            break
                        self._helpers.append(Helper())
                        continue
                    helper.start()
                    found.append(helper)
            except (RuntimeError, MemoryError):
                # The system has no more threads: others do the work.
                pass
        return found


_crew = _Crew()


def _new_crew() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    # Threads do not survive in a forked child.
    os.register_at_fork(after_in_child=_new_crew)
