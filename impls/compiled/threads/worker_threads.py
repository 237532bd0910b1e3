"""Runs worker threads for batches, and the job through which the calling thread shares a batch with them.

Workers sleep between batches without the interpreter lock (`threads/batch`), so that a batch of a millisecond
pays neither for starting a thread nor for waking the interpreter in it. Concurrent batches share the workers; if none
is free, the calling thread encodes the whole batch itself.

Sets the CPU affinity of worker threads.

Linux wakes a thread on the processor where it ran last, and with few processors it may not look for an idle one: a
worker that last ran where its caller runs now then takes turns with it for the whole batch, while the other processor
idles. So a worker is kept off the processor of the thread that asks for it.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import Slots, declare, forget, index_by_field, native
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.pages import address
from impls.compiled.threads.layout import (
    ITEM_BYTES,
    ITEMS_AT,
    JobRecord,
    WorkerRecord,
)
from impls.compiled.threads.pool import Loan, Pool

_processor: Callable[[], int | None] = lambda: None  # noqa: E731
"""Return the number of the processor on which the calling thread runs; None if threads cannot be placed."""
if hasattr(os, "sched_setaffinity"):
    with contextlib.suppress(AttributeError, OSError):
        _processor = ctypes.CDLL(None).sched_getcpu


def keep_off(thread: int, processor: int) -> None:
    """Let a thread, given by its native id, run wherever the calling thread may, except on `processor`.

    Does nothing if that leaves no processor, or the system refuses.
    """
    with contextlib.suppress(OSError):
        others = os.sched_getaffinity(0) - {processor}
        if others:
            os.sched_setaffinity(thread, others)


_MOST_ITEMS = 1024
"""Maximum number of texts in one wave."""
_AT = index_by_field(JobRecord.dtype)
"""The index of every field of a job in the int64 array that holds the job."""


class BatchJob:
    """The texts of a batch, in waves; worker threads borrow their contexts from `pool`.

    The caller must close the job (`run_claimed`), which frees its workers for other jobs.
    """

    def __init__(self, pool: Pool, n_workers: int, n_texts: int) -> None:
        self._pool, self._n_workers = pool, n_workers
        self._workers: list[WorkerThread] = []
        most_items = max(1, min(n_texts, _MOST_ITEMS))
        n_bytes = ITEMS_AT + (ITEM_BYTES + 4) * most_items
        self._memory = np.zeros((n_bytes + 7) >> 3, np.int64)
        self._memory[_AT["most_items"]] = most_items
        self.address = address(self._memory)
        if is_checked():
            weakref.finalize(self, forget, declare(self._memory))

    def waves(self, main: Builtins, texts: Sequence[str | None], check_special: int) -> Iterator[int]:
        """Yield, for every wave, the index of its first text; the caller encodes the wave.

        `main` holds the built-ins of this thread. `texts` must not change meanwhile; in it None marks a text that takes
        the careful path. With `check_special` 1, texts that may hold a special token take that path too.
        """
        done = 0
        while done < len(texts):
            n_texts = main.batch_fetch(self.address, texts, done, 2 + 2 * self._n_workers, check_special)
            self._ask_workers()
            yield done
            main.batch_close(self.address)
            done += n_texts

    def return_contexts(self) -> None:
        """Return the workers' contexts to the pool, once the job is closed.

        After an interrupt each context is returned when its worker is next reserved.
        """
        for worker in self._workers:
            worker.release()

    def _ask_workers(self) -> None:
        n_wanted = min(self._n_workers, int(self._memory[_AT["n_tasks"]]) - 1)
        if n_wanted <= 0:
            return
        if n_wanted > len(self._workers):
            # The workers of a job form a linked list that grows at its head.
            for worker in _shared.reserve(n_wanted - len(self._workers), self._n_workers, self._memory):
                worker.mailbox["next_worker"] = self._workers[-1].address if self._workers else 0
                self._workers.append(worker)
            self._memory[_AT["workers"]] = self._workers[-1].address if self._workers else 0
        here, asked = _processor(), self._workers[:n_wanted]
        self._pool.build_beside(sum(not worker.ask(self.address, self._pool, here) for worker in asked))


class WorkerThread:
    """A thread that works on one job at a time, with a context borrowed from the job's pool."""

    def __init__(self) -> None:
        self.mailbox = Slots(WorkerRecord)
        self.address = self.mailbox.address
        self.mailbox["lock"] = _new_lock()
        self._loan: Loan | None = None
        self._kept_off: int | None = None
        self._job: np.ndarray | None = None
        self.is_started = False
        self._runs = threading.Event()
        self.native_id: int | None = None
        """The system's id of the thread."""

    def reserve(self, job: np.ndarray) -> bool:
        """Reserve this worker for a job; return whether that succeeded, which requires that its last job is closed.

        Must be called by one thread at a time.
        """
        if self._job is not None and not self._job[_AT["is_closed"]]:
            return False
        self.release()
        self._job = job
        return True

    def start(self) -> None:
        """Start the worker's thread if there is none yet; raise RuntimeError if the system has no more threads."""
        if not self.is_started:
            _thread.start_new_thread(self._serve, ())
            self.is_started = True
            self._runs.wait()

    def ask(self, job: int, pool: Pool, processor: int | None) -> bool:
        """Ask this worker, which is idle, to work on a job; return whether a context is free for it.

        `processor` is that of the calling thread, if known.
        """
        if processor is not None and processor != self._kept_off and self.native_id is not None:
            keep_off(self.native_id, processor)
            self._kept_off = processor
        if self._loan is None:
            self._loan = pool.borrow_free()
        if self._loan is None:
            return False
        native.ask_worker(self.address, job, self._loan.context.address)
        return True

    def release(self) -> None:
        """Return the worker's context to the pool; the ids in it are no longer needed."""
        self._loan = None
        self._job = None

    def _serve(self) -> None:
        self.native_id = threading.get_native_id()
        self._runs.set()
        native.run_worker(self.address)


def _new_lock() -> int:
    """Return the address of a new lock (PyThread_type_lock), already acquired; it is never freed."""
    allocate, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    allocate.restype, acquire.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]
    lock: int | None = allocate()
    if lock is None:
        raise MemoryError
    acquire(lock, 0)
    return lock


class _WorkerThreads:
    """The workers of this process: as many as one batch ever asked for. They are daemons: exit does not wait for them.

    A worker stays in the list while it works, so that no interrupt can lose it.
    """

    def __init__(self) -> None:
        self._threads: list[WorkerThread] = []
        self._reserving = threading.Lock()

    def reserve(self, n_workers: int, most: int, job: np.ndarray) -> list[WorkerThread]:
        """Reserve up to `n_workers` workers for a job, adding new ones while there are fewer than `most` in all."""
        reserved: list[WorkerThread] = []
        # If there are no more threads or no memory, the existing workers do the work.
        with self._reserving, contextlib.suppress(RuntimeError, MemoryError):
            for i in range(max(most, len(self._threads))):
                if len(reserved) == n_workers:
                    break
                if i == len(self._threads):
                    self._threads.append(WorkerThread())
                if self._threads[i].reserve(job):
                    self._threads[i].start()
                    reserved.append(self._threads[i])
        return reserved


_shared = _WorkerThreads()


def _new_worker_threads() -> None:
    global _shared
    _shared = _WorkerThreads()


if hasattr(os, "register_at_fork"):
    # Threads do not exist in a forked child.
    os.register_at_fork(after_in_child=_new_worker_threads)
