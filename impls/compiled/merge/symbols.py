"""Numbers the symbols of a model so that the order of the numbers is the order of merging.

A merge makes a symbol, and the symbol is the merge's rank. If ids are in rank order a symbol is simply its id. Of
several merges that make a token only one is ever used, see `possible_merges`. Pure NumPy and Python.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from impls.compiled.layout import NONE, SYMBOL_BITS
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.derivations import spellings
from impls.core.model.merging import merged


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols of a model and the merges between them."""

    merges: np.ndarray
    """int64, one entry `(left << 21 | right) << 21 | symbol` per pair; the pairs are distinct."""
    byte_symbols: np.ndarray
    """int32 of shape (256,): the symbol of each byte."""
    ids: np.ndarray | None
    """int32 by symbol: its id; None if symbols are ids."""
    n_symbols: int
    monotone: bool
    """Whether every merge ranks after those that make its parts."""


def blob_of(model: Model) -> tuple[bytes, np.ndarray]:
    """Return all tokens' bytes in id order, and the offset of each: int64 of shape (n_tokens + 1,)."""
    packed = model.packed()
    lengths = np.frombuffer(packed.lengths, packed.lengths.format)
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return bytes(packed.blob), starts


def from_parts(model: Model, lefts: np.ndarray, rights: np.ndarray) -> Symbols:
    """Return the symbols of a rank file, from the two parts (ids, or -1) of each token."""
    results = np.flatnonzero(lefts >= 0)
    _refuse_many(len(model.tokens), "ids")
    return Symbols(
        merges=entries(lefts[results].astype(np.int64), rights[results].astype(np.int64), results),
        byte_symbols=byte_ids(model),
        ids=None,
        n_symbols=len(model.tokens),
        monotone=_is_monotone(lefts, rights, results),
    )


def _is_monotone(lefts: np.ndarray, rights: np.ndarray, results: np.ndarray) -> bool:
    """Return whether every merge ranks after those that make its parts; parts that are bytes may have any id."""
    low = np.where(lefts >= 0, np.arange(len(lefts)), -1)
    return bool((low[lefts[results]] < results).all() and (low[rights[results]] < results).all())


def from_merges(model: Model) -> Symbols:
    """Return the symbols of a byte-level model with a list of merges."""
    pairs, results = possible_merges(model)
    bytes_ = byte_ids(model)
    if bool((np.diff(results) > 0).all()):
        _refuse_many(len(model.tokens), "ids")
        symbol_of = np.full(len(model.tokens), -1, np.int64)
        symbol_of[results] = results
        monotone = bool((symbol_of[pairs[:, 0]] < results).all() and (symbol_of[pairs[:, 1]] < results).all())
        return Symbols(entries(pairs[:, 0], pairs[:, 1], results), bytes_, None, len(model.tokens), monotone)
    return renumbered(pairs, results, bytes_)


def listed_merges(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct merges (left id, right id), of shape (n, 2), and the ids they make, in rank order."""
    pairs = np.frombuffer(model.packed().parts.merges, np.uint32).astype(np.int64).reshape(-1, 2)
    n = len(pairs)
    results = np.fromiter(model.merge_results, np.int64, n)
    ranks = np.arange(n)
    # If a pair is listed twice, the later rank counts.
    _, last = np.unique(_keys(pairs[::-1]), return_index=True)
    if len(last) != n:
        ranks = np.sort(n - 1 - last)
    return pairs[ranks], results[ranks]


def _keys(pairs: np.ndarray) -> np.ndarray:
    keys: np.ndarray = pairs[:, 0] << SYMBOL_BITS | pairs[:, 1]
    return keys


class _Ranks:
    """The ranks of distinct pairs of ids, which are given in the order of their ranks."""

    def __init__(self, pairs: np.ndarray) -> None:
        keys = _keys(pairs)
        self._ranks = np.argsort(keys)
        self._keys = keys[self._ranks]
        self._view = self._keys.data

    def of(self, left: int, right: int) -> int | None:
        """Return the rank of a pair, or None."""
        key = left << SYMBOL_BITS | right
        at = bisect_left(self._view, key)
        return int(self._ranks[at]) if at < len(self._view) and self._view[at] == key else None

    def of_all(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the rank of each pair; the number of all for one without."""
        wanted = left << SYMBOL_BITS | right
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[at] == wanted, self._ranks[at], len(self._keys))


