"""The plain boundary: bytes, NumPy arrays and ctypes around the plain kernels. Works wherever ctypes does.

Every function takes a context that no other call is using. `Uncovered` is raised if the pattern leaves text out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.context import Context
from impls.compiled.layout import MOST_TEXT_BYTES, NO_MEMORY, PAD_BYTES, UNCOVERED
from impls.core.errors import Unsupported


class Uncovered(Exception):
    """The pattern leaves part of the text out; the reference splitter finds where."""


_PAD_IDS = PAD_BYTES // 4


def _utf8(text: str) -> bytes:
    """Return the UTF-8 of a text; raise `Unsupported` if it is too long for the kernels."""
    data = text.encode()
    if len(data) > MOST_TEXT_BYTES:
        most = f"the limit is {MOST_TEXT_BYTES:,}: cut it at a line break"
        raise Unsupported("compiled", f"a text of {len(data):,} bytes in one call; {most}")
    return data


def _written(kernel: Callable[..., int], context: Context, data: bytes) -> np.ndarray:
    """Return what `kernel(context, data, number of bytes, out)` writes to `out`, uint32 of shape (n,)."""
    out = np.empty(len(data) + _PAD_IDS, np.uint32)
    padded = np.frombuffer(data + bytes(PAD_BYTES), np.uint8)
    n = checked(kernel(context.address, padded, len(data), out))
    out.resize(n, refcheck=False)  # the memory of the others is released
    return out


def encode(context: Context, text: str) -> np.ndarray:
    """Return the ids of a text without surrogates, uint32 of shape (n_tokens,)."""
    return _written(native.encode, context, _utf8(text))


def encode_pieces(context: Context, text: str, ends: np.ndarray) -> np.ndarray:
    """Return the ids of a text whose pieces end at `ends` (int32, in bytes), uint32 of shape (n_tokens,).

    The context is one that splits by GIVEN_ENDS.
    """
    context.hold("given_ends", ends)
    return encode(context, text)


def encode_byte_piece(context: Context, piece: bytes) -> np.ndarray:
    """Return the ids of one piece that need not be UTF-8, uint32 of shape (n_tokens,)."""
    return _written(native.piece_ids, context, piece)


def ends_of(text: str, pieces: Sequence[str]) -> np.ndarray:
    """Return the ends of pieces, in bytes of their text's UTF-8: int32 of shape (n_pieces,)."""
    lengths = map(len, pieces) if text.isascii() else (len(piece.encode()) for piece in pieces)
    return np.cumsum(np.fromiter(lengths, np.int32, len(pieces)), dtype=np.int32)


def checked(count: int) -> int:
    """Return `count`, the result of a kernel; raise `Uncovered` or MemoryError if it is an error code."""
    if count == UNCOVERED:
        raise Uncovered
    if count == NO_MEMORY:
        raise MemoryError
    return count
