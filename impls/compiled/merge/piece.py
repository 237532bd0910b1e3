"""Encodes one piece that is not in the cache: by the table of whole pieces, else by merging it and mapping to ids.

Fills tables once per model: the tokens that do not encode to themselves, the vocabulary's own cache entries, and the
two parts of each token of a rank file, by byte pair encoding of the token's own bytes, or the listed merge that
completes it. In a vocabulary where any two
neighbours merge if their joined bytes are a token, the two parts that make a token in a text are always those that make
it when its own bytes are merged alone: merges inside a stretch of text happen in the same order whatever is around it,
until one crosses its boundary. So one pair per token is enough.
"""

from __future__ import annotations

from impls.compiled.cpython.texts import buffer_for_ids, release_ids
from impls.compiled.language.memory import choose, inlined, kernel, shift_left, shift_right, wrapping_multiply
from impls.compiled.language.pointers import from_item, i32s
from impls.compiled.language.typed_memory import I32s, I64s, Rows, U8s
from impls.compiled.layout import COUNT_AT, LONGEST_DERIVED, NO_MEMORY, NONE, ContextRecord, Entry
from impls.compiled.lookup.cache import ARENA_COUNT, LONGEST_SHORT, token_length, write_entry
from impls.compiled.lookup.hashing import K1, hash_piece, key_of, same_bytes
from impls.compiled.merge.merge_long import merge_long
from impls.compiled.merge.merge_small import merge_small

_NO_RANK = (1 << 31) - 1


@inlined
def _is_token(blob: U8s, starts: I64s, token: int, piece: U8s, length: int) -> bool:
    return token_length(starts, token) == length and same_bytes(from_item(blob, starts[token]), piece, length)


@kernel
def slot_of(blob: U8s, starts: I64s, table: I32s, shift: int, piece: U8s, length: int) -> int:
    """Return the slot of the token whose bytes are those of the piece, or the empty one where it belongs."""
    slot, mask = shift_right(hash_piece(piece, length), shift), shift_right(-1, shift)
    token = table[slot]
    while token >= 0 and not _is_token(blob, starts, token, piece, length):
        slot = (slot + 1) & mask
        token = table[slot]
    return slot


@kernel
def index_tokens(blob: U8s, starts: I64s, tokens: I32s, n_tokens: int, table: I32s, shift: int) -> int:
    """Fill an open-addressing hash table of token ids (int32, -1 in an empty slot), keyed by their bytes; return 0.

    `tokens` (int32) are the ids to index; empty tokens are left out.
    """
    for i in range(n_tokens):
        length, begin = token_length(starts, tokens[i]), starts[tokens[i]]
        if length > 0:
            table[slot_of(blob, starts, table, shift, from_item(blob, begin), length)] = tokens[i]
    return 0


@kernel
def token_of(blob: U8s, starts: I64s, table: I32s, shift: int, piece: U8s, length: int) -> int:
    """Return the token whose bytes are those of the piece, by a table of `index_tokens`, or NONE."""
    token = table[slot_of(blob, starts, table, shift, piece, length)]
    return choose(token >= 0, token, NONE)


@kernel
def _last_cut(blob: U8s, starts: I64s, table: I32s, shift: int, piece: U8s, length: int, scratch: I32s) -> int:
    """Return the offset of the second of the last two parts of a token; 0 if merging does not end in two parts.

    `scratch` has room for length + 2 ends of parts and length + 1 ranks, int32.
    """
    ends, ranks = scratch, from_item(scratch, length + 2)
    for i in range(length + 1):
        ends[i] = i
    n = length
    for i in range(n - 1):
        ranks[i] = token_of(blob, starts, table, shift, from_item(piece, i), 2)
    while n > 2:
        best, where = NONE, -1
        for i in range(n - 1):
            rank = ranks[i]
            if rank < best:
                best, where = rank, i
        if where < 0:
            return 0
        for i in range(where + 1, n):
            ends[i] = ends[i + 1]
        for i in range(where + 1, n - 2):
            ranks[i] = ranks[i + 1]
        n -= 1
        for i in range(max(0, where - 1), min(n - 1, where + 1)):
            begin = ends[i]
            stretch = ends[i + 2] - begin
            ranks[i] = token_of(blob, starts, table, shift, from_item(piece, begin), stretch)
    return ends[1]


@kernel
def derive(
    blob: U8s, starts: I64s, n_tokens: int, table: I32s, shift: int, lefts: I32s, rights: I32s, scratch: I32s
) -> int:
    """Write the two parts (int32) of each token, or -1; return 0.

    -1 stands for no parts: a byte, an id that no token has, a token that merging does not make, and one of more than
    LONGEST_DERIVED bytes.
    """
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        left, right = -1, -1
        if 1 < length <= LONGEST_DERIVED:
            cut = _last_cut(blob, starts, table, shift, from_item(blob, start), length, scratch)
            if cut > 0:
                left = token_of(blob, starts, table, shift, from_item(blob, start), cut)
                right = token_of(blob, starts, table, shift, from_item(blob, start + cut), length - cut)
        lefts[token] = left
        rights[token] = right
    return 0


