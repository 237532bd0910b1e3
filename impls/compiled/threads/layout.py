"""Where everything lies in the memory of a batch: the job, an item for each text, the mailboxes of the workers."""

from __future__ import annotations

from impls.compiled.typed_memory import Record, i64


class OwnLine(Record):
    """A number that several threads change, on a cache line of its own."""

    number: i64
    unused_1: i64
    unused_2: i64
    unused_3: i64
    unused_4: i64
    unused_5: i64
    unused_6: i64
    unused_7: i64


class JobRecord(Record):
    """The counters of a job; its items follow, then the int32 index of each task's first item."""

    next_task: OwnLine  # the next one to take
    workers: i64  # address of the mailbox of the first worker, or 0
    n_tasks: i64
    n_items: i64
    most_items: i64
    look: i64  # 1: texts that may hold a special token take the careful path
    n_copied: i64  # texts whose ids are copied to the result,
    n_copied_ids: i64  # and those ids
    is_closed: i64  # 1: it is over


class ItemRecord(Record):
    """One text of a job."""

    text: i64  # address of the UTF-8, or 0: it is written when the text is encoded
    n_bytes: i64  # its size, or an upper bound
    str_object: i64
    ids: i64  # address of its ids,
    memory: i64  # memory allocated for it alone, or 0,
    count: i64  # and their number, or PENDING, COLLECTED, or what a kernel returns in place of a count


class WorkerRecord(Record):
    """The mailbox of a worker thread."""

    state: OwnLine
    lock: i64  # address of the lock it sleeps on
    job: i64
    context: i64
    next_worker: i64  # address of the mailbox of the job's next worker, or 0
    n_calls: i64  # times it was called


ITEMS_AT = JobRecord.dtype.itemsize
ITEM_BYTES = ItemRecord.dtype.itemsize

RESTING, ASKED, AT_WORK, CALLED, PREPARING = range(5)
"""States of a worker thread. CALLED: it is to build a context first; PREPARING: it has, and accepts the job."""
STATE_BITS = 3
"""The bits above hold, for CALLED, the number of the call, so that a late worker can tell it from a newer call."""
