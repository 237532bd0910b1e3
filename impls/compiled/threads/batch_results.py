"""Collects the results of a batch: the calling thread works on the job too, and makes objects of all threads' ids.

Objects need the interpreter lock, so only this thread makes them; in between, it releases the lock and encodes.
"""

from __future__ import annotations

from impls.compiled.codegen.memory import (
    atomic_load,
    atomic_store,
    copy_memory,
    declare_region,
    kernel,
    peek,
    release_memory,
)
from impls.compiled.codegen.pointers import address_of, field_address, i64s
from impls.compiled.cpython.pyobjects import (
    call_with_one,
    list_of_ids,
    list_set,
    long_as_address,
    long_as_long,
    long_from_long,
    new_none,
    restore_thread,
    save_thread,
    this_thread,
)
from impls.compiled.layout import COLLECTED, PENDING, ContextRecord
from impls.compiled.threads.batch import first_of_task, item_of, job_at, take_part, wait_for_workers, work
from impls.compiled.threads.layout import ItemRecord, JobRecord
from impls.compiled.typed_memory import I64s

OFFSETS_REGION = 4
STRETCH_BYTES = 1 << 15
"""Amount of text that the calling thread encodes before it makes objects again."""
LONGER_STRETCH = 3
"""Number of doublings of that amount if reacquiring the interpreter lock took long."""


@kernel
def _end_of(item: ItemRecord) -> None:
    """Release the memory allocated only for an item, and mark the item as collected."""
    memory = item.memory
    if memory != 0:
        item.memory = 0
        release_memory(memory)
    atomic_store(field_address(item, "count"), COLLECTED)


@kernel
def _collect(context: ContextRecord, job: JobRecord, results: int, first: int, low: int) -> int:
    """Make objects of the encoded texts; return the index of the first pending one, or -1 with an exception set."""
    high = first_of_task(job, atomic_load(field_address(job, "next_task")))
    whole = True
    for i in range(low, high):
        item = item_of(job, i)
        count = atomic_load(field_address(item, "count"))
        if count >= 0:
            made = list_of_ids(context, item.ids, count)
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
def batch_collect(context: ContextRecord, arguments: int) -> int:
    """Set results[first:], but for texts left to the careful path: (job, results, first) -> None."""
    job, results = job_at(long_as_address(peek(arguments))), peek(arguments + 8)
    first, low, stretch = long_as_long(peek(arguments + 16)), 0, STRETCH_BYTES
    while atomic_load(field_address(job, "next_task")) < job.n_tasks:
        if work(context, job, stretch):
            stretch <<= LONGER_STRETCH
        low = _collect(context, job, results, first, low)
        if low < 0:
            return 0
    wait_for_workers(job)
    if _collect(context, job, results, first, low) < 0:
        return 0
    return new_none(context)


@kernel
def _copy_what_is_ready(job: JobRecord, out: int, copied: int, n_ids: int) -> tuple[int, int]:
    """Copy the ids of the texts from index `copied` on, after `n_ids` others, up to the first text that is pending.

    Returns the index of that text, and the number of ids.
    """
    while copied < job.n_items:
        item = item_of(job, copied)
        count = atomic_load(field_address(item, "count"))
        if count == PENDING:
            break
        if count > 0:
            copy_memory(out + 4 * n_ids, item.ids, 4 * count)
            n_ids += count
        copied += 1
    return copied, n_ids


@kernel
def _offsets(job: JobRecord, offsets: I64s) -> int:
    """Write where the ids of each text end, after the given start of the first; see `batch_encode`."""
    n_items = job.n_items
    declare_region(OFFSETS_REGION, address_of(offsets), address_of(offsets) + 8 * n_items + 8)
    start = offsets[0]
    end, care = start, 0
    for i in range(n_items):
        count = item_of(job, i).count
        care |= count
        end += max(count, 0)
        offsets[i + 1] = end
    return end - start if care >= 0 else ~(end - start)


@kernel
def batch_encode(context: ContextRecord, arguments: int) -> int:
    """Encode a job: (job, address of int64 offsets, address of uint32 ids) -> int, the number of ids.

    The result is the number's complement (~) if some texts are left to the careful path. There is room for an id per
    byte. The first offset is given; each text's end is written after it. A text left to the careful path has no ids.
    """
    job, offsets = job_at(long_as_address(peek(arguments))), i64s(long_as_address(peek(arguments + 8)))
    out, copied, n_ids = long_as_address(peek(arguments + 16)), 0, 0
    state = save_thread()
    while atomic_load(field_address(job, "next_task")) < job.n_tasks:
        take_part(context, job, STRETCH_BYTES)
        copied, n_ids = _copy_what_is_ready(job, out, copied, n_ids)
    restore_thread(state)
    wait_for_workers(job)
    _copy_what_is_ready(job, out, copied, n_ids)
    return long_from_long(_offsets(job, offsets))


@kernel
def _close(job: JobRecord) -> None:
    atomic_store(field_address(job, "next_task"), job.n_tasks)
    wait_for_workers(job)
    for i in range(job.n_items):
        _end_of(item_of(job, i))


@kernel
def batch_close(context: ContextRecord, arguments: int) -> int:
    """End a wave: wait until no worker is at work on it, and release its memory: (job) -> None."""
    _close(job_at(long_as_address(peek(arguments))))
    return new_none(context)


@kernel
def run_claimed(context: ContextRecord, arguments: int) -> int:
    """Claim the context, call the function, then close the job: (job, function, argument) -> function(argument).

    Returns None if another call uses the context. No interrupt can prevent the closing: whatever the function raises,
    and wherever, the claim ends and no worker is at work on the job.
    """
    if context.busy != 0:
        return new_none(context)
    context.busy = this_thread()
    result = call_with_one(peek(arguments + 8), peek(arguments + 16))
    job = job_at(long_as_address(peek(arguments)))
    _close(job)
    atomic_store(field_address(job, "is_closed"), 1)
    context.busy = 0
    return result
