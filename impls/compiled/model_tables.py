"""Defines the tables of a model that kernels need: arrays, shared by all contexts."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

NUMBERS = ("n_symbols", "monotone", "unknown_symbol", "fuses_unknown")
"""The fields of `layout.ContextRecord` whose values `ModelTables.numbers` holds."""


@dataclass(frozen=True, slots=True)
class ModelTables:
    """Merging tables of a model, the initial entries of its cache, and the tables for decoding.

    Each, except `numbers` and `whole_tokens`, has the name of the field of `layout.ContextRecord` that points at it.
    """

    pairs: np.ndarray
    """int64: the pairs with the symbols they make, grouped by bucket; see `merge/pairs`."""
    buckets: np.ndarray
    """int64: the word of each bucket; see `merge/pairs`."""
    handles: np.ndarray
    """int32 by symbol: its handle, which identifies its row of buckets."""
    first_round: np.ndarray
    """int64 of shape (65536,), by first byte | second << 8; see `merge/first_round`."""
    characters: np.ndarray
    """int64 of shape (65536,), see `merge/characters`; all -1 if merges are not monotone."""
    byte_symbols: np.ndarray
    """int32 of shape (256,): the symbol of each byte."""
    ids: np.ndarray
    """int32 by symbol: its id; empty if symbols are ids."""
    spelling_pages: np.ndarray
    """uint16 of shape (0x4400,): the page of each 64 code points; empty if bytes are the alphabet."""
    character_symbols: np.ndarray
    """int32 of shape (n_pages * 64,): the symbol of a character, or -1; see `sentencepiece/spelling_tables`."""
    last_symbols: np.ndarray
    """As `character_symbols`, for a character that ends a piece; empty if there is no difference."""
    numbers: np.ndarray
    """int64: the values of NUMBERS."""
    token_bytes: np.ndarray
    """uint8: the decoded bytes of all tokens, one after another."""
    token_starts: np.ndarray
    """int64 of shape (n_ids + 1,): offset of a token in `token_bytes`; -1 - offset for an id that no token has."""
    whole_tokens: np.ndarray
    """int32: ids of the tokens that whole pieces become, although merging does not make them."""
    cache_tokens: np.ndarray
    """int32: tokens in the cache from the start, each the single id of its own bytes in `token_bytes`."""
    cache_rows: np.ndarray
    """int64 of shape (n, 4): the other entries in the cache from the start."""
    joins: np.ndarray
    """uint8: bitmap of the pairs of characters in tokens; empty if pieces are not cut into segments."""
    lone: np.ndarray
    """int64 of shape (65536, 2): the ids of each three-byte character alone, and bits of the ends of characters that a
    token may hold before it, see `merge/joins`; empty if `joins` is."""

    @property
    def n_symbols(self) -> int:
        """Return the number of symbols."""
        return int(self.numbers[0])

    @property
    def monotone(self) -> bool:
        """Return whether every merge ranks after those that make its parts."""
        return bool(self.numbers[1])


HELD = tuple(field.name for field in fields(ModelTables) if field.name not in ("numbers", "whole_tokens"))
"""The tables that kernels reach by a field of the same name."""
