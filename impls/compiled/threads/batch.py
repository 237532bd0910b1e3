"""Batch encoding: texts are fetched with the interpreter lock held, and encoded by all threads without it.

A batch is encoded in waves of texts. A wave is the content of a job: a record of counters, an item per text, and the
tasks into which the texts are grouped. Threads take tasks by an atomic counter. Ids stay in the context of the
thread that made them until the thread that started the job has collected them: no other thread needs the interpreter
lock before the job is done.

Built-ins get their arguments as a C array; the first is always the address of the job.

A worker has a mailbox: its state, a lock on which it sleeps, and the job it is asked to work on. One call wakes it; it
begins by changing its state from ASKED to AT_WORK, and is RESTING again when no task is left. The caller may withdraw
its request until the worker has begun: only one of the two state changes succeeds. So no thread is at work on a job
once all its workers have been seen RESTING.

The calling thread works on the job too, and makes objects of all threads' ids: objects need the interpreter lock, so
only this thread makes them; in between, it releases the lock and encodes.
"""

from __future__ import annotations

from impls.compiled.cpython.pyobjects import (
    call_with_one,
    clear_error,
    list_get,
    list_set,
    list_size,
    long_as_address,
    long_as_long,
    long_from_long,
    new_none,
    object_of_ids,
    restore_thread,
    save_thread,
    this_thread,
)
from impls.compiled.cpython.strings import TEXT_REGION, most_bytes, own_utf8, utf8_and_size
from impls.compiled.cpython.texts import encode
from impls.compiled.language.memory import (
    allocate,
    atomic_add,
    atomic_change,
    atomic_load,
    atomic_store,
    declare_region,
    external,
    kernel,
    peek,
    release_memory,
)
from impls.compiled.language.pointers import field_address, record_at, u8s
from impls.compiled.layout import COLLECTED, MAY_BE_SPECIAL, NO_MEMORY, NOT_UTF8, PAD_BYTES, PENDING, ContextRecord
from impls.compiled.pretokenize.special_search import may_hold_special
from impls.compiled.threads.layout import (
    ASKED,
    AT_WORK,
    RESTING,
    ItemRecord,
    JobRecord,
    WorkerRecord,
)

BATCH_REGION = 3
TASK_BYTES = 4096
"""Minimum size of a task, in bytes of text: short texts are grouped."""
SPINS = 1 << 16
"""Polls of the workers' states, some ten microseconds in all, before the calling thread starts to sleep."""
NAP_MICROSECONDS = 50

# Public C API functions that do not need the interpreter lock.
_acquire = external("PyThread_acquire_lock", 2)
_release = external("PyThread_release_lock", 1)
_nap = external("usleep", 1)

_worker_at = record_at(WorkerRecord)
context_at = record_at(ContextRecord)
job_at = record_at(JobRecord)


@kernel
def _fetch(context: ContextRecord, text: int, item: ItemRecord) -> int:
    """Fill the item of a text; return an upper bound of the text's size in bytes."""
    item.text = item.n_bytes = item.ids = item.memory = 0
    item.str_object = text
    item.count = PENDING
    if text == context.none_object:
        item.count = MAY_BE_SPECIAL
        return 0
    item.n_bytes = most_bytes(context, text)
    if item.n_bytes == 0:
        item.text = utf8_and_size(text, field_address(item, "n_bytes"))
        if item.text == 0:
            clear_error()
            item.count = NOT_UTF8
            item.n_bytes = 0
    return item.n_bytes


@kernel
def _end_of(item: ItemRecord) -> None:
    """Release the memory allocated only for an item, and mark the item as collected."""
    memory = item.memory
    if memory != 0:
        item.memory = 0
        release_memory(memory)
    atomic_store(field_address(item, "count"), COLLECTED)


@kernel
def _close(job: JobRecord) -> None:
    """End a wave: wait until no worker is at work on it, and release its memory."""
    atomic_store(field_address(job, "next_task"), job.n_tasks)
    wait_for_workers(job)
    for i in range(job.n_items):
        _end_of(job.items[i])


@kernel
def batch_fetch(context: ContextRecord, arguments: int) -> int:
    """End the job's wave, begin one of texts from `first` on: (job, texts, first, least, check_special) -> how many.

    `texts` is a list of str, with None for a text left to the careful path. A wave ends when the buffer of one thread
    is full, but not before `least` texts. With `check_special` 1, texts that may hold a special token are left out too.
    """
    job, texts = job_at(long_as_address(peek(arguments))), peek(arguments + 8)
    first, least = long_as_long(peek(arguments + 16)), long_as_long(peek(arguments + 24))
    _close(job)
    n_texts = min(list_size(texts) - first, job.most_items)
    room = context.out_limit
    n_items, n_tasks, in_task, total = 0, 0, TASK_BYTES, 0
    while n_items < n_texts and (n_items < least or total < room):
        if in_task >= TASK_BYTES:
            job.tasks[n_tasks] = n_items
            n_tasks += 1
            in_task = 0
        n_bytes = _fetch(context, list_get(texts, first + n_items), job.items[n_items])
        in_task += n_bytes
        total += n_bytes
        n_items += 1
    job.tasks[n_tasks] = n_items
    job.n_items, job.n_tasks = n_items, n_tasks
    job.check_special = long_as_long(peek(arguments + 32))
    atomic_store(field_address(job, "next_task"), 0)
    context.batch_used = 0
    return long_from_long(n_items)


