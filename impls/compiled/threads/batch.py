"""Batch encoding: texts are fetched with the interpreter lock held, and encoded by all threads without it.

A wave of texts is a job: one int64 array of counters, an item per text, and the tasks the texts are grouped into.
Threads take tasks by an atomic counter. Ids stay in the context of the thread that made them until the thread that
started the job has collected them: no other thread needs the interpreter lock before the job is done.

Built-ins get their arguments as a C array; the first is always the address of the job.
"""

from __future__ import annotations

from impls.compiled.codegen.allocation import allocate
from impls.compiled.codegen.memory import (
    atomic_add,
    atomic_store,
    declare_region,
    kernel,
    load_i32,
    load_i64,
    peek,
    record_at,
    store_32,
    store_64,
)
from impls.compiled.cpython.interpreter import (
    clear_error,
    list_get,
    list_size,
    long_as_address,
    long_as_long,
    restored_after_long_wait,
    save_thread,
)
from impls.compiled.cpython.pyobjects import long_from_long
from impls.compiled.cpython.strings import TEXT_REGION, most_bytes, own_utf8, utf8_and_size
from impls.compiled.cpython.texts import encode
from impls.compiled.layout import (
    ITEM_BYTES,
    ITEM_COUNT,
    ITEM_IDS,
    ITEM_MEMORY,
    ITEM_SIZE,
    ITEM_STR,
    ITEM_TEXT,
    JOB_COPIED,
    JOB_COPIED_IDS,
    JOB_ITEMS_AT,
    JOB_LOOK,
    JOB_MOST_ITEMS,
    JOB_N_ITEMS,
    JOB_N_TASKS,
    JOB_NEXT,
    MAY_BE_SPECIAL,
    NO_MEMORY,
    NOT_UTF8,
    PAD_BYTES,
    PENDING,
    RESTING,
    WORKER_CONTEXT,
    WORKER_JOB,
    WORKER_STATE,
    ContextRecord,
)
from impls.compiled.pretokenize.special_search import may_hold_special
from impls.compiled.threads.worker_kernels import wait_for_job

BATCH_REGION = 3
TASK_BYTES = 4096
"""Minimum size of a task: short texts are grouped."""


@kernel
def item_at(job: int, i: int) -> int:
    """Return the address of the item of text `i`."""
    return job + JOB_ITEMS_AT + ITEM_BYTES * i


@kernel
def _task_at(job: int, task: int) -> int:
    """Return the address of the index of a task's first text (int32)."""
    return item_at(job, load_i64(job + JOB_MOST_ITEMS)) + 4 * task


@kernel
def first_of_task(job: int, task: int) -> int:
    """Return the index of a task's first text; for a task past the last, the number of texts."""
    if task >= load_i64(job + JOB_N_TASKS):
        return load_i64(job + JOB_N_ITEMS)
    return load_i32(_task_at(job, task))


@kernel
def _fetch(context: ContextRecord, text: int, item: int) -> int:
    """Fill the item of a text; return an upper bound of its size in bytes."""
    store_64(item + ITEM_TEXT, 0)
    store_64(item + ITEM_SIZE, 0)
    store_64(item + ITEM_STR, text)
    store_64(item + ITEM_IDS, 0)
    store_64(item + ITEM_MEMORY, 0)
    store_64(item + ITEM_COUNT, PENDING)
    if text == context.nothing:
        store_64(item + ITEM_COUNT, MAY_BE_SPECIAL)
        return 0
    store_64(item + ITEM_SIZE, most_bytes(context, text))
    if load_i64(item + ITEM_SIZE) == 0:
        address = utf8_and_size(text, item + ITEM_SIZE)
        store_64(item + ITEM_TEXT, address)
        if address == 0:
            clear_error()
            store_64(item + ITEM_COUNT, NOT_UTF8)
            store_64(item + ITEM_SIZE, 0)
    return load_i64(item + ITEM_SIZE)


