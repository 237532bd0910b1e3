"""Encodes with models that do more than merge inside pieces: merge pieces (BoundlessBPE), remove tokens (PickyBPE).

Both encode a text that is split already, with kernels of their own.
"""

from __future__ import annotations

import numpy as np

from impls.compiled import layout
from impls.compiled.codegen.native import native
from impls.compiled.context import Context
from impls.compiled.cpython import plain
from impls.compiled.layout import DROPOUT_PARAMETERS, NONE, PAD_BYTES
from impls.compiled.merge.pair_rows import pair_rows
from impls.compiled.merge.symbols import blob_of, entries
from impls.compiled.slots import Slots
from impls.core.errors import Unsupported
from impls.core.events import REMOVED, Event, Events
from impls.core.model import Model
from impls.core.model.data import may_be_joined


def beyond_merges(model: Model) -> SuperwordEncoder | EventEncoder | None:
    """Return the encoder of a model that the common kernels cannot encode; None for any other model."""
    if model.events:
        return EventEncoder(model)
    return None if model.joined_pieces is None else SuperwordEncoder(model)


class SuperwordEncoder:
    """Encodes each piece by itself, then merges rows of one-token pieces as if their tokens were symbols of one piece.

    A merge comes after those that make its parts, so no merge inside a piece depends on one that joins pieces.
    """

    def __init__(self, model: Model) -> None:
        assert model.joined_pieces is not None
        joins = may_be_joined(model.joined_pieces)
        _, starts = blob_of(model)
        self._lengths = np.diff(starts)
        # The piece that became one token is that token's text.
        texts = [(token or b"").decode("utf-8", "surrogateescape") for token in model.tokens]
        self._joins = np.fromiter(map(joins, texts), bool, len(texts))
        self._parameters = np.zeros(DROPOUT_PARAMETERS, np.uint64)

    def encode(self, context: Context, text: str, ends: np.ndarray) -> np.ndarray:
        """Return the ids, uint32, of a text whose pieces end at `ends` (int32, in bytes)."""
        ids = plain.encode_pieces(context, text, ends)
        if len(ids) < 2:
            return ids
        is_end = np.zeros(int(ends[-1]) + 1, bool)
        is_end[0] = True
        is_end[ends] = True
        ends_piece = is_end[np.cumsum(self._lengths[ids])]
        joins = self._joins[ids] & ends_piece
        joins[1:] &= ends_piece[:-1]
        row_ends = np.append(np.flatnonzero(~(joins[:-1] & joins[1:])) + 1, len(ids)).astype(np.int32)
        symbols, out = self._symbols(context)[ids], np.empty(len(ids), np.uint32)
        n_ids = native.merge_rows(context.address, self._parameters, symbols, row_ends, len(row_ends), out)
        return plain.shrunk(out, n_ids)

    def _symbols(self, context: Context) -> np.ndarray:
        """Return the symbol of each id, int32."""
        symbols = np.arange(len(self._lengths), dtype=np.int32)
        if len(ids := context.tables.ids):
            symbols[ids] = np.arange(len(ids), dtype=np.int32)
        return symbols


class EventEncoder(Slots):
    """Encodes pieces by replaying the events of a model; see `merge/replay`."""

    def __init__(self, model: Model) -> None:
        super().__init__(layout.EventsRecord)
        said = Events()
        last: dict[Event, int] = {}
        following = np.full(len(model.events), NONE, np.int32)
        firsts: list[tuple[Event, int]] = []
        after: list[tuple[int, ...]] = []
        for number, event in enumerate(model.events):
            if event in last:
                following[last[event]] = number
            else:
                firsts.append((event, number))
            last[event] = number
            after.append(said.remove(event[0]) if event[1] == REMOVED else (said.merge(event),))
        n_symbols = max(len(said.tokens), len(model.events))
        if n_symbols >= NONE:
            raise Unsupported("compiled", f"the model has {n_symbols:,} events; it replays {NONE - 1:,} at most")
        merges = np.array([(*pair, number) for pair, number in firsts if pair[1] != REMOVED], np.int64).reshape(-1, 3)
        rows = pair_rows(entries(*merges.T), n_symbols)
        removals = np.full(n_symbols, NONE, np.int32)
        for (symbol, right), number in firsts:
            if right == REMOVED:
                removals[symbol] = number
        for field, array in (
            ("pairs", rows.pairs),
            ("buckets", rows.buckets),
            ("handles", rows.handles),
            ("removals", removals),
            ("following", following),
            ("starts", np.cumsum([0, *map(len, after)], dtype=np.int32)),
            ("symbols", np.array([symbol for symbols in after for symbol in symbols], np.int32)),
            ("lengths", np.array(list(map(len, said.tokens)), np.int32)),
            ("ids", np.array([model.id_by_token.get(token, -1) for token in said.tokens], np.int32)),
        ):
            self.hold(field, array)

    def encode(self, context: Context, text: str, ends: np.ndarray) -> np.ndarray:
        """Return as `Joining.encode`; the text holds bytes that are not UTF-8 as surrogates (`surrogateescape`)."""
        data, n_bytes = plain.padded_utf8(text, "surrogateescape")
        out = np.empty(n_bytes + PAD_BYTES // 4, np.uint32)
        with native.reachable(*self.arrays):
            n_ids = native.encode_with_events(context.address, self.address, data, n_bytes, ends, len(ends), out)
        return plain.shrunk(out, n_ids)