@kernel
def _encode_item(context: ContextRecord, item: ItemRecord, check_special: int) -> int:
    """Encode one text into this context or new memory; return the number of ids, negative for the careful path."""
    text, context.size = item.text, item.n_bytes
    if text == 0:
        text = own_utf8(context, item.str_object)
        if text == 0:
            return NOT_UTF8
    n_bytes = context.size
    declare_region(TEXT_REGION, text, text + n_bytes)
    if check_special != 0 and may_hold_special(context, u8s(text), n_bytes):
        return MAY_BE_SPECIAL
    used = context.batch_used
    item.ids = context.out + 4 * used
    if used + n_bytes > context.out_limit:
        item.ids = item.memory = allocate(BATCH_REGION, 4 * n_bytes + PAD_BYTES)
        if item.memory == 0:
            return NO_MEMORY
    count = encode(context, text, n_bytes, item.ids)
    if count > 0 and item.memory == 0:
        context.batch_used = used + count
    return count


@kernel
def take_part(context: ContextRecord, job: JobRecord, most_bytes_more: int) -> None:
    """Work on tasks until none is left or `most_bytes_more` bytes are done. Needs no interpreter lock."""
    check_special, done = job.check_special, 0
    while done < most_bytes_more:
        task = atomic_add(field_address(job, "next_task"), 1)
        if task >= job.n_tasks:
            return
        for i in range(job.tasks[task], job.tasks[task + 1]):
            item = job.items[i]
            if item.count == PENDING:
                done += item.n_bytes
                # The count is written last: it publishes the item to the other threads.
                atomic_store(field_address(item, "count"), _encode_item(context, item, check_special))


@kernel
def ask_worker(worker: WorkerRecord, job: int, context: int) -> int:
    """Ask an idle worker to work on a job with this context; return 0."""
    worker.job = job
    worker.context = context
    atomic_store(field_address(worker, "state"), ASKED)
    _release(worker.lock)
    return 0


@kernel
def _all_resting(job: JobRecord) -> bool:
    """Withdraw the requests that no worker has begun on; return whether all workers of a job are RESTING."""
    resting = True
    address = job.workers
    while address != 0:
        worker = _worker_at(address)
        state = atomic_load(field_address(worker, "state"))
        if state == ASKED:
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


@kernel
def run_worker(worker: WorkerRecord) -> int:
    """Work on every job this worker is asked for, for ever. Needs no interpreter lock."""
    while worker.lock != 0:
        if atomic_change(field_address(worker, "state"), ASKED, AT_WORK) == 0:
            _acquire(worker.lock, 1)
            continue
        job, context = job_at(worker.job), context_at(worker.context)
        context.batch_used = 0
        take_part(context, job, 1 << 62)
        atomic_store(field_address(worker, "state"), RESTING)
    return 0


STRETCH_BYTES = 1 << 15
"""Amount of text that the calling thread encodes before it makes objects again."""


@kernel
def _collect(context: ContextRecord, job: JobRecord, results: int, first: int, low: int, as_arrays: int) -> int:
    """Make objects of the encoded texts; return the index of the first pending one, or -1 with an exception set."""
    high = job.tasks[min(atomic_load(field_address(job, "next_task")), job.n_tasks)]
    all_ready = True
    for i in range(low, high):
        item = job.items[i]
        count = atomic_load(field_address(item, "count"))
        if count >= 0:
            ids = object_of_ids(context, item.ids, count, as_arrays)
            if ids == 0:
                return -1
            list_set(results, first + i, ids)
            _end_of(item)
        elif count == PENDING:
            all_ready = False
        if all_ready:
            low = i + 1
    return low


@kernel
def batch_collect(context: ContextRecord, arguments: int) -> int:
    """Set results[first:], but for texts left to the careful path: (job, results, first, as_arrays) -> None."""
    job, results = job_at(long_as_address(peek(arguments))), peek(arguments + 8)
    first, as_arrays, low = long_as_long(peek(arguments + 16)), long_as_long(peek(arguments + 24)), 0
    while atomic_load(field_address(job, "next_task")) < job.n_tasks:
        state = save_thread()
        take_part(context, job, STRETCH_BYTES)
        restore_thread(state)
        low = _collect(context, job, results, first, low, as_arrays)
        if low < 0:
            return 0
    wait_for_workers(job)
    if _collect(context, job, results, first, low, as_arrays) < 0:
        return 0
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
