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

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from threading import RLock, Thread

from impls.compiled.codegen.native import Slots, native
from impls.compiled.context import Context
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.threads.layout import ITEM_BYTES, JobRecord, WorkerRecord
from impls.compiled.threads.pool import Pool

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


class BatchJob(Slots):
    """The texts of a batch, in waves; worker threads borrow their contexts from `pool`.

    The caller must close the job (`run_claimed`), which frees its workers for other jobs.
    """

    def __init__(self, pool: Pool, n_workers: int, n_texts: int) -> None:
        most_items = min(n_texts, _MOST_ITEMS)
        super().__init__(JobRecord, (ITEM_BYTES + 4) * (most_items + 1))
        self["most_items"] = most_items
        self["items"] = items = self.address + JobRecord.dtype.itemsize
        self["tasks"] = items + ITEM_BYTES * most_items
        self._pool, self._n_workers = pool, n_workers
        self._workers: list[WorkerThread] = []

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
            done += n_texts

    def _ask_workers(self) -> None:
        n_wanted = min(self._n_workers, self["n_tasks"] - 1)
        if n_wanted <= 0:
            return
        while len(self._workers) < n_wanted and (worker := _shared.take(self, self._n_workers)):
            # The workers of a job form a linked list that grows at its head.
            worker.mailbox["next_worker"] = self["workers"]
            self["workers"] = worker.mailbox.address
            self._workers.append(worker)
        here, asked = _processor(), self._workers[:n_wanted]
        for worker in asked:
            worker.ask(self.address, self._pool, here)
        self._pool.build_beside(sum(worker.context is None for worker in asked))

    def return_contexts(self) -> None:
        """Return the workers' contexts to the pool, once the job is closed.

        After an interrupt each is returned when its worker works on another job.
        """
        if self._workers:
            _shared.release(self)


class WorkerThread:
    """A thread that works on one job at a time, with a context borrowed from the job's pool."""

    def __init__(self) -> None:
        """Start the thread; raise RuntimeError if the system has no more threads."""
        self.mailbox = Slots(WorkerRecord)
        self.mailbox["lock"] = _new_lock()
        self.job: Slots | None = None
        self.context: Context | None = None
        self._pool: Pool | None = None
        self._kept_off: int | None = None
        self.thread = Thread(target=_serve, args=(self.mailbox,), daemon=True)
        self.thread.start()

    def ask(self, job: int, pool: Pool, processor: int | None) -> None:
        """Ask this worker, which is idle, to work on a job, if a context is free for it.

        `processor` is that of the calling thread, if known.
        """
        thread = self.thread.native_id
        if processor is not None and processor != self._kept_off and thread is not None:
            keep_off(thread, processor)
            self._kept_off = processor
        self._pool = pool
        self.context = self.context or pool.borrow_free()
        if self.context is not None:
            native.ask_worker(self.mailbox.address, job, self.context.address)

    def release(self) -> None:
        """Leave the worker's job, which is closed, and return its context; the ids in it are no longer needed."""
        self.job, context, self.context = None, self.context, None
        if context is not None and self._pool is not None:
            self._pool.free.append(context)
        self._pool = None


def _serve(mailbox: Slots) -> None:
    """Work for ever; the thread keeps its mailbox alive."""
    native.run_worker(mailbox.address)


def _new_lock() -> int:
    """Return the address of a new lock (PyThread_type_lock), which is never freed."""
    allocate = ctypes.pythonapi.PyThread_allocate_lock
    allocate.restype = ctypes.c_void_p
    lock: int | None = allocate()
    if lock is None:
        raise MemoryError
    return lock


class WorkerThreads:
    """The workers of this process: as many as one batch ever asked for. They are daemons: exit does not wait for them.

    A worker has a job until that is closed, so that no interrupt can lose the worker.
    """

    def __init__(self) -> None:
        self.workers: list[WorkerThread] = []
        self._taking = RLock()  # a finalizer may encode a batch while this thread holds it

    def idle(self) -> list[WorkerThread]:
        """Return the workers whose job, if any, is closed."""
        return [each for each in self.workers if each.job is None or each.job["is_closed"]]

    def take(self, job: Slots, most: int) -> WorkerThread | None:
        """Return an idle worker, or a new one while there are fewer than `most`, for a job; None if there is none."""
        # If there are no more threads or no memory, the existing workers do the work.
        with contextlib.suppress(RuntimeError, MemoryError), self._taking:
            idle = self.idle()
            if not idle and len(self.workers) < most:
                idle = [WorkerThread()]
                self.workers += idle
            if idle:
                idle[0].release()
                idle[0].job = job
                return idle[0]
        return None

    def release(self, job: Slots) -> None:
        """Release the workers of a job that is closed, but for those that have another job by now."""
        with self._taking:
            for worker in self.workers:
                if worker.job is job:
                    worker.release()


_shared = WorkerThreads()


def _new_worker_threads() -> None:
    global _shared
    _shared = WorkerThreads()


if hasattr(os, "register_at_fork"):
    # Threads do not exist in a forked child.
    os.register_at_fork(after_in_child=_new_worker_threads)