@kernel
def _slot_of_pair(pairs: I64s, table: I32s, shift: int, pair: int) -> int:
    """Return the slot of a pair in a table of `last_merges`, or the empty one where it belongs."""
    slot = shift_right(wrapping_multiply(pair, K1), shift)
    while table[slot] >= 0 and pairs[table[slot]] != pair:
        slot = (slot + 1) & shift_right(-1, shift)
    return slot


@kernel
def _rank_of_pair(pairs: I64s, table: I32s, shift: int, symbols: I32s, at: int) -> int:
    """Return the rank at which the symbols at `at` and `at + 1` merge, or _NO_RANK."""
    rank = table[_slot_of_pair(pairs, table, shift, shift_left(symbols[at + 1], 32) | symbols[at])]
    return choose(rank >= 0, rank, _NO_RANK)


@kernel
def _last_merge(
    pairs: I64s, results: I32s, table: I32s, shift: int, symbols: I32s, n: int, token: int, ranks: I32s
) -> int:
    """Merge the symbols of a token, in place; return the rank of the last merge, or -1 if they do not become it."""
    last = -1
    for i in range(n - 1):
        ranks[i] = _rank_of_pair(pairs, table, shift, symbols, i)
    while n > 1:
        last, where = _NO_RANK, -1
        for i in range(n - 1):
            rank = ranks[i]
            if rank < last:
                last, where = rank, i
        if where < 0:
            return -1
        n -= 1
        symbols[where] = results[last]
        for i in range(where + 1, n):
            symbols[i] = symbols[i + 1]
        for i in range(where + 1, n - 1):
            ranks[i] = ranks[i + 1]
        for i in range(max(0, where - 1), min(n - 1, where + 1)):
            ranks[i] = _rank_of_pair(pairs, table, shift, symbols, i)
    return choose(symbols[0] == token, last, -1)


@kernel
def last_merges(
    pairs: I64s, n_pairs: int, results: I32s, table: I32s, shift: int,
    symbols: I32s, ends: I64s, n_tokens: int, tokens: I32s, scratch: I32s,
) -> int:  # fmt: skip
    """Replace each of `tokens` (ids) by the rank of the merge that completes it, or -1; return 0.

    `pairs` are `right << 32 | left`, by rank; of a pair listed twice the later rank counts. `results` are the ids they
    make, `symbols` those of all tokens, one after another, which are overwritten. Tokens of more than LONGEST_DERIVED
    symbols are left out. `table` is an open-addressing hash table with -1 in every slot.
    """
    for rank in range(n_pairs):
        table[_slot_of_pair(pairs, table, shift, pairs[rank])] = rank
    begin = 0
    for i in range(n_tokens):
        n, own = ends[i] - begin, from_item(symbols, begin)
        last = -1
        if n <= LONGEST_DERIVED:
            last = _last_merge(pairs, results, table, shift, own, n, tokens[i], scratch)
        tokens[i] = last
        begin = ends[i]
    return 0


@kernel
def piece_ids(context: ContextRecord, piece: U8s, n_bytes: int, out: I32s) -> int:
    """Write the ids (int32) of a piece to `out`; return how many, or NO_MEMORY."""
    if context.whole != 0:
        token = token_of(context.token_bytes, context.token_starts, context.whole, context.whole_shift, piece, n_bytes)
        if token != NONE:
            out[0] = token
            return 1
    count = merge_small(context, piece, n_bytes, out)
    if count < 0:
        count = merge_long(context, piece, n_bytes, out)
    ids = context.ids
    if ids != 0:
        for i in range(count):
            out[i] = ids[out[i]]
    return count


@kernel
def find_whole(context: ContextRecord, blob: U8s, starts: I64s, n_tokens: int, not_made: I32s) -> int:
    """Write the ids (int32) of the tokens whose bytes do not encode to themselves; return how many, or NO_MEMORY."""
    n_not_made = 0
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        if length < 1:
            continue
        out = buffer_for_ids(context, length)
        if out == 0:
            return NO_MEMORY
        ids = i32s(out)
        if piece_ids(context, from_item(blob, start), length, ids) != 1 or ids[0] != token:
            not_made[n_not_made] = token
            n_not_made += 1
        release_ids(context, out)
    return n_not_made


@kernel
def fill_rows(context: ContextRecord, blob: U8s, starts: I64s, n_tokens: int, rows: Rows[Entry], tokens: I32s) -> int:
    """Write a cache entry for every token of up to 15 bytes; return how many.

    Tokens whose entry would need the arena are left out. Where an entry would only say that a token's bytes have the
    token's id, the id is written to `tokens` (int32) instead.
    """
    out, n, n_plain, known = i32s(context.out), 0, 0, context.token_starts
    for token in range(n_tokens):
        start = starts[token]
        length = starts[token + 1] - start
        piece = from_item(blob, start)
        if length < 1 or length > LONGEST_SHORT:
            continue
        low, high = key_of(context.key_masks, piece, length)
        count, i = piece_ids(context, piece, length, out), out[0]
        is_id = count == 1 and 0 <= i < min(NONE, context.n_ids) and known[i] >= 0
        if is_id and _is_token(context.token_bytes, known, i, piece, length):
            tokens[n_plain] = i
            n_plain += 1
            continue
        written = write_entry(context, rows[n], low, high, piece, length, out, count)
        if written and (shift_right(rows[n].fourth, COUNT_AT) & 15) != ARENA_COUNT:
            n += 1
    return n