def possible_merges(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return `listed_merges` without the merges that never happen: of several that make a token, all but one.

    Merges inside a stretch of text happen in the same order whatever is around it, until one crosses its boundary (see
    `merge/piece`). So a token is always made by the merge that completes it when its own symbols are merged. A token
    that may begin from different symbols (its text ends in `end_of_word`) keeps one merge for each.
    """
    pairs, results = listed_merges(model)
    several = np.flatnonzero(np.bincount(results) > 1)
    if not len(several) or (model.unknown_id is not None and bool((pairs == model.unknown_id).any())):
        return pairs, results
    ranks = _Ranks(pairs)

    def merge_of(left: int, right: int) -> tuple[int, int] | None:
        rank = ranks.of(left, right)
        return None if rank is None else (rank, int(results[rank]))

    def last_merges(i: int) -> Iterator[int]:
        for symbols in spellings(model, model.tokens[i] or b""):
            left, last = merged(symbols, merge_of)
            if left == [i] and last >= 0:
                yield last

    if model.end_of_word is not None:
        completing = np.fromiter((last for i in several.tolist() for last in last_merges(i)), np.int64)
    else:
        completing = _completing(model, pairs, results, ranks, last_merges)
    possible = ~np.isin(results, several)
    possible[completing] = True
    return pairs[possible], results[possible]


def _completing(
    model: Model,
    pairs: np.ndarray,
    results: np.ndarray,
    ranks: _Ranks,
    last_merges: Callable[[int], Iterable[int]],
) -> np.ndarray:
    """Return the merges that complete their token when its own symbols are merged.

    Tokens are shorter than those they make, so all merges that make tokens of one length are tried at once. Where both
    parts are made by merges in the order of their ranks, a merge completes its token unless two symbols merge across
    its middle before. So the merges of the parts are undone, the latest first: two symbols that met at the middle would
    have merged if their pair ranks before the merge that was undone last. Other tokens are merged, by `last_merges`.
    """
    n = len(model.tokens)
    in_characters = model.alphabet == "chars"
    lengths = np.array([len(token.decode() if in_characters else token) if token else 0 for token in model.tokens])
    reached, in_order, made_by = lengths == 1, np.ones(n, bool), np.full(n, -1)
    parts = np.zeros((2, n), np.int64)
    completing: list[np.ndarray] = []
    by_length = np.argsort(lengths[results], kind="stable")
    for tried in np.split(by_length, np.flatnonzero(np.diff(lengths[results][by_length])) + 1):
        tried = tried[reached[pairs[tried]].all(axis=1)]
        others = np.unique(results[tried[~in_order[pairs[tried]].all(axis=1)]])
        tried = tried[~np.isin(results[tried], others)]
        at, before = np.arange(len(tried)), tried
        left, right = pairs[tried].T
        fails = np.zeros(len(tried), bool)
        while len(at):
            crosses = ranks.of_all(left, right) < before
            fails[at[crosses]] = True
            on = ~crosses & ((made_by[left] >= 0) | (made_by[right] >= 0))
            at, left, right = at[on], left[on], right[on]
            undoes_left = made_by[left] > made_by[right]
            # Of equal ranks the leftmost merges first: one in the left part, but not one in the right part.
            before = np.where(undoes_left, made_by[left], made_by[right] + 1)
            left, right = np.where(undoes_left, parts[1][left], left), np.where(undoes_left, right, parts[0][right])
        by_definition = [last for i in others.tolist() for last in last_merges(i)]
        last = np.concatenate((tried[~fails], np.array(by_definition, np.int64)))
        tokens, halves = results[last], pairs[last]
        in_order[tokens] = in_order[halves].all(axis=1) & (made_by[halves] < last[:, None]).all(axis=1)
        reached[tokens], made_by[tokens], parts[:, tokens] = True, last, halves.T
        completing.append(last)
    return np.concatenate(completing)


def renumbered(pairs: np.ndarray, results: np.ndarray, base_ids: np.ndarray) -> Symbols:
    """Return symbols numbered so that the base ids (say, of the bytes) come first, in order, then merges by rank."""
    ids = np.concatenate((base_ids, results)).astype(np.int32)
    _refuse_many(len(ids), "base symbols and merges")
    # The symbols of a token are a slice of `by_token`. Tokens count from 1; of equal base ids the last one stands.
    tokens, base = ids + 1, np.arange(len(base_ids))
    n_tokens = max(int(tokens.max(initial=0)), int(pairs.max(initial=0)) + 1) + 1
    last = np.zeros(n_tokens, np.int64)
    np.maximum.at(last, tokens[base], base)
    tokens[base[last[tokens[base]] != base]] = 0
    by_token, n_symbols = np.argsort(tokens, kind="stable"), np.bincount(tokens, minlength=n_tokens)
    begins = np.cumsum(n_symbols) - n_symbols
    left, right = pairs.T + 1
    # A part that no merge makes never occurs in a text.
    n_ways = n_symbols[left] * n_symbols[right]
    _refuse_many(int(n_ways.sum()), "merges between symbols, several for a token that begins from different characters")
    rank = np.repeat(np.arange(len(pairs)), n_ways)
    way = np.arange(len(rank)) - (np.cumsum(n_ways) - n_ways)[rank]
    left, right = left[rank], right[rank]
    lefts = by_token[begins[left] + way // n_symbols[right]]
    rights = by_token[begins[right] + way % n_symbols[right]]
    symbols = len(base_ids) + rank
    monotone = bool((np.maximum(lefts, rights) < symbols).all())
    return Symbols(entries(lefts, rights, symbols), np.arange(256, dtype=np.int32), ids, len(ids), monotone)


def entries(lefts: np.ndarray, rights: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """Return the merges as `Symbols.merges` holds them."""
    packed: np.ndarray = ((lefts << SYMBOL_BITS) | rights) << SYMBOL_BITS | symbols
    return packed


def byte_ids(model: Model) -> np.ndarray:
    """Return the ids of the 256 bytes: int32 of shape (256,)."""
    ids = model.id_by_token
    return np.array([ids[bytes([byte])] for byte in range(256)], np.int32)


def _refuse_many(n: int, counted: str) -> None:
    if n >= NONE:
        raise Unsupported("compiled", f"the model has {n:,} {counted}; its tables hold {NONE - 1:,} at most")
