"""Lets worker threads wait for jobs, and a job wait for its workers, both without the interpreter lock.

A worker has a mailbox: its state, a lock on which it sleeps, and the job it is asked to work on. One call wakes it; it
begins by changing its state from ASKED to AT_WORK, and is RESTING again when no task is left. The caller may withdraw
its request until the worker has begun: only one of the two state changes succeeds. So no thread is at work on a job
once all its workers have been seen RESTING.
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
)
from impls.compiled.codegen.pointers import field_address, record_at
from impls.compiled.cpython.interpreter import restore_thread, save_thread
from impls.compiled.threads.layout import (
    ASKED,
    AT_WORK,
    CALLED,
    RESTING,
    STATE_BITS,
    JobRecord,
    WorkerRecord,
)

SPINS = 1 << 16
"""Polls of the workers' states, some ten microseconds in all, before the calling thread starts to sleep."""
NAP_MICROSECONDS = 50

# Public C API functions that do not need the interpreter lock.
_acquire = external("PyThread_acquire_lock", 2)
_release = external_void("PyThread_release_lock", 1)
_nap = external("usleep", 1)

_worker_at = record_at(WorkerRecord)


@kernel
def change_state(worker: WorkerRecord, before: int, after: int) -> int:
    """Change a worker's state atomically from `before` to `after`; return 1, or 0 if the state was another."""
    return atomic_change(field_address(worker, "state"), before, after)


@kernel
def ask_worker(worker: WorkerRecord, job: int, context: int) -> int:
    """Ask an idle worker to work on a job with this context; if it is 0, call it to build one first. Return 0."""
    worker.job = job
    worker.context = context
    state = ASKED
    if context == 0:
        worker.n_calls += 1
        state = (worker.n_calls << STATE_BITS) | CALLED
    atomic_store(field_address(worker, "state"), state)
    _release(worker.lock)
    return 0


@inlined
def _is_called(state: int) -> bool:
    return state & ((1 << STATE_BITS) - 1) == CALLED


@kernel
def wait_for_job(worker: WorkerRecord) -> int:
    """Sleep until this worker has begun a job, and return 0, or until it is called, and return its state."""
    lock = worker.lock
    while True:
        if atomic_change(field_address(worker, "state"), ASKED, AT_WORK) != 0:
            return 0
        state = atomic_load(field_address(worker, "state"))
        if _is_called(state):
            return state
        _acquire(lock, 1)


@kernel
def _all_resting(job: JobRecord) -> bool:
    """Withdraw the requests that no worker has begun on; return whether all workers of a job are RESTING."""
    resting = True
    address = job.workers
    while address != 0:
        worker = _worker_at(address)
        state = atomic_load(field_address(worker, "state"))
        if state == ASKED or _is_called(state):
            resting = atomic_change(field_address(worker, "state"), state, RESTING) != 0 and resting
        elif state != RESTING:
            resting = False
        address = worker.next_worker
    return resting


@kernel
def wait_for_workers(job: JobRecord) -> None:
    """Wait until no worker is at work on a job, or can begin on it any more."""
    if _all_resting(job):
        return
    state = save_thread()
    spins = 0
    while not _all_resting(job):
        spins += 1
        if spins > SPINS:
            _nap(NAP_MICROSECONDS)
    restore_thread(state)
