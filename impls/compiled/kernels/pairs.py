"""Which symbol two neighbours merge into: a perfect hash of pairs, built and looked up.

Hash and displace (Belazzougui, Botelho, Dietzfelbinger 2009, "Hash, displace, and compress"): a 16-bit displacement
per bucket, one 8-byte entry per slot that holds the whole key, so a lookup is exact and takes two loads.
"""

from __future__ import annotations

from impls.compiled.kernels.hashing import K1, K2
from impls.compiled.kernels.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u16,
    shift_left,
    shift_right,
    store_16,
    store_32,
    store_64,
    wrapping_multiply,
)
from impls.compiled.layout import NONE, SYMBOL_BITS

MOST_DISPLACEMENT = 65536


@inlined
def merged(pairs: int, pair_shift: int, displacements: int, bucket_shift: int, left: int, right: int) -> int:
    """The symbol `left` and `right` merge into, or NONE; it is also the rank of the merge."""
    key = (left << SYMBOL_BITS) | right
    displacement = load_u16(displacements + 2 * shift_right(wrapping_multiply(key, K1), bucket_shift))
    slot = shift_right(wrapping_multiply(wrapping_multiply(key, K1) ^ displacement, K2), pair_shift)
    entry = load_i64(pairs + 8 * slot)
    return choose(shift_right(entry, SYMBOL_BITS) == key, entry & NONE, NONE)


@kernel
def _place_bucket(
    keys: int, order: int, first: int, last: int, pairs: int, pair_shift: int, displacements: int, bucket: int
) -> int:
    """Finds a displacement for the keys order[first:last]; -1 where there is none."""
    for displacement in range(MOST_DISPLACEMENT):
        placed = 0
        free = True
        for at in range(first, last):
            entry = load_i64(keys + 8 * load_i32(order + 4 * at))
            h = wrapping_multiply(shift_right(entry, SYMBOL_BITS), K1) ^ displacement
            slot = pairs + 8 * shift_right(wrapping_multiply(h, K2), pair_shift)
            if load_i64(slot) != -1:
                free = False
                break
            store_64(slot, entry)
            placed += 1
        if free:
            store_16(displacements + 2 * bucket, displacement)
            return displacement
        for at in range(first, first + placed):
            entry = load_i64(keys + 8 * load_i32(order + 4 * at))
            h = wrapping_multiply(shift_right(entry, SYMBOL_BITS), K1) ^ displacement
            store_64(pairs + 8 * shift_right(wrapping_multiply(h, K2), pair_shift), -1)
    return -1


@kernel
def build_pairs(
    keys: int, n_keys: int, pairs: int, pair_shift: int, displacements: int, bucket_shift: int, scratch: int
) -> int:
    """Fills the perfect hash from entries `(left << 21 | right) << 21 | symbol` with distinct pairs.

    `pairs` must hold -1 in every slot; `scratch` has room for n_keys + n_buckets + 2 int32, zeroed. Returns 0, or -1
    where some bucket cannot be placed (the caller takes more slots).
    """
    n_buckets = shift_left(1, 64 - bucket_shift)
    starts = scratch
    order = scratch + 4 * (n_buckets + 2)
    for i in range(n_keys):
        key = shift_right(load_i64(keys + 8 * i), SYMBOL_BITS)
        at = starts + 4 * (shift_right(wrapping_multiply(key, K1), bucket_shift) + 2)
        store_32(at, load_i32(at) + 1)
    largest = 0
    for bucket in range(n_buckets):
        at = starts + 4 * (bucket + 2)
        largest = max(largest, load_i32(at))
        store_32(at, load_i32(at) + load_i32(at - 4))
    for i in range(n_keys):
        key = shift_right(load_i64(keys + 8 * i), SYMBOL_BITS)
        at = starts + 4 * (shift_right(wrapping_multiply(key, K1), bucket_shift) + 1)
        store_32(order + 4 * load_i32(at), i)
        store_32(at, load_i32(at) + 1)
    size = largest
    while size > 0:
        for bucket in range(n_buckets):
            first, last = load_i32(starts + 4 * bucket), load_i32(starts + 4 * bucket + 4)
            if last - first == size and (
                _place_bucket(keys, order, first, last, pairs, pair_shift, displacements, bucket) < 0
            ):
                return -1
        size -= 1
    return 0
