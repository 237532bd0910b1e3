"""Many texts in one call: their UTF-8 is fetched with the interpreter lock held, all are encoded without it.

Arguments come as the C array of a built-in: (list of str, first, last, ...), texts first to last - 1.
"""

from __future__ import annotations

from impls.compiled.kernels.border import (
    BATCH_REGION,
    COUNTS_REGION,
    OUT_REGION,
    TEXT_REGION,
    bytearray_from_memory,
    encode,
    increment_reference,
    list_get,
    list_of_ids,
    list_set,
    long_as_address,
    long_as_long,
    nothing,
    restore_thread,
    save_thread,
    utf8_and_size,
)
from impls.compiled.kernels.memory import (
    allocate,
    declare_region,
    kernel,
    load_i64,
    peek,
    release_memory,
    store_64,
)
from impls.compiled.layout import BUSY, PAD_BYTES

ITEM_BYTES = 24
"""Address of a text, its bytes, the number of its ids."""


@kernel
def _fetch(texts: int, first: int, last: int, items: int) -> int:
    """Address and size of every text; returns all their bytes, or -1 with an exception set."""
    total = 0
    for i in range(first, last):
        item = items + ITEM_BYTES * (i - first)
        text = list_get(texts, i)
        if text == 0:
            return -1
        address = utf8_and_size(text, item + 8)
        if address == 0:
            return -1
        store_64(item, address)
        total += load_i64(item + 8)
    return total


@kernel
def _encode_all(context: int, items: int, n_items: int, out: int, keep: int) -> int:
    """Number of ids of all texts, written one behind another; negative where one of them failed."""
    total = 0
    for i in range(n_items):
        item = items + ITEM_BYTES * i
        text, n_bytes = load_i64(item), load_i64(item + 8)
        declare_region(TEXT_REGION, text, text + n_bytes)
        at = out
        if keep != 0:
            at = out + 4 * total
        count = encode(context, text, n_bytes, at, keep)
        if count < 0:
            return count
        store_64(item + 16, count)
        total += count
    return total


@kernel
def _encode_unlocked(context: int, items: int, n_items: int, out: int, keep: int) -> int:
    store_64(context + BUSY, 1)
    state = save_thread()
    total = _encode_all(context, items, n_items, out, keep)
    restore_thread(state)
    store_64(context + BUSY, 0)
    return total


@kernel
def encode_range_to_lists(context: int, arguments: int) -> int:
    """(texts, first, last, results): puts a list of ids at results[first:last]; returns results, or None."""
    texts, first, last = peek(arguments), long_as_long(peek(arguments + 8)), long_as_long(peek(arguments + 16))
    results = peek(arguments + 24)
    if load_i64(context + BUSY) != 0:
        return nothing(context)
    n_items = last - first
    items = allocate(BATCH_REGION, ITEM_BYTES * n_items + 8)
    if items == 0:
        return nothing(context)
    n_bytes = _fetch(texts, first, last, items)
    if n_bytes < 0:
        release_memory(items)
        return 0
    out = allocate(OUT_REGION, 4 * n_bytes + PAD_BYTES)
    answer, failed = 0, False
    if out != 0 and _encode_unlocked(context, items, n_items, out, 1) >= 0:
        at = out
        for i in range(n_items):
            count = load_i64(items + ITEM_BYTES * i + 16)
            boxed = list_of_ids(context, at, count)
            if boxed == 0:
                failed = True
                break
            list_set(results, first + i, boxed)
            answer += 1
            at += 4 * count
    if out != 0:
        release_memory(out)
    release_memory(items)
    if failed:
        return 0
    if answer != n_items:
        return nothing(context)
    increment_reference(results)
    return results


@kernel
def encode_range_to_bytearray(context: int, arguments: int) -> int:
    """(texts, first, last, address of int64 counts): returns a bytearray of all ids (uint32), or None."""
    texts, first, last = peek(arguments), long_as_long(peek(arguments + 8)), long_as_long(peek(arguments + 16))
    counts = long_as_address(peek(arguments + 24))
    if load_i64(context + BUSY) != 0:
        return nothing(context)
    n_items = last - first
    items = allocate(BATCH_REGION, ITEM_BYTES * n_items + 8)
    if items == 0:
        return nothing(context)
    n_bytes = _fetch(texts, first, last, items)
    if n_bytes < 0:
        release_memory(items)
        return 0
    out = allocate(OUT_REGION, 4 * n_bytes + PAD_BYTES)
    answer = 0
    if out != 0:
        total = _encode_unlocked(context, items, n_items, out, 1)
        if total >= 0:
            declare_region(COUNTS_REGION, counts, counts + 8 * n_items)
            for i in range(n_items):
                store_64(counts + 8 * i, load_i64(items + ITEM_BYTES * i + 16))
            answer = bytearray_from_memory(out, 4 * total)
        else:
            answer = nothing(context)
        release_memory(out)
    else:
        answer = nothing(context)
    release_memory(items)
    return answer
