"""Stores the bytes of the symbols that are being learned, one after another, and compares pairs by them."""

from __future__ import annotations

from impls.compiled.codegen.memory import inlined, kernel
from impls.compiled.codegen.pointers import from_item
from impls.compiled.training.layout import LearningRecord


@inlined
def n_token_bytes(learning: LearningRecord, symbol: int) -> int:
    """Return the number of bytes of a symbol."""
    return learning.token_starts[symbol + 1] - learning.token_starts[symbol]


@inlined
def is_short_enough(learning: LearningRecord, left: int, right: int) -> bool:
    """Return whether two joined symbols are within a token's limit of bytes."""
    return n_token_bytes(learning, left) + n_token_bytes(learning, right) <= learning.most_token_bytes


@kernel
def _byte_of(learning: LearningRecord, left: int, right: int, i: int) -> int:
    """Return byte `i` of two joined symbols, or -1 past their end."""
    text, n_left = learning.token_text, n_token_bytes(learning, left)
    if i < n_left:
        return text[learning.token_starts[left] + i]
    if i < n_left + n_token_bytes(learning, right):
        return text[learning.token_starts[right] + i - n_left]
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
    starts = learning.token_starts
    a, b = from_item(learning.token_text, starts[symbol]), from_item(learning.token_text, starts[other])
    n_a, n_b = n_token_bytes(learning, symbol), n_token_bytes(learning, other)
    for i in range(min(n_a, n_b)):
        if a[i] != b[i]:
            return a[i] - b[i]
    return n_a - n_b


@kernel
def is_reserved(learning: LearningRecord, left: int, right: int) -> bool:
    """Return whether the joined bytes of two symbols are a text that no merge may make."""
    n_bytes = n_token_bytes(learning, left) + n_token_bytes(learning, right)
    for k in range(learning.n_reserved):
        reserved = learning.reserved[k]
        if reserved.n_bytes == n_bytes:
            i = 0
            while i < n_bytes and _byte_of(learning, left, right, i) == reserved.text[i]:
                i += 1
            if i == n_bytes:
                return True
    return False


@inlined
def _copy(learning: LearningRecord, symbol: int, to: int) -> None:
    """Write the bytes of a symbol from an offset of TOKEN_TEXT on."""
    text, start = learning.token_text, learning.token_starts[symbol]
    for i in range(n_token_bytes(learning, symbol)):
        text[to + i] = text[start + i]


@kernel
def append_token(learning: LearningRecord, left: int, right: int, new: int) -> None:
    """Write the bytes of `new`, the next symbol; there must be room."""
    start, n_left = learning.token_starts[new], n_token_bytes(learning, left)
    _copy(learning, left, start)
    _copy(learning, right, start + n_left)
    learning.token_starts[new + 1] = start + n_left + n_token_bytes(learning, right)
