"""The memory layout of a batch: the job, an item for each text, and the mailboxes of the worker threads."""

from __future__ import annotations

import numpy as np

from impls.compiled.language.typed_memory import I32s, Record, Rows, i64


class OwnLine(Record):
    """A number that several threads change, alone on its cache line."""

    number: i64


OwnLine.dtype = np.dtype({"names": ["number"], "formats": ["i8"], "offsets": [0], "itemsize": 64})


class JobRecord(Record):
    """The counters of a job, its items and tasks."""

    next_task: OwnLine  # index of the next task to take
    workers: i64  # address of the mailbox of the first worker, or 0
    items: Rows[ItemRecord]  # an item for each text of this wave; they follow the record, then the tasks
    tasks: I32s  # int32 by task: the index of its first item; after the last task the number of items
    n_tasks: i64  # number of tasks in this wave
    n_items: i64  # number of texts in this wave
    most_items: i64  # maximum number of texts in a wave
    check_special: i64  # 1 if texts that may hold a special token take the careful path, else 0
    is_closed: i64  # 1 if the job is over


class ItemRecord(Record):
    """One text of a job."""

    text: i64  # address of the text's UTF-8; 0 if it is transcoded only when the text is encoded
    n_bytes: i64  # size of the UTF-8, or an upper bound
    str_object: i64  # address of the str
    ids: i64  # address of the text's ids
    memory: i64  # address of memory allocated only for this text, or 0
    count: i64  # number of ids, or PENDING, COLLECTED, or an error code that a kernel returns instead of a count


ITEM_BYTES = ItemRecord.dtype.itemsize


class WorkerRecord(Record):
    """The mailbox of a worker thread."""

    state: OwnLine  # one of the states below
    lock: i64  # address of the lock on which the worker sleeps
    job: i64  # address of the job it is asked to work on
    context: i64  # address of the context it works with
    next_worker: i64  # address of the mailbox of the job's next worker, or 0


RESTING, ASKED, AT_WORK = range(3)
"""States of a worker thread."""
