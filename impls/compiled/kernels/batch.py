"""Many texts in one call: their UTF-8 is fetched with the interpreter lock held, all are encoded without it.

Arguments come as the C array of a built-in: (list of str, first, last, where to, look): texts first to last - 1, and
whether to stop at one that may hold a special token (1) or not (0).
"""

from __future__ import annotations

from impls.compiled.kernels.border import (
    encode,
    give_back,
    list_get,
    long_as_address,
    long_as_long,
    nothing,
    restore_thread,
    room_for,
    save_thread,
)
from impls.compiled.kernels.boxes import list_of_ids, list_set
from impls.compiled.kernels.memory import (
    allocate,
    declare_region,
    external,
    increment,
    kernel,
    load_i64,
    peek,
    release_memory,
    store_64,
)
from impls.compiled.kernels.needle import may_hold_special
from impls.compiled.kernels.strings import TEXT_REGION, most_bytes, own_utf8, utf8_and_size
from impls.compiled.layout import BUSY, MAY_BE_SPECIAL, NOT_UTF8, SIZE

BATCH_REGION, COUNTS_REGION = 3, 4
bytearray_from_memory = external("PyByteArray_FromStringAndSize", 2)
ITEM_BYTES = 24
"""Address of a text (0: it is still a str), its bytes at most, its str or the number of its ids."""
FAILED, LEFT = 0, -1


@kernel
def _fetch(context: int, texts: int, first: int, last: int, items: int) -> int:
    """What is needed of every text; returns all their bytes at most, or -1 with an exception set."""
    total = 0
    for i in range(first, last):
        item = items + ITEM_BYTES * (i - first)
        text = list_get(texts, i)
        if text == 0:
            return -1
        store_64(item, 0)
        store_64(item + 8, most_bytes(context, text))
        store_64(item + 16, text)
        if load_i64(item + 8) == 0:
            address = utf8_and_size(text, item + 8)
            if address == 0:
                return -1
            store_64(item, address)
        total += load_i64(item + 8)
    return total


@kernel
def _encode_all(context: int, items: int, n_items: int, out: int, look: int) -> int:
    """Number of ids of all texts, written one behind another; negative where one of them failed."""
    total = 0
    for i in range(n_items):
        item = items + ITEM_BYTES * i
        text, n_bytes = load_i64(item), load_i64(item + 8)
        if text == 0:
            text = own_utf8(context, load_i64(item + 16))
            if text == 0:
                return NOT_UTF8
            n_bytes = load_i64(context + SIZE)
        declare_region(TEXT_REGION, text, text + n_bytes)
        if look != 0 and may_hold_special(context, text, n_bytes):
            return MAY_BE_SPECIAL
        count = encode(context, text, n_bytes, out + 4 * total, 1)
        if count < 0:
            return count
        store_64(item + 16, count)
        total += count
    return total


@kernel
def _encode_unlocked(context: int, items: int, n_items: int, out: int, look: int) -> int:
    store_64(context + BUSY, 1)
    state = save_thread()
    total = _encode_all(context, items, n_items, out, look)
    restore_thread(state)
    store_64(context + BUSY, 0)
    return total


@kernel
def _encode_range(context: int, arguments: int) -> int:
    """Encodes the texts the arguments name: the address of their items, behind which stand the ids' place and number.

    FAILED with an exception set, or LEFT where the plain path has to take over.
    """
    texts, first, last = peek(arguments), long_as_long(peek(arguments + 8)), long_as_long(peek(arguments + 16))
    look = long_as_long(peek(arguments + 32))
    if load_i64(context + BUSY) != 0:
        return LEFT
    n_items = last - first
    items = allocate(BATCH_REGION, ITEM_BYTES * n_items + 16)
    if items == 0:
        return LEFT
    n_bytes = _fetch(context, texts, first, last, items)
    if n_bytes < 0:
        release_memory(items)
        return FAILED
    out = room_for(context, n_bytes)
    if out == 0:
        release_memory(items)
        return LEFT
    total = _encode_unlocked(context, items, n_items, out, look)
    if total < 0:
        give_back(context, out)
        release_memory(items)
        return LEFT
    store_64(items + ITEM_BYTES * n_items, out)
    store_64(items + ITEM_BYTES * n_items + 8, total)
    return items


@kernel
def encode_range_to_lists(context: int, arguments: int) -> int:
    """(texts, first, last, results, look): puts a list of ids at results[first:last]; returns results, or None."""
    items = _encode_range(context, arguments)
    if items == LEFT:
        return nothing(context)
    if items == FAILED:
        return 0
    first, last, results = long_as_long(peek(arguments + 8)), long_as_long(peek(arguments + 16)), peek(arguments + 24)
    out = load_i64(items + ITEM_BYTES * (last - first))
    at, done = out, 0
    while done < last - first:
        count = load_i64(items + ITEM_BYTES * done + 16)
        boxed = list_of_ids(context, at, count)
        if boxed == 0:
            break
        list_set(results, first + done, boxed)
        done += 1
        at += 4 * count
    give_back(context, out)
    release_memory(items)
    if done < last - first:
        return 0
    increment(results)
    return results


@kernel
def encode_range_to_bytearray(context: int, arguments: int) -> int:
    """(texts, first, last, address of int64 counts, look): returns a bytearray of all ids (uint32), or None."""
    items = _encode_range(context, arguments)
    if items == LEFT:
        return nothing(context)
    if items == FAILED:
        return 0
    n_items = long_as_long(peek(arguments + 16)) - long_as_long(peek(arguments + 8))
    counts = long_as_address(peek(arguments + 24))
    declare_region(COUNTS_REGION, counts, counts + 8 * n_items)
    for i in range(n_items):
        store_64(counts + 8 * i, load_i64(items + ITEM_BYTES * i + 16))
    out, total = load_i64(items + ITEM_BYTES * n_items), load_i64(items + ITEM_BYTES * n_items + 8)
    answer = bytearray_from_memory(out, 4 * total)
    give_back(context, out)
    release_memory(items)
    return answer
