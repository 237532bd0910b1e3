"""Which symbol two neighbours merge into: a perfect hash of pairs, built and looked up.

Hash and displace (Belazzougui, Botelho, Dietzfelbinger 2009, "Hash, displace, and compress"): a 16-bit displacement
per bucket, one 8-byte entry per slot that holds the whole key, so a lookup is exact and takes two loads. Most pairs
do not merge; beside the displacement 16 bits say which keys a bucket may hold (Bloom 1970, "Space/time trade-offs in
hash coding"), and a pair that it certainly does not hold reads slot 0, which is near, in place of its own.
"""

from __future__ import annotations

from impls.compiled.kernels.hashing import K1, K2
from impls.compiled.kernels.memory import (
    choose,
    inlined,
    kernel,
    load_i32,
    load_i64,
    load_u32,
    shift_left,
    shift_right,
    store_32,
    store_64,
    wrapping_multiply,
)
from impls.compiled.layout import NONE, SYMBOL_BITS

MOST_DISPLACEMENT = 65536


@inlined
def _filter_bit(product: int, bucket_shift: int) -> int:
    """Place of a key's bit among the upper 16 of its bucket's word: the hash's bits behind those of the bucket."""
    return 16 + (shift_right(product, bucket_shift - 4) & 15)


@inlined
def merged(pairs: int, pair_shift: int, displacements: int, bucket_shift: int, left: int, right: int) -> int:
    """The symbol `left` and `right` merge into, or NONE; it is also the rank of the merge."""
    key = (left << SYMBOL_BITS) | right
    product = wrapping_multiply(key, K1)
    word = load_u32(displacements + 4 * shift_right(product, bucket_shift))
    slot = shift_right(wrapping_multiply(product ^ (word & (MOST_DISPLACEMENT - 1)), K2), pair_shift)
    known = shift_right(word, _filter_bit(product, bucket_shift)) & 1
    entry = load_i64(pairs + 8 * choose(known != 0, slot, 0))
    return choose(shift_right(entry, SYMBOL_BITS) == key, entry & NONE, NONE)


@kernel
def _place_bucket(
    keys: int,
    order: int,
    first: int,
    last: int,
    pairs: int,
    pair_shift: int,
    displacements: int,
    bucket_shift: int,
    bucket: int,
) -> int:
    """Finds a displacement for the keys order[first:last]; -1 where there is none."""
    bits = 0
    for at in range(first, last):
        key = shift_right(load_i64(keys + 8 * load_i32(order + 4 * at)), SYMBOL_BITS)
        bits |= shift_left(1, _filter_bit(wrapping_multiply(key, K1), bucket_shift))
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
            store_32(displacements + 4 * bucket, bits | displacement)
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
                _place_bucket(keys, order, first, last, pairs, pair_shift, displacements, bucket_shift, bucket) < 0
            ):
                return -1
        size -= 1
    return 0
