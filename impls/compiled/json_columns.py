"""Reads the vocabulary and the merges of a tokenizer.json as columns, without an object for each.

    {"a": 0, "b": 1, "ab": 2}     texts `abab`, starts 0 1 2 4, ids 0 1 2, and a hash table of the tokens by text
    ["a b"] or [["a", "b"]]       ids of the parts 0 1, id of the result 2

Both have passed a parser that builds nothing, so they are valid JSON but for bytes that are not UTF-8. UNUSUAL is
returned for anything but a vocabulary and merges of its tokens, and for what hardly occurs (characters beyond ASCII
written as numbers): `impls.formats` then reads the file in Python, and says what is wrong with it.
"""

from __future__ import annotations

from impls.compiled.language.memory import choose, inlined, kernel
from impls.compiled.language.pointers import from_item
from impls.compiled.language.typed_memory import I32s, I64s, U8s, U32s
from impls.compiled.layout import NONE
from impls.compiled.lookup.cache import token_length
from impls.compiled.lookup.hashing import same_bytes
from impls.compiled.merge.piece import slot_of, token_of

UNUSUAL = -1
_NUMBER = 255
"""Stands for `u` among the characters behind a backslash."""
_SPACE, _QUOTE, _COMMA, _ZERO, _NINE, _OPEN, _BACKSLASH, _CLOSE, _CLOSE_OBJECT = map(ord, ' ",09[\\]}')
_LARGEST = (1 << 31) - 1


@inlined
def _next(data: U8s, at: int) -> int:
    """Return the place of the first byte from `at` on that is neither white space nor a comma."""
    while data[at] <= _SPACE or data[at] == _COMMA:
        at += 1
    return at


@kernel
def _read_text(data: U8s, at: int, escaped: U8s, out: U8s, written: I64s) -> int:
    """Append the text of the JSON string at `at` to `out`; return the place after it, or UNUSUAL.

    `escaped` holds what each character behind a backslash stands for, then the value of each hexadecimal digit, and
    `written` the number of bytes in `out`.
    """
    n = written[0]
    if data[at] != _QUOTE:
        return UNUSUAL
    at += 1
    while data[at] != _QUOTE:
        byte = data[at]
        if byte == _BACKSLASH:
            at += 1
            byte = escaped[data[at]]
            if byte == _NUMBER:  # \u00 and two digits
                byte = 16 * escaped[256 + data[at + 3]] + escaped[256 + data[at + 4]]
                if data[at + 1] != _ZERO or data[at + 2] != _ZERO or byte >= 128:
                    return UNUSUAL
                at += 4
        out[n] = byte
        n += 1
        at += 1
    written[0] = n
    return at + 1


@kernel
def read_vocabulary(
    data: U8s, escaped: U8s, texts: U8s, written: I64s, starts: I64s, ids: I64s, table: I32s, shift: int
) -> int:
    """Write the texts of the tokens of an object, where each begins, and their ids; return how many, or UNUSUAL.

    The table is filled as by `index_tokens`, with their numbers in the order of the file.
    """
    n, at = 0, _next(data, 1)
    while data[at] != _CLOSE_OBJECT:
        at = _read_text(data, at, escaped, texts, written)
        starts[n + 1] = written[0]
        length = starts[n + 1] - starts[n]
        slot = slot_of(texts, starts, table, shift, from_item(texts, starts[n]), length)
        if at < 0 or length == 0 or table[slot] >= 0:
            return UNUSUAL
        table[slot] = n
        at, number, after = _next(data, _next(data, at) + 1), 0, 0  # behind the colon
        while _ZERO <= data[at] <= _NINE and number <= _LARGEST:
            number = 10 * number + data[at] - _ZERO
            at += 1
            after = data[at]
        if after == 0 or (after > _SPACE and after != _COMMA and after != _CLOSE_OBJECT):
            return UNUSUAL
        ids[n] = number
        n += 1
        at = _next(data, at)
    return n


@kernel
def _take_out_space(text: U8s, written: I64s) -> int:
    """Take the space out of a text; return where it was, or UNUSUAL if there is not exactly one."""
    place, n = UNUSUAL, 0
    for k in range(written[0]):
        if text[k] == _SPACE:
            place = k
        else:
            text[n] = text[k]
            n += 1
    is_one = written[0] == n + 1
    written[0] = n
    return choose(is_one, place, UNUSUAL)


@kernel
def read_merges(
    data: U8s, escaped: U8s, texts: U8s, written: I64s, starts: I64s, ids: I64s, table: I32s, shift: int, n_tokens: int,
    joined: U8s, pairs: U32s, results: U32s,
) -> int:  # fmt: skip
    """Write the ids of the parts of each merge of a list, and of the token it makes; return how many, or UNUSUAL."""
    n, at, whole = 0, _next(data, 1), UNUSUAL
    while data[at] != _CLOSE:
        is_pair = data[at] == _OPEN
        written[0] = 0
        at = _read_text(data, choose(is_pair, _next(data, at + 1), at), escaped, joined, written)
        if at >= 0 and is_pair:
            middle = written[0]
            at = _next(data, max(0, _read_text(data, _next(data, at), escaped, joined, written)))
            if data[at] != _CLOSE:
                return UNUSUAL
            at += 1
        else:
            middle = _take_out_space(joined, written)
        length = written[0]
        if at < 0 or not 0 < middle < length:
            return UNUSUAL
        left = token_of(texts, starts, table, shift, joined, middle)
        right = token_of(texts, starts, table, shift, from_item(joined, middle), length - middle)
        whole += 1  # a merge mostly makes the token after the one before
        is_next = whole < n_tokens and token_length(starts, whole) == length
        if not is_next or not same_bytes(from_item(texts, starts[whole]), joined, length):
            whole = token_of(texts, starts, table, shift, joined, length)
        if left == NONE or right == NONE or whole == NONE:
            return UNUSUAL
        pairs[2 * n] = ids[left]
        pairs[2 * n + 1] = ids[right]
        results[n] = ids[whole]
        n += 1
        at = _next(data, at)
    return n


@kernel
def find_texts(
    texts: U8s, starts: I64s, table: I32s, shift: int, wanted: U8s, ends: I64s, n_wanted: int, found: I32s
) -> int:
    """Write the number of the token of each of the texts that end at `ends` in `wanted`, or NONE; return 0."""
    begin = 0
    for i in range(n_wanted):
        found[i] = token_of(texts, starts, table, shift, from_item(wanted, begin), ends[i] - begin)
        begin = ends[i]
    return 0
