"""The plain boundary: bytes, NumPy arrays and ctypes around the plain kernels. Works wherever ctypes does.

Every function takes a context that no other call is using. `Uncovered` is raised if the pattern leaves text out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from impls.compiled.codegen.native import Function, native
from impls.compiled.context import Context
from impls.compiled.layout import MOST_TEXT_BYTES, NO_MEMORY, PAD_BYTES, UNCOVERED
from impls.compiled.pretokenize.specials import without_hidden_space
from impls.compiled.threads.pool import Pool
from impls.core import arguments
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.operations.stream_rules import stream_rules


class Uncovered(Exception):
    """The pattern leaves part of the text out; the reference splitter finds where."""


_PAD_IDS = PAD_BYTES // 4


def _utf8(text: str) -> bytes:
    """Return the UTF-8 of a text; raise `Unsupported` if it is too long for the kernels."""
    data = text.encode()
    if len(data) > MOST_TEXT_BYTES:
        most = f"at most {MOST_TEXT_BYTES:,} are possible: cut it at a line break"
        raise Unsupported("compiled", f"a text of {len(data):,} bytes in one call; {most}")
    return data


def _written(kernel: Function, context: Context, data: bytes, *more: int | np.ndarray) -> np.ndarray:
    """Return what `kernel(context, data, number of bytes, out, *more)` writes to `out`, uint32 of shape (n,)."""
    out = np.empty(len(data) + _PAD_IDS, np.uint32)
    padded = np.frombuffer(data + bytes(PAD_BYTES), np.uint8)
    n = checked(kernel(context.address, padded, len(data), out, *more))
    out.resize(n, refcheck=False)  # the memory of the others is released
    return out


def encode(context: Context, text: str) -> np.ndarray:
    """Return the ids of a text without surrogates, uint32 of shape (n_tokens,)."""
    return _written(native.encode, context, _utf8(text))


def encode_pieces(context: Context, text: str, ends: np.ndarray) -> np.ndarray:
    """Return the ids of a text whose pieces end at `ends` (int32, in bytes), uint32 of shape (n_tokens,)."""
    return _written(native.encode_pieces, context, _utf8(text), ends, len(ends))


def encode_byte_piece(context: Context, piece: bytes) -> np.ndarray:
    """Return the ids of one piece that need not be UTF-8, uint32 of shape (n_tokens,)."""
    return _written(native.byte_piece_ids, context, piece)


def ends_of(text: str, pieces: Sequence[str]) -> np.ndarray:
    """Return the ends of pieces, in bytes of their text's UTF-8: int32 of shape (n_pieces,)."""
    lengths = map(len, pieces) if text.isascii() else (len(piece.encode()) for piece in pieces)
    return np.cumsum(np.fromiter(lengths, np.int32, len(pieces)), dtype=np.int32)


def decode(context: Context, ids: np.ndarray) -> bytes | None:
    """Return the bytes that uint32 ids decode to, or None if one of the ids is unknown."""
    n_bytes = native.decoded_bytes(context.address, ids, len(ids))
    if n_bytes < 0:
        return None
    out = np.empty(n_bytes + PAD_BYTES, np.uint8)
    native.decode(context.address, ids, len(ids), out)
    return out[:n_bytes].tobytes()


def checked(count: int) -> int:
    """Return `count`, the result of a kernel; raise `Uncovered` or MemoryError if it is an error code."""
    if count == UNCOVERED:
        raise Uncovered
    if count == NO_MEMORY:
        raise MemoryError
    return count


def decode_bytes(model: Model, pool: Pool, own: Context, ids: list[int] | np.ndarray) -> bytes | None:
    """Return the bytes of the ids, or None if kernels do not decode them; `own` is the tokenizer's own context."""
    if own.builtins is not None and type(ids) is list:
        data = own.builtins.decode_to_bytes(ids)
    else:
        data = _plain_decode(pool, ids)
    if data is not None and (model.sentencepiece is not None or model.decoder is not None):
        data = without_hidden_space(data, ids, stream_rules(model))
    return data


def _plain_decode(pool: Pool, ids: list[int] | np.ndarray) -> bytes | None:
    try:
        array = np.asarray(ids if isinstance(ids, np.ndarray) else arguments.checked_ids(ids))
    except (OverflowError, ValueError):
        return None
    # Anything but an array of integers is decoded id by id, and so is a masked array.
    if array.ndim != 1 or array.dtype.kind not in "iub" or np.ma.isMaskedArray(ids):
        return None
    if bool((array < 0).any()) or bool((array >= 1 << 32).any()):
        return None
    with pool.borrowed() as context:
        return decode(context, np.ascontiguousarray(array, np.uint32))
