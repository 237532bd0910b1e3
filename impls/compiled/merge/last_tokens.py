"""Keeps the last token of the encoding of every beginning of a piece that grows; see `operations.growing_piece`.

The tokens that end at a position are tried from the shortest on: a hash of the letters read backwards says whether any
token ends like that, and which token it is. Of these exactly one is compatible with the last token before it (see
`compatible`), so the rest are not tried. For models over bytes whose merges are monotone, one for each token.

Source: van Antwerpen and Neubeck 2024, "So many tokens, so little time".
"""

from __future__ import annotations

from impls.compiled.language.memory import inlined, kernel, lowest_bit, shift_left, shift_right, wrapping_multiply
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import I32s, U8s
from impls.compiled.layout import (
    HANDLE_BITS,
    MOST_SLOTS,
    NONE,
    NOT_KNOWN,
    PIECE_BEGINS,
    SYMBOL_BITS,
    Beginnings,
    ContextRecord,
    Suffixes,
)
from impls.compiled.lookup.hashing import K1, K2, K3, same_bytes
from impls.compiled.merge.pairs import merged

ENDS, IS_TOKEN = 1, 2
"""Bits of the filter: some token ends with these bytes; some token is these bytes."""


@kernel
def compatible(context: ContextRecord, parts: I32s, left: int, right: int, until: int) -> bool:
    """Return whether encoding the text of two symbols by the merges that rank before `until` gives just the two.

    Undo their merges, the latest first; the symbols that touch must not merge before the merge undone last.
    """
    while merged(context, left, right) >= until:
        left_made, right_made = parts[2 * left] >= 0, parts[2 * right] >= 0
        if left_made and (left > right or not right_made):
            until = left
            left = parts[2 * left + 1]
        elif right_made:  # of equal ranks the leftmost merges first
            until = right + 1
            right = parts[2 * right]
        else:
            return True
    return False


@inlined
def _with_byte(h: int, byte: int) -> int:
    h = wrapping_multiply(h ^ byte, K1)
    return h ^ shift_right(h, 31)


@inlined
def _spread(h: int) -> int:
    return wrapping_multiply(h, K3)


@kernel
def index_suffixes(context: ContextRecord, suffixes: Suffixes) -> int:
    """Fill the tables of a model; return 1, or 0 if a symbol has several derivations."""
    parts, lengths, n_symbols = suffixes.parts, suffixes.lengths, context.n_symbols
    for byte in range(256):
        lengths[context.byte_symbols[byte]] = 1
    for left in range(n_symbols):
        handle = context.handles[left]
        first = shift_right(handle & (handle - 1), 1)
        for bucket in range(first, first + shift_left(1, lowest_bit(handle))):
            if not _take_parts(context, suffixes, left, context.buckets[bucket]):
                return 0
    for symbol in range(n_symbols):
        left, right = parts[2 * symbol], parts[2 * symbol + 1]
        if left >= 0 and lengths[left] > 0 and lengths[right] > 0 and compatible(context, parts, left, right, symbol):
            lengths[symbol] = lengths[left] + lengths[right]
        if lengths[symbol] > 0:
            _index(context, suffixes, symbol)
            suffixes.longest = max(suffixes.longest, lengths[symbol])
    return 1


@kernel
def _take_parts(context: ContextRecord, suffixes: Suffixes, left: int, word: int) -> bool:
    """Note the parts of the symbols that a bucket's pairs make; return False if one is made twice."""
    first = word & NONE
    for slot in range(first, first + (shift_right(word, SYMBOL_BITS) & MOST_SLOTS)):
        entry = context.pairs[slot]
        if entry != -1:
            symbol = shift_right(entry, SYMBOL_BITS + HANDLE_BITS)
            if suffixes.parts[2 * symbol] >= 0 or suffixes.lengths[symbol] != 0:
                return False
            suffixes.parts[2 * symbol] = left
            suffixes.parts[2 * symbol + 1] = entry & NONE
    return True


@kernel
def _index(context: ContextRecord, suffixes: Suffixes, symbol: int) -> None:
    token = symbol if context.ids == 0 else context.ids[symbol]
    length, h = suffixes.lengths[symbol], K2
    begin = context.token_starts[token]
    places, mask = suffixes.filter, shift_right(-1, suffixes.tokens_shift)
    for n in range(length):
        h = _with_byte(h, context.token_bytes[begin + length - 1 - n])
        place = shift_right(_spread(h), suffixes.filter_shift)
        places[place] = places[place] | (ENDS if n + 1 < length else ENDS | IS_TOKEN)
    slot = shift_right(_spread(h), suffixes.tokens_shift)
    while suffixes.tokens[slot] != -1:
        slot = (slot + 1) & mask
    suffixes.tokens[slot] = shift_left(shift_right(h, 32), 32) | symbol


@kernel
def _last_token(context: ContextRecord, suffixes: Suffixes, beginnings: Beginnings, end: int) -> int:
    """Return the last symbol of the encoding of the first `end` bytes, or NOT_KNOWN."""
    text, last, places, n, h = beginnings.text, beginnings.last, suffixes.filter, 0, K2
    most = min(end, suffixes.longest)
    while n < most:
        n += 1
        h = _with_byte(h, text[end - n])
        spread = _spread(h)
        known = places[shift_right(spread, suffixes.filter_shift)]
        if known == 0:
            return NOT_KNOWN
        before = last[end - n]
        if known & IS_TOKEN and before != NOT_KNOWN:
            symbol = _fitting(context, suffixes, h, shift_right(spread, suffixes.tokens_shift), before, text, end, n)
            if symbol >= 0:
                return symbol
    return NOT_KNOWN


@kernel
def _fitting(
    context: ContextRecord, suffixes: Suffixes, h: int, slot: int, before: int, text: U8s, end: int, n: int
) -> int:
    """Return the symbol of the `n` bytes up to `end` if it is compatible with the one before it, else -1."""
    high, mask = shift_right(h, 32), shift_right(-1, suffixes.tokens_shift)
    entry = suffixes.tokens[slot]
    while entry != -1:
        symbol = entry & ((1 << 32) - 1)
        if (
            shift_right(entry, 32) == high
            and suffixes.lengths[symbol] == n
            and (before == PIECE_BEGINS or compatible(context, suffixes.parts, before, symbol, NONE))
        ):
            token = symbol if context.ids == 0 else context.ids[symbol]
            if same_bytes(from_item(context.token_bytes, context.token_starts[token]), from_item(text, end - n), n):
                return symbol
        slot = (slot + 1) & mask
        entry = suffixes.tokens[slot]
    return -1


@kernel
def extend_beginnings(context: ContextRecord, suffixes: Suffixes, beginnings: Beginnings, old: int, new: int) -> int:
    """Find the last symbols of the first `old` + 1 to `new` bytes; return 1 if all that more text may follow are known.

    These are those from `longest` bytes back on.
    """
    last = beginnings.last
    for end in range(old + 1, new + 1):
        last[end] = _last_token(context, suffixes, beginnings, end)
    for end in range(max(0, new + 1 - suffixes.longest), new + 1):
        if last[end] == NOT_KNOWN:
            return 0
    return 1