@kernel
def batch_fetch(context: ContextRecord, arguments: int) -> int:
    """(job, texts, first, least, look) -> int: fill the job with the texts from `first` on; return how many it holds.

    `texts` is a list of str, or None for a text left to the careful path. A wave ends where the buffer of one thread is
    full, but not before `least` texts. `look`: whether texts that may hold a special token are left out too (1, 0).
    """
    job, texts = long_as_address(peek(arguments)), peek(arguments + 8)
    first, least = long_as_long(peek(arguments + 16)), long_as_long(peek(arguments + 24))
    n_texts = min(list_size(texts) - first, load_i64(job + JOB_MOST_ITEMS))
    room = context.out_limit
    n_items, n_tasks, in_task, total = 0, 0, TASK_BYTES, 0
    while n_items < n_texts and (n_items < least or total < room):
        if in_task >= TASK_BYTES:
            store_32(_task_at(job, n_tasks), n_items)
            n_tasks += 1
            in_task = 0
        n_bytes = _fetch(context, list_get(texts, first + n_items), item_at(job, n_items))
        in_task += n_bytes
        total += n_bytes
        n_items += 1
    store_64(job + JOB_N_ITEMS, n_items)
    store_64(job + JOB_N_TASKS, n_tasks)
    store_64(job + JOB_LOOK, long_as_long(peek(arguments + 32)))
    store_64(job + JOB_COPIED, 0)
    store_64(job + JOB_COPIED_IDS, 0)
    atomic_store(job + JOB_NEXT, 0)
    context.batch_used = 0
    return long_from_long(n_items)


@kernel
def _text_of(context: ContextRecord, item: int) -> int:
    """Return the address of the UTF-8 of an item, its size left in SIZE; 0 for a surrogate."""
    text = load_i64(item + ITEM_TEXT)
    if text == 0:
        return own_utf8(context, load_i64(item + ITEM_STR))
    context.size = load_i64(item + ITEM_SIZE)
    return text


@kernel
def _encode_item(context: ContextRecord, item: int, look: int) -> int:
    """Encode one text to this context or to new memory; return the number of ids, negative for the careful path."""
    text = _text_of(context, item)
    if text == 0:
        return NOT_UTF8
    n_bytes = context.size
    declare_region(TEXT_REGION, text, text + n_bytes)
    if look != 0 and may_hold_special(context, text, n_bytes):
        return MAY_BE_SPECIAL
    used = context.batch_used
    out = context.out + 4 * used
    if used + n_bytes > context.out_limit:
        out = allocate(BATCH_REGION, 4 * n_bytes + PAD_BYTES)
        if out == 0:
            return NO_MEMORY
        store_64(item + ITEM_MEMORY, out)
        return _ids_at(context, item, text, n_bytes, out)
    count = _ids_at(context, item, text, n_bytes, out)
    if count > 0:
        context.batch_used = used + count
    return count


@kernel
def _ids_at(context: ContextRecord, item: int, text: int, n_bytes: int, out: int) -> int:
    store_64(item + ITEM_IDS, out)
    return encode(context, text, n_bytes, out, 1)


@kernel
def take_part(context: ContextRecord, job: int, most_bytes_more: int) -> None:
    """Work on tasks until none is left or `most_bytes_more` are done. Needs no interpreter lock."""
    look, done = load_i64(job + JOB_LOOK), 0
    while done < most_bytes_more:
        task = atomic_add(job + JOB_NEXT, 1)
        if task >= load_i64(job + JOB_N_TASKS):
            return
        for i in range(first_of_task(job, task), first_of_task(job, task + 1)):
            item = item_at(job, i)
            if load_i64(item + ITEM_COUNT) == PENDING:
                done += load_i64(item + ITEM_SIZE)
                # The count is written last: it publishes the item to the other threads.
                atomic_store(item + ITEM_COUNT, _encode_item(context, item, look))


@kernel
def work(context: ContextRecord, job: int, most_bytes_more: int) -> bool:
    """As `take_part`, with the interpreter lock released; return whether reacquiring it took long."""
    state = save_thread()
    take_part(context, job, most_bytes_more)
    return restored_after_long_wait(context, state)


context_at = record_at(ContextRecord)


@kernel
def run_worker(worker: int) -> int:
    """Work on every job this worker is asked for until it is called; return its state then. No interpreter lock."""
    while True:
        call = wait_for_job(worker)
        if call != 0:
            return call
        job, context = load_i64(worker + WORKER_JOB), context_at(load_i64(worker + WORKER_CONTEXT))
        context.batch_used = 0
        take_part(context, job, 1 << 62)
        atomic_store(worker + WORKER_STATE, RESTING)
