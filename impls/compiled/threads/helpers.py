"""Threads that wait for jobs without the interpreter lock, and take part in them without it.

A helper has a mailbox: its state, a lock it sleeps on, and what it is asked for. It is woken by one call, begins by
changing its state from ASKED to AT_WORK, and rests when no task is left. Whoever asked may withdraw until it has begun:
one of the two changes succeeds. So nobody is at work on a job whose helpers are all found at rest.
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
    HELPER_CALLS,
    HELPER_CONTEXT,
    HELPER_JOB,
    HELPER_LOCK,
    HELPER_NEXT,
    HELPER_STATE,
    JOB_HELPERS,
    RESTING,
    STATE_BITS,
)

SPINS = 1 << 16
"""Looks at the others' states, some ten microseconds, before this thread sleeps."""
NAP_MICROSECONDS = 50

# Of the public C API, and good without the interpreter lock.
_acquire = external("PyThread_acquire_lock", 2)
_release = external_void("PyThread_release_lock", 1)
_nap = external("usleep", 1)


@kernel
def change_state(helper: int, before: int, after: int) -> int:
    """1 if the state was `before` and is `after` now, else 0."""
    return atomic_change(helper + HELPER_STATE, before, after)


@kernel
def ask_helper(helper: int, job: int, context: int) -> int:
    """Asks a helper that rests to take part in a job with that context, or with 0, which is to be made, calls it."""
    store_64(helper + HELPER_JOB, job)
    store_64(helper + HELPER_CONTEXT, context)
    state = ASKED
    if context == 0:
        calls = load_i64(helper + HELPER_CALLS) + 1
        store_64(helper + HELPER_CALLS, calls)
        state = (calls << STATE_BITS) | CALLED
    atomic_store(helper + HELPER_STATE, state)
    _release(load_i64(helper + HELPER_LOCK))
    return 0


@inlined
def _is_called(state: int) -> bool:
    return state & ((1 << STATE_BITS) - 1) == CALLED


@kernel
def begin_or_call(helper: int) -> int:
    """Sleeps until a job has begun, then 0, or until the helper is called: then its state."""
    lock = load_i64(helper + HELPER_LOCK)
    while True:
        if atomic_change(helper + HELPER_STATE, ASKED, AT_WORK) != 0:
            return 0
        state = atomic_load(helper + HELPER_STATE)
        if _is_called(state):
            return state
        _acquire(lock, 1)


@kernel
def _all_rest(job: int) -> bool:
    """Withdraws what was asked and has not begun; whether all helpers of a job rest."""
    resting = True
    helper = load_i64(job + JOB_HELPERS)
    while helper != 0:
        state = atomic_load(helper + HELPER_STATE)
        if state == ASKED or _is_called(state):
            resting = atomic_change(helper + HELPER_STATE, state, RESTING) != 0 and resting
        elif state != RESTING:
            resting = False
        helper = load_i64(helper + HELPER_NEXT)
    return resting


@kernel
def wait_for_helpers(job: int) -> None:
    """Returns when nobody is at work on a job any more, nor will be."""
    if _all_rest(job):
        return
    state = save_thread()
    spins = 0
    while not _all_rest(job):
        spins += 1
        if spins > SPINS:
            _nap(NAP_MICROSECONDS)
    restore_thread(state)
