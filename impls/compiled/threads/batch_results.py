"""What the thread that began a job does: it takes part, and makes objects of what any thread has encoded.

Objects need the interpreter lock, so one thread alone makes them, and encodes as long as none are to be made. The lock
is released between.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    atomic_load,
    atomic_store,
    copy_memory,
    declare_region,
    kernel,
    load_i64,
    peek,
    release_memory,
    store_64,
)
from impls.compiled.cpython.boxes import array_of_ids, list_of_ids, list_set, long_from_long
from impls.compiled.cpython.interpreter import (
    call_with_one,
    long_as_address,
    long_as_long,
    nothing,
    restore_thread,
    save_thread,
    this_thread,
)
from impls.compiled.layout import (
    BUSY,
    COLLECTED,
    ITEM_COUNT,
    ITEM_IDS,
    ITEM_MEMORY,
    JOB_CLOSED,
    JOB_COPIED,
    JOB_COPIED_IDS,
    JOB_N_ITEMS,
    JOB_N_TASKS,
    JOB_NEXT,
    PENDING,
)
from impls.compiled.threads.batch import first_of_task, item_at, take_part, work
from impls.compiled.threads.helpers import wait_for_helpers

OFFSETS_REGION = 4
STRETCH_BYTES = 1 << 15
"""Text that is encoded before objects are made again."""
LONGER_STRETCH = 3
"""Doublings of that where it took long to have the interpreter lock back."""


@kernel
def _end_of(item: int) -> None:
    """Gives back the memory an item had to itself, and marks it as collected."""
    memory = load_i64(item + ITEM_MEMORY)
    if memory != 0:
        store_64(item + ITEM_MEMORY, 0)
        release_memory(memory)
    atomic_store(item + ITEM_COUNT, COLLECTED)


@kernel
def _collect(context: int, job: int, results: int, first: int, low: int, as_arrays: int) -> int:
    """Makes objects of what is encoded; returns the first text that was not, or -1 with an exception set."""
    high = first_of_task(job, atomic_load(job + JOB_NEXT))
    whole = True
    for i in range(low, high):
        item = item_at(job, i)
        count = atomic_load(item + ITEM_COUNT)
        if count >= 0:
            if as_arrays != 0:
                made = array_of_ids(context, load_i64(item + ITEM_IDS), count)
            else:
                made = list_of_ids(context, load_i64(item + ITEM_IDS), count)
            if made == 0:
                return -1
            list_set(results, first + i, made)
            _end_of(item)
        elif count == PENDING:
            whole = False
        if whole:
            low = i + 1
    return low


@kernel
def batch_collect(context: int, arguments: int) -> int:
    """(job, results, first, as_arrays) -> int: puts objects at results[first:]; how many texts need care."""
    job, results = long_as_address(peek(arguments)), peek(arguments + 8)
    first, as_arrays = long_as_long(peek(arguments + 16)), long_as_long(peek(arguments + 24))
    low, stretch = 0, STRETCH_BYTES
    while atomic_load(job + JOB_NEXT) < load_i64(job + JOB_N_TASKS):
        if work(context, job, stretch):
            stretch <<= LONGER_STRETCH
        low = _collect(context, job, results, first, low, as_arrays)
        if low < 0:
            return 0
    wait_for_helpers(job)
    if _collect(context, job, results, first, low, as_arrays) < 0:
        return 0
    return long_from_long(_left(job))


@kernel
def _left(job: int) -> int:
    """How many texts were not collected."""
    left = 0
    for i in range(load_i64(job + JOB_N_ITEMS)):
        left += load_i64(item_at(job, i) + ITEM_COUNT) != COLLECTED
    return left


@kernel
def _copy_what_is_ready(job: int, out: int, room: int) -> None:
    """Copies ids of the texts behind those that are copied already, as long as they are there and there is room."""
    copied, n_ids = load_i64(job + JOB_COPIED), load_i64(job + JOB_COPIED_IDS)
    while copied < load_i64(job + JOB_N_ITEMS):
        item = item_at(job, copied)
        count = atomic_load(item + ITEM_COUNT)
        if count == PENDING or n_ids + count > room:
            break
        if count > 0:
            copy_memory(out + 4 * n_ids, load_i64(item + ITEM_IDS), 4 * count)
            n_ids += count
        copied += 1
    store_64(job + JOB_COPIED, copied)
    store_64(job + JOB_COPIED_IDS, n_ids)


@kernel
def _offsets(job: int, offsets: int) -> int:
    """Fills in where the ids of each text end, behind where the first begin; see `batch_encode`."""
    n_items = load_i64(job + JOB_N_ITEMS)
    declare_region(OFFSETS_REGION, offsets, offsets + 8 * n_items + 8)
    start = load_i64(offsets)
    end, care = start, 0
    for i in range(n_items):
        count = load_i64(item_at(job, i) + ITEM_COUNT)
        care |= count
        end += max(count, 0)
        store_64(offsets + 8 * i + 8, end)
    return end - start if care >= 0 else ~(end - start)


@kernel
def batch_encode(context: int, arguments: int) -> int:
    """(job, address of int64 offsets, address of uint32 ids, room for them) -> int: how many ids all texts have.

    It is ~that where some of the texts need care. Ids are copied as far as there is room. Behind the first offset,
    which is there, come those where the ids of each text end; a text that needs care has none.
    """
    job, offsets = long_as_address(peek(arguments)), long_as_address(peek(arguments + 8))
    out, room = long_as_address(peek(arguments + 16)), long_as_long(peek(arguments + 24))
    state = save_thread()
    while atomic_load(job + JOB_NEXT) < load_i64(job + JOB_N_TASKS):
        take_part(context, job, STRETCH_BYTES)
        _copy_what_is_ready(job, out, room)
    restore_thread(state)
    wait_for_helpers(job)
    _copy_what_is_ready(job, out, room)
    return long_from_long(_offsets(job, offsets))


@kernel
def batch_copy(context: int, arguments: int) -> int:
    """(job, address of uint32 ids, room) -> None: copies what there was no room for; what was copied is there."""
    job, out = long_as_address(peek(arguments)), long_as_address(peek(arguments + 8))
    room = long_as_long(peek(arguments + 16))
    state = save_thread()
    _copy_what_is_ready(job, out, room)
    restore_thread(state)
    return nothing(context)


@kernel
def _close(job: int) -> None:
    atomic_store(job + JOB_NEXT, load_i64(job + JOB_N_TASKS))
    wait_for_helpers(job)
    for i in range(load_i64(job + JOB_N_ITEMS)):
        _end_of(item_at(job, i))


@kernel
def batch_close(context: int, arguments: int) -> int:
    """(job) -> None: ends a wave; nobody is at work on it any more, and its memory is given back."""
    _close(long_as_address(peek(arguments)))
    return nothing(context)


@kernel
def run_claimed(context: int, arguments: int) -> int:
    """(job, function, argument) -> function(argument), the context being claimed and the job closed afterwards.

    None where the context is another call's. No interrupt comes between: whatever the function raises, and wherever,
    the claim ends and nobody is at work on the job.
    """
    if load_i64(context + BUSY) != 0:
        return nothing(context)
    store_64(context + BUSY, this_thread())
    result = call_with_one(peek(arguments + 8), peek(arguments + 16))
    job = long_as_address(peek(arguments))
    _close(job)
    atomic_store(job + JOB_CLOSED, 1)
    store_64(context + BUSY, 0)
    return result
