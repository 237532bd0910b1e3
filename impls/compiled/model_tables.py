"""What kernels need to know of a model: arrays, shared by all contexts."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

NUMBERS = ("n_symbols", "monotone", "unknown_symbol", "fuses_unknown", "first_is_other")
"""What `ModelTables.numbers` holds, by the names of `layout.ContextRecord`."""


@dataclass(frozen=True, slots=True)
class ModelTables:
    """Merging tables of a model, the initial entries of its cache, and what decoding needs.

    Each has the name of the field of `layout.ContextRecord` that points at it, but `numbers` and `whole_tokens`.
    """

    pairs: np.ndarray
    """int64: the pairs with the symbols they make, bucket by bucket, see `merge/pairs`."""
    buckets: np.ndarray
    """int64: the word of each bucket."""
    handles: np.ndarray
    """int32 by symbol: its row of buckets."""
    first_round: np.ndarray
    """int64 of shape (65536,)."""
    characters: np.ndarray
    """int64 of shape (65536,), see `merge/characters`; -1 throughout where merges are not monotone."""
    byte_symbols: np.ndarray
    """int32 of shape (256,)."""
    ids: np.ndarray
    """int32 by symbol; empty where symbols are ids."""
    spelling_pages: np.ndarray
    """uint16 of shape (0x4400,): page of each 64 code points; empty where bytes are the alphabet."""
    character_symbols: np.ndarray
    """int32 by page: the symbol of a character, or -1."""
    last_symbols: np.ndarray
    """int32 by page: its symbol where it ends a piece; empty where that is the same."""
    numbers: np.ndarray
    """int64, see NUMBERS."""
    token_bytes: np.ndarray
    """uint8: all decoded token bytes."""
    token_starts: np.ndarray
    """int64 of shape (n_ids + 1,): offset of a token in `token_bytes`; -1 - offset for an id no token has."""
    whole_tokens: np.ndarray
    """int32: ids of the tokens that whole pieces become although merging does not make them."""
    cache_tokens: np.ndarray
    """int32: tokens in the cache from the start, each the single id of its own bytes in `token_bytes`."""
    cache_rows: np.ndarray
    """int64 of shape (n, 4): the other entries in the cache from the start."""
    joins: np.ndarray
    """uint8: bitmap of the pairs of characters in tokens, see `joins`; empty where pieces are not cut into segments."""
    lone: np.ndarray
    """int64 of shape (65536, 2): the ids of each three-byte character alone, and bits of the ends of characters that a
    token may hold before it, see `joins`; empty as `joins`."""

    @property
    def n_symbols(self) -> int:
        """Number of symbols."""
        return int(self.numbers[0])

    @property
    def monotone(self) -> bool:
        """Whether every merge ranks after those that make its parts."""
        return bool(self.numbers[1])


HELD = tuple(field.name for field in fields(ModelTables) if field.name not in ("numbers", "whole_tokens"))
"""The tables that kernels reach by a field of the same name."""
