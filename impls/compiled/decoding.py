"""Decode by kernels: a list of ids by a built-in function, any other by the plain boundary, the rest in Python."""

from __future__ import annotations

import numpy as np

from impls.compiled.cpython import plain
from impls.compiled.sentencepiece.special_pieces import without_hidden_space
from impls.compiled.threads.pool import CallContext, Pool
from impls.core import arguments
from impls.core.model import Model
from impls.operations.stream_rules import stream_rules


def decode_bytes(model: Model, pool: Pool, own: CallContext, ids: list[int] | np.ndarray) -> bytes | None:
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
    with pool.borrowed() as call_context:
        return plain.decode(call_context.context, np.ascontiguousarray(array, np.uint32))
