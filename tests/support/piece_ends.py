"""Where kernels end the pieces of a text, block by block as they encode it."""

from __future__ import annotations

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.context import Context
from impls.compiled.cpython.plain import checked
from impls.compiled.layout import BLOCK_BYTES, PAD_BYTES


def piece_ends(context: Context, text: str) -> list[int]:
    """Return the ends of pieces in bytes of UTF-8; raise `Uncovered` if the pattern leaves text out."""
    data = np.frombuffer(text.encode() + bytes(PAD_BYTES), np.uint8)
    n_bytes, start, ends = len(data) - PAD_BYTES, 0, list[int]()
    of_block = context.held("work")[context["ends"] - context["work"] :].view(np.int32)
    while start < n_bytes:
        limit = min(n_bytes, start + BLOCK_BYTES)
        n_pieces = checked(native.split_block(context.address, data, n_bytes, len(data), start, limit))
        ends += of_block[:n_pieces].tolist()
        start = context["after"]
    return ends
