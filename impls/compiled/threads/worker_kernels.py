"""How worker threads wait for jobs, and how a job waits for its workers; both without the interpreter lock.

A worker has a mailbox: its state, a lock it sleeps on, and the job it is asked for. One call wakes it; it begins by
changing its state from ASKED to AT_WORK, and is RESTING again when no task is left. The caller may withdraw its request
until the worker has begun: only one of the two changes succeeds. So no thread is at work on a job once all its workers
have been seen RESTING.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    atomic_change,
    atomic_load,
    atomic_store,
    external,
    external_void,
    inlined,
    kernel,
    load_i64,
    store_64,
)
from impls.compiled.cpython.interpreter import restore_thread, save_thread
from impls.compiled.layout import (
    ASKED,
    AT_WORK,
    CALLED,
    JOB_WORKERS,
    RESTING,
    STATE_BITS,
    WORKER_CALLS,
    WORKER_CONTEXT,
    WORKER_JOB,
    WORKER_LOCK,
    WORKER_NEXT,
    WORKER_STATE,
)

SPINS = 1 << 16
"""Polls of the workers' states, some ten microseconds in all, before the calling thread starts to sleep."""
NAP_MICROSECONDS = 50

# Public C API functions that do not need the interpreter lock.
_acquire = external("PyThread_acquire_lock", 2)
_release = external_void("PyThread_release_lock", 1)
_nap = external("usleep", 1)


@kernel
def change_state(worker: int, before: int, after: int) -> int:
    """Change a worker's state atomically from `before` to `after`; return 1, or 0 where it was another."""
    return atomic_change(worker + WORKER_STATE, before, after)


@kernel
def ask_worker(worker: int, job: int, context: int) -> int:
    """Ask an idle worker to work on a job with that context; with context 0, call it to build one first. Return 0."""
    store_64(worker + WORKER_JOB, job)
    store_64(worker + WORKER_CONTEXT, context)
    state = ASKED
    if context == 0:
        calls = load_i64(worker + WORKER_CALLS) + 1
        store_64(worker + WORKER_CALLS, calls)
        state = (calls << STATE_BITS) | CALLED
    atomic_store(worker + WORKER_STATE, state)
    _release(load_i64(worker + WORKER_LOCK))
    return 0


@inlined
def _is_called(state: int) -> bool:
    return state & ((1 << STATE_BITS) - 1) == CALLED


@kernel
def wait_for_job(worker: int) -> int:
    """Sleep until this worker has begun a job, and return 0, or until it is called, and return its state."""
    lock = load_i64(worker + WORKER_LOCK)
    while True:
        if atomic_change(worker + WORKER_STATE, ASKED, AT_WORK) != 0:
            return 0
        state = atomic_load(worker + WORKER_STATE)
        if _is_called(state):
            return state
        _acquire(lock, 1)


@kernel
def _all_resting(job: int) -> bool:
    """Withdraw requests no worker has begun on; return whether all workers of a job are RESTING."""
    resting = True
    worker = load_i64(job + JOB_WORKERS)
    while worker != 0:
        state = atomic_load(worker + WORKER_STATE)
        if state == ASKED or _is_called(state):
            resting = atomic_change(worker + WORKER_STATE, state, RESTING) != 0 and resting
        elif state != RESTING:
            resting = False
        worker = load_i64(worker + WORKER_NEXT)
    return resting


@kernel
def wait_for_workers(job: int) -> None:
    """Wait until no worker is at work on a job, nor will be."""
    if _all_resting(job):
        return
    state = save_thread()
    spins = 0
    while not _all_resting(job):
        spins += 1
        if spins > SPINS:
            _nap(NAP_MICROSECONDS)
    restore_thread(state)
