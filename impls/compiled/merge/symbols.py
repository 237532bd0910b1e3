"""Numbers the symbols of a model so that the order of the numbers is the order of merging.

A merge makes a symbol, and the symbol is the merge's rank. If ids are in rank order a symbol is simply its id. Of
several merges that make a token only one is ever used, see `possible_merges`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from impls.compiled.codegen.native import native
from impls.compiled.layout import LONGEST_DERIVED, NONE, SYMBOL_BITS
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.derivations import spellings
from impls.core.model.merging import merged
from impls.core.pattern.classes import N_CODE_POINTS


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
    bytes_, n_ids = byte_ids(model), len(model.packed().lengths)
    if bool((np.diff(results) > 0).all()):
        _refuse_many(n_ids, "ids")
        symbol_of = np.full(n_ids, -1, np.int64)
        symbol_of[results] = results
        monotone = bool((symbol_of[pairs[:, 0]] < results).all() and (symbol_of[pairs[:, 1]] < results).all())
        return Symbols(entries(pairs[:, 0], pairs[:, 1], results), bytes_, None, n_ids, monotone)
    return renumbered(pairs, results, bytes_)


def possible_merges(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the merges (left id, right id), of shape (n, 2), and the ids they make, in rank order, without the merges
    that never happen: of several that make a token, all but one.

    Merges inside a stretch of text happen in the same order whatever is around it, until one crosses its boundary (see
    `merge/piece`). So a token is always made by the merge that completes it when its own symbols are merged. A token
    that may begin from different symbols (its text ends in `end_of_word`) keeps one merge for each.
    """
    listed = np.frombuffer(model.packed().parts.merges, np.uint32)
    keys, pairs = listed.view(np.int64), listed.astype(np.int64).reshape(-1, 2)
    results = np.frombuffer(model.packed().parts.results, np.int32)
    n_ways = np.bincount(results)
    possible = n_ways[results] == 1
    if model.unknown_id is None or not (pairs == model.unknown_id).any():
        if len(several := np.flatnonzero(n_ways > 1)):
            possible[_completing(model, keys, results, several)] = True
    else:
        # Unknown parts of a token do not show in its text. Of a pair listed twice the later rank counts.
        possible[len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]] = True
    return pairs[possible], results[possible].astype(np.int64)


def _completing(model: Model, keys: np.ndarray, results: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the merges that complete each of `tokens` when its own symbols are merged; `keys` as in `last_merges`."""
    if model.end_of_word is None:
        blob, starts = blob_of(model)
        sizes = np.diff(starts)[tokens]
        places = np.arange(sizes.sum()) + np.repeat(starts[tokens] - (np.cumsum(sizes) - sizes), sizes)
        written = np.frombuffer(blob, np.uint8)[places]
        if model.alphabet == "bytes":
            symbols = byte_ids(model)[written]
        else:
            before, ends = characters_before(written), np.cumsum(sizes)
            sizes = before[ends] - before[ends - sizes]
            inner, ids = model.derived(single_characters)[0], np.full(N_CODE_POINTS, -1, np.int32)
            ids[list(map(ord, inner))] = list(inner.values())
            symbols = ids[np.frombuffer(written.tobytes().decode("utf-8", "replace").encode("utf-32-le"), np.uint32)]
    else:
        spelled = [(i, way) for i in tokens.tolist() for way in spellings(model, model.tokens[i] or b"")]
        tokens, sizes = np.array([(i, len(way)) for i, way in spelled], np.int64).reshape(-1, 2).T
        symbols = np.fromiter(chain.from_iterable(way for _, way in spelled), np.int32, sizes.sum())
    ends, bits = np.cumsum(sizes), (2 * len(keys) + 2).bit_length()
    table, last = np.full(1 << bits, -1, np.int32), tokens.astype(np.int32)
    own, scratch = symbols.copy(), np.empty(LONGEST_DERIVED, np.int32)
    native.last_merges(keys, len(keys), results, table, 64 - bits, own, ends, len(last), last, scratch)
    for k in np.flatnonzero(sizes > LONGEST_DERIVED).tolist():
        made, rank = merged(symbols[ends[k] - sizes[k] : ends[k]].tolist(), model.merge_of)
        last[k] = rank if made == [tokens[k]] else -1
    return last[last >= 0]


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
    blob, starts = blob_of(model)
    ids, single = np.zeros(256, np.int32), np.flatnonzero(np.diff(starts) == 1)
    ids[np.frombuffer(blob, np.uint8)[starts[single]]] = single
    return ids


def _refuse_many(n: int, counted: str) -> None:
    if n >= NONE:
        raise Unsupported("compiled", f"the model has {n:,} {counted}; its tables hold {NONE - 1:,} at most")


def characters_before(data: bytes | np.ndarray) -> np.ndarray:
    """Return how many characters of UTF-8 begin before each byte, and in all: int64 of shape (n_bytes + 1,)."""
    return np.append(0, np.cumsum(np.frombuffer(data, np.uint8) & 0xC0 != 0x80))


def single_characters(model: Model) -> tuple[dict[str, int], dict[str, int]]:
    """Return the ids of characters inside a piece, and at its end.

    Both are the same dictionary if there is no difference.
    """
    blob, starts = blob_of(model)
    n_characters = np.diff(characters_before(blob)[starts])

    def of(n: int) -> dict[str, int]:
        alone = np.flatnonzero(n_characters == n).tolist()
        return {blob[starts[i] : starts[i + 1]].decode("utf-8", "replace"): i for i in alone}

    inner = of(1)
    if model.end_of_word is None:
        return inner, inner
    n, suffix = 1 + len(model.end_of_word), model.end_of_word
    return inner, {text[0]: i for text, i in of(n).items() if text.endswith(suffix)}
