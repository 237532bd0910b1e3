"""Runs BPE-dropout in the kernels, and builds the tables it needs besides a context at the first call."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.native import address, native
from impls.compiled.context import Context
from impls.compiled.cpython import plain
from impls.compiled.layout import PAD_BYTES
from impls.compiled.merge.pair_rows import pair_rows
from impls.compiled.merge.symbols import byte_ids, entries, listed_merges
from impls.compiled.slots import Slots
from impls.compiled.tables import TokenIndex, token_index
from impls.core.dropout import Dropout
from impls.core.model import Model


class DropoutEncoder:
    """Encodes with merges of a model left out at random.

    Dropout brings symbols together that are never neighbours in byte pair encoding, so the one pair per token that the
    kernels keep is not enough. If joined bytes decide what merges (the rule `concatenation`), tokens are looked up by
    their bytes; if several listed merges make a token, ids serve as symbols, with a separate table of pairs.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @cached_property
    def _index(self) -> TokenIndex | None:
        return token_index(self._model) if self._model.merge_rule == "concatenation" else None

    @cached_property
    def _listed(self) -> tuple[Slots, np.ndarray] | None:
        """Return slots to use instead of a context's, and the id each merge makes (int32, by rank).

        Returns None if ranks are the symbols.
        """
        if self._model.merge_rule == "concatenation":
            return None
        pairs, results = listed_merges(self._model)
        if len(np.unique(results)) == len(results):
            return None
        slots = Slots(layout.ContextRecord)
        merges = entries(pairs[:, 0], pairs[:, 1], np.arange(len(pairs)))
        rows = pair_rows(merges, max(len(pairs), len(self._model.tokens)))
        slots.hold("pairs", rows.pairs)
        slots.hold("buckets", rows.buckets)
        slots.hold("handles", rows.handles)
        slots.hold("byte_symbols", byte_ids(self._model))
        return slots, results.astype(np.int32)

    def encode(self, context: Context, text: str, ends: np.ndarray, dropout: Dropout) -> list[int]:
        """Return the ids of a text whose pieces end at `ends` (int32, in bytes); draws the next numbers of `dropout`.

        The text holds bytes that are not UTF-8 as surrogates (`surrogateescape`).
        """
        data = np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)
        out = np.empty(len(data) + PAD_BYTES // 4, np.uint32)
        numbers = [dropout.threshold, dropout.start, dropout.n_pieces, 0]
        arrays: tuple[np.ndarray, ...] = ()
        slots: Slots = context
        if self._index is not None:
            arrays = (self._index.data, self._index.starts, self._index.table)
            numbers += [1, *map(address, arrays), self._index.shift]
        elif self._listed is not None:
            slots, results = self._listed
            arrays = (results, *slots.arrays)
            numbers[3] = address(results)
        parameters = np.array([*numbers, *[0] * (layout.DROPOUT_PARAMETERS - len(numbers))], np.uint64)
        with native.reachable(*arrays):
            n_ids = native.encode_with_dropout(slots.address, parameters, data, ends, len(ends), out)
        dropout.n_pieces += len(ends)
        ids: list[int] = plain.shrunk(out, n_ids).tolist()
        return ids
