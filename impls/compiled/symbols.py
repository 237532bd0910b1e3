"""From a model to symbols: numbers in which the order of merging is the order of the numbers.

A merge makes a symbol, and the symbol is the merge's rank. Where every token has one merge and ids are in rank order
a symbol is simply its id; a token that several merges make has a symbol for each. Pure NumPy and Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from impls.compiled.layout import NONE, SYMBOL_BITS
from impls.errors import Unsupported
from impls.model import Model


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols of a model and the merges between them."""

    merges: np.ndarray
    """int64, one entry `(left << 21 | right) << 21 | symbol` per pair, pairs distinct."""
    byte_symbols: np.ndarray
    """int32 of shape (256,)."""
    ids: np.ndarray | None
    """int32 by symbol: its id; None where symbols are ids."""
    n_symbols: int
    monotone: bool
    """Every merge ranks after those that make its parts."""


def blob_of(model: Model) -> tuple[bytes, np.ndarray]:
    """All tokens' bytes in id order, and where each begins: int64 of shape (n_tokens + 1,)."""
    packed = model.packed()
    lengths = np.frombuffer(packed.lengths, packed.lengths.format)
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return bytes(packed.blob), starts


def from_parts(model: Model, lefts: np.ndarray, rights: np.ndarray) -> Symbols:
    """Symbols of a rank file, from the two parts (ids, or -1) of each token."""
    made = np.flatnonzero(lefts >= 0)
    _refuse_many(len(model.tokens))
    return Symbols(
        merges=_entries(lefts[made].astype(np.int64), rights[made].astype(np.int64), made),
        byte_symbols=_byte_ids(model),
        ids=None,
        n_symbols=len(model.tokens),
        monotone=_is_monotone(lefts, rights, made),
    )


def _is_monotone(lefts: np.ndarray, rights: np.ndarray, made: np.ndarray) -> bool:
    """Whether parts that are themselves made rank lower; bytes may have any id."""
    low = np.where(lefts >= 0, np.arange(len(lefts)), -1)
    return bool((low[lefts[made]] < made).all() and (low[rights[made]] < made).all())


def from_merges(model: Model) -> Symbols:
    """Symbols of a model of bytes with a list of merges."""
    pairs, results = listed_merges(model)
    bytes_ = _byte_ids(model)
    if bool((np.diff(results) > 0).all()):
        _refuse_many(len(model.tokens))
        made = np.full(len(model.tokens), -1, np.int64)
        made[results] = results
        monotone = bool((made[pairs[:, 0]] < results).all() and (made[pairs[:, 1]] < results).all())
        return Symbols(_entries(pairs[:, 0], pairs[:, 1], results), bytes_, None, len(model.tokens), monotone)
    return renumbered(pairs, results, bytes_)


def listed_merges(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(left id, right id) of shape (n, 2) and the id they make, in rank order, pairs distinct."""
    n = len(model.merges)
    pairs = np.fromiter(chain.from_iterable(model.merges), np.int64, 2 * n).reshape(-1, 2)
    results = np.fromiter(model.merge_results, np.int64, n)
    ranks = np.arange(n)
    # Of a pair that is listed twice the later rank counts.
    last = {(int(left), int(right)): rank for rank, (left, right) in enumerate(pairs.tolist())}
    if len(last) != n:
        ranks = np.fromiter(last.values(), np.int64, len(last))
        ranks.sort()
    return pairs[ranks], results[ranks]


def renumbered(pairs: np.ndarray, results: np.ndarray, base_ids: np.ndarray) -> Symbols:
    """Symbols are the base ids in order (the 256 bytes, say), then one per merge in rank order."""
    n_base = len(base_ids)
    symbols_of: dict[int, list[int]] = {token: [symbol] for symbol, token in enumerate(base_ids.tolist())}
    for rank, token in enumerate(results.tolist()):
        symbols_of.setdefault(token, []).append(n_base + rank)
    lefts: list[int] = []
    rights: list[int] = []
    made: list[int] = []
    monotone = True
    for rank, (left, right) in enumerate(pairs.tolist()):
        # A part no merge makes never occurs.
        for a in symbols_of.get(left, ()):
            for b in symbols_of.get(right, ()):
                lefts.append(a)
                rights.append(b)
                made.append(n_base + rank)
                monotone = monotone and a < n_base + rank and b < n_base + rank
        _refuse_many(len(made))
    ids = np.concatenate((base_ids, results)).astype(np.int32)
    return Symbols(
        _entries(np.array(lefts, np.int64), np.array(rights, np.int64), np.array(made, np.int64)),
        np.arange(256, dtype=np.int32),
        ids,
        len(ids),
        monotone,
    )


def _entries(lefts: np.ndarray, rights: np.ndarray, made: np.ndarray) -> np.ndarray:
    entries: np.ndarray = ((lefts << SYMBOL_BITS) | rights) << SYMBOL_BITS | made
    return entries


def _byte_ids(model: Model) -> np.ndarray:
    ids = model.id_by_token
    return np.array([ids[bytes([byte])] for byte in range(256)], np.int32)


def _refuse_many(n: int) -> None:
    if n >= NONE:
        raise Unsupported("compiled", f"the model has more than {NONE} tokens or merges")
