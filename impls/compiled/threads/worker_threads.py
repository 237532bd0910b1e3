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
from collections.abc import Callable, Sequence
from threading import RLock, Thread
from typing import Any

from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import Slots, native
from impls.compiled.context import Context, Pool
from impls.compiled.cpython.interpreter import Builtins
from impls.compiled.threads.layout import ITEM_BYTES, JobRecord, WorkerRecord

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
_CHARACTERS_PER_THREAD = 1 << 14
"""Minimum amount of text per thread: waking a thread takes as long as encoding this many characters."""


class BatchJob(Slots):
    """The texts of a batch, in waves; worker threads borrow their contexts from `pool`.

    The job must be closed (`run_claimed`), which frees its workers for other jobs.
    """

    def __init__(self, pool: Pool, threads: int, texts: Sequence[str]) -> None:
        """Make the job of a batch that at most so many threads encode; raise TypeError for anything but a str."""
        # Not `len`: the kernels read the objects' memory directly.
        n_characters, most_items = sum(map(str.__len__, texts)), min(len(texts), _MOST_ITEMS)
        super().__init__(JobRecord, (ITEM_BYTES + 4) * (most_items + 1))
        self["most_items"] = most_items
        self["items"] = items = self.address + JobRecord.dtype.itemsize
        self["tasks"] = items + ITEM_BYTES * most_items
        # The checked build declares the text that is read for the process, not for a thread.
        threads = 1 if is_checked() else min(threads, len(texts), 1 + n_characters // _CHARACTERS_PER_THREAD)
        self._pool, self._n_workers = pool, threads - 1
        self._workers: list[WorkerThread] = []

    def encoded(self, own: Context, texts: Sequence[str | None], check_special: int, as_arrays: bool) -> list[Any]:
        """Return the ids of each text, or None for one that takes the careful path: a text that is None or, with
        `check_special` 1, may hold a special token. `texts` must not change meanwhile.
        """
        results: list[Any] = [None] * len(texts)

        def encode(builtins: Builtins) -> bool:
            done = 0
            while done < len(texts):
                n_texts = builtins.batch_fetch(self.address, texts, done, 2 + 2 * self._n_workers, check_special)
                self._ask_workers()
                builtins.batch_collect(self.address, results, done, as_arrays)
                done += n_texts
            return True

        self.run_claimed(own, encode)
        # After an interrupt the workers' contexts are returned when they work on another job.
        if self._workers:
            _shared.release(self)
        return results

    def run_claimed(self, own: Context, run: Callable[[Builtins], bool]) -> None:
        """Call `run` with the built-ins of a context, or of a borrowed one if that is in use.

        Whatever `run` raises, the job is closed.
        """
        if own.builtins is None or own.builtins.run_claimed(self.address, run, own.builtins) is None:
            with self._pool.borrowed() as context:
                if context.builtins is not None:
                    context.builtins.run_claimed(self.address, run, context.builtins)

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
        # The thread works for ever, and keeps the record of its mailbox alive.
        self.thread = Thread(target=native.run_worker, args=(self.mailbox.slots,), daemon=True)
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
