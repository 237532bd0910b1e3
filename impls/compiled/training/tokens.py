"""Stores the bytes of the symbols that are being learned, one after another, and compares pairs by them."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel, load_i32, load_i64, load_u8, store_8, store_64
from impls.compiled.training.layout import LearningRecord


@inlined
def _start(learning: LearningRecord, symbol: int) -> int:
    return load_i64(learning.token_starts + 8 * symbol)


@inlined
def n_token_bytes(learning: LearningRecord, symbol: int) -> int:
    """Return the number of bytes of a symbol."""
    return _start(learning, symbol + 1) - _start(learning, symbol)


@inlined
def is_short_enough(learning: LearningRecord, left: int, right: int) -> bool:
    """Return whether two joined symbols are within a token's limits of bytes and characters."""
    most = learning.most_token_characters
    if most != 0:
        lengths = learning.token_characters
        if load_i32(lengths + 4 * left) + load_i32(lengths + 4 * right) > most:
            return False
    return n_token_bytes(learning, left) + n_token_bytes(learning, right) <= learning.most_token_bytes


@kernel
def _byte_of(learning: LearningRecord, left: int, right: int, i: int) -> int:
    """Return byte `i` of two joined symbols, or -1 past their end."""
    text, n_left = learning.token_text, n_token_bytes(learning, left)
    if i < n_left:
        return load_u8(text + _start(learning, left) + i)
    if i < n_left + n_token_bytes(learning, right):
        return load_u8(text + _start(learning, right) + i - n_left)
    return -1


@kernel
def compare_joined(learning: LearningRecord, left: int, right: int, other_left: int, other_right: int) -> int:
    """Compare the joined bytes of two symbols with those of two others; return a number below, equal to or above 0."""
    i = 0
    while True:
        byte, other = _byte_of(learning, left, right, i), _byte_of(learning, other_left, other_right, i)
        if byte != other or byte < 0:
            return byte - other
        i += 1


@kernel
def compare(learning: LearningRecord, symbol: int, other: int) -> int:
    """Compare the bytes of two symbols; return a number below, equal to or above 0."""
    text = learning.token_text
    a, b = text + _start(learning, symbol), text + _start(learning, other)
    n_a, n_b = n_token_bytes(learning, symbol), n_token_bytes(learning, other)
    for i in range(min(n_a, n_b)):
        if load_u8(a + i) != load_u8(b + i):
            return load_u8(a + i) - load_u8(b + i)
    return n_a - n_b


@kernel
def is_reserved(learning: LearningRecord, left: int, right: int) -> bool:
    """Return whether the joined bytes of two symbols are a text that no merge may make."""
    n_bytes = n_token_bytes(learning, left) + n_token_bytes(learning, right)
    row = learning.reserved
    for _ in range(learning.n_reserved):
        text, i = load_i64(row), 0
        if load_i64(row + 8) == n_bytes:
            while i < n_bytes and _byte_of(learning, left, right, i) == load_u8(text + i):
                i += 1
            if i == n_bytes:
                return True
        row += 16
    return False


@inlined
def _copy(learning: LearningRecord, symbol: int, to: int) -> None:
    text = learning.token_text
    start = _start(learning, symbol)
    for i in range(n_token_bytes(learning, symbol)):
        store_8(text + to + i, load_u8(text + start + i))


@kernel
def append_token(learning: LearningRecord, left: int, right: int, new: int) -> None:
    """Write the bytes of `new`, the next symbol; there must be room."""
    start, n_left = _start(learning, new), n_token_bytes(learning, left)
    _copy(learning, left, start)
    _copy(learning, right, start + n_left)
    end = start + n_left + n_token_bytes(learning, right)
    store_64(learning.token_starts + 8 * (new + 1), end)
