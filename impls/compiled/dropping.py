"""BPE-dropout in the kernels: what they need besides a context, prepared at the first call."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from impls.compiled import plain
from impls.compiled.context import Context
from impls.compiled.layout import PAD_BYTES
from impls.compiled.native import address
from impls.compiled.tables import TokenIndex, token_index
from impls.dropout import Dropout
from impls.model import Model


class Dropping:
    """Leaves merges of a model out at random.

    Then symbols meet that never meet in byte pair encoding. Where joined bytes decide what merges (the rule
    `concatenation`) the one pair per token that the kernels keep is not enough, and tokens are looked up by bytes.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @cached_property
    def _index(self) -> TokenIndex | None:
        return token_index(self._model) if self._model.merge_rule == "concatenation" else None

    def encode(self, context: Context, text: str, ends: np.ndarray, dropout: Dropout) -> list[int]:
        """Ids of a text whose pieces end at `ends` (int32, in bytes), which takes the next coins of `dropout`.

        Bytes that are no UTF-8 are in the text as surrogates (`surrogateescape`).
        """
        data = np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)
        out = np.empty(len(data) + PAD_BYTES // 4, np.uint32)
        arrays = () if self._index is None else (self._index.data, self._index.starts, self._index.table)
        numbers = [dropout.threshold, dropout.start, dropout.n_pieces, int(bool(arrays))]
        if self._index is not None:
            numbers += [*map(address, arrays), self._index.shift]
        parameters = np.array([*numbers, *[0] * (8 - len(numbers))], np.uint64)
        with context.native.reachable(data, ends, out, parameters, *arrays):
            n_ids = context.native.encode_with_dropout(
                context.address, address(parameters), address(data), address(ends), len(ends), address(out)
            )
        dropout.n_pieces += len(ends)
        ids: list[int] = plain.shrunk(out, n_ids).tolist()
        return ids
