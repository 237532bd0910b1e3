"""Wrong merging, made by rule: ranks and ids that are swapped or lost, other orders, cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, product
from string import ascii_lowercase

from harness.conform.vectors.steps import Merge, Merged, merger
from harness.printable import text_of
from impls.core.model.model import Model
from impls.greedy import Greedy

_N_OF_A_KIND = 30
_CUTS = (8, 16, 20, 31, 32, 64, 100, 127, 128, 255, 256, 512, 1000, 1023, 1024, 4095, 4096, 65_535, 65_536)
_BYTES = (0x00, 0x09, 0x1F, 0x20, 0x7F, 0x80, 0x9F, 0xA0, 0xAC, 0xBE, 0xC2, 0xDF, 0xE0, 0xEE, 0xF0, 0xF3, 0xFE)
_LONGEST_REORDERED = 200


def of_merging(model: Model, merge: Merge) -> Iterator[tuple[str, Merge]]:
    """Yield the changed merging of one piece."""
    yield "greedy longest match", Greedy(model).encode_piece
    yield "a whole piece is not looked up", merger(model, whole=False)
    yield "no merges", model.symbols
    yield "of equal ranks the rightmost first", _reordered(model, merge, lambda rank, at: (rank, -at))
    yield "the highest rank first", _reordered(model, merge, lambda rank, at: (-rank, at))
    yield "left to right, whatever the rank", _reordered(model, merge, lambda rank, at: (at, 0))
    for n in _CUTS:
        yield f"cut after {n:,} characters", partial(_cut, merge, n)
        yield f"lost after {n:,} characters", partial(_begun, merge, n)
    for name, ids in renamings(model):
        yield name, partial(_renamed, merge, ids)
    where = _where(model, merge)
    for i in chosen_ids(model):
        yield f"id {i} lost", where(_without(model, i), {i})
    for text, (first, last) in overlapping(model).items():
        swapped = {first[1]: last[0], last[1]: first[0]}
        changed = where(merger(model, partial(_with_ranks, swapped)), set(swapped))
        yield f"ranks of {text[:2]!a} and {text[1:]!a} swapped", changed


def _cut(merge: Merge, n: int, piece: str) -> list[int]:
    return [i for k in range(0, len(piece), n) for i in merge(piece[k : k + n])]


def _begun(merge: Merge, n: int, piece: str) -> Sequence[int]:
    return merge(piece[:n])


def _renamed(merge: Merge, ids: dict[int, int], piece: str) -> list[int]:
    return [ids.get(i, i) for i in merge(piece)]


def _with_ranks(ranks: dict[int, int], merged: Merged) -> Merged:
    return merged and (ranks.get(merged[1], merged[0]), merged[1])


def renamings(model: Model) -> Iterator[tuple[str, dict[int, int]]]:
    """Yield ids taken for others: neighbouring bytes and tokens swapped, and cut to 16 or 17 bits."""
    chosen = chosen_ids(model)
    pairs = [*pairwise([*chosen, *chosen[:1]])]
    if model.alphabet == "bytes":
        pairs += [(model.id_by_token[bytes([byte])], model.id_by_token[bytes([byte + 1])]) for byte in _BYTES]
    for i, other in pairs:
        yield f"ids {i} and {other} swapped", {i: other, other: i}
    for n in (1 << 16, 1 << 17):
        if model.vocab_size > n:
            yield f"ids modulo {n:,}", {i: i % n for i in range(n, model.vocab_size)}


def _where(model: Model, merge: Merge) -> Callable[[Merge, set[int]], Merge]:
    """Return a function that restricts a changed merging to pieces in which one of some tokens may be merged."""
    met: set[int] = set()

    def note(merged: Merged) -> Merged:
        met.update(merged[1:] if merged else ())
        return merged

    noting = merger(model, note)

    @cache
    def considered(piece: str) -> frozenset[int]:
        met.clear()
        return frozenset([*noting(piece), *met])

    return lambda changed, tokens: (
        lambda piece: merge(piece) if tokens.isdisjoint(considered(piece)) else changed(piece)
    )


def _without(model: Model, lost: int) -> Merge:
    def change(merged: Merged) -> Merged:
        return None if merged is not None and merged[1] == lost else merged

    merge, merge_parts = merger(model, change), merger(model, change, whole=False)
    return lambda piece: (merge_parts if model.whole_piece(piece) == lost else merge)(piece)


def _reordered(model: Model, merge: Merge, order: Callable[[int, int], tuple[int, int]]) -> Merge:
    """Return a function that merges the first in another order of rank and place; long pieces are merged rightly."""

    def changed(piece: str) -> list[int]:
        ids = model.symbols(piece)
        if model.whole_piece(piece) is not None or len(ids) > _LONGEST_REORDERED:
            return [*merge(piece)]
        while merges := [
            (order(m[0], at), at, m[1]) for at, pair in enumerate(pairwise(ids)) if (m := model.merge_of(*pair))
        ]:
            _, at, merged = min(merges)
            ids[at : at + 2] = [merged]
        return ids

    return changed


def chosen_ids(model: Model) -> list[int]:
    """Return ids spread over the vocabulary, the last among them, of learned tokens that are texts."""
    special = set(model.whole_token_ids.values())
    tokens = enumerate(model.tokens)
    ids = [i for i, token in tokens if token and len(token) > 1 and text_of(token) and i not in special]
    return [ids[k * (len(ids) - 1) // (_N_OF_A_KIND - 1)] for k in range(_N_OF_A_KIND)] if len(ids) > 1 else ids


def overlapping(model: Model) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Return texts of three letters, spread over the ranks, with the merges of their first two and of their last two.

    The lower rank decides; the three are not a token.
    """
    ids = {letter: i for letter in ascii_lowercase if (i := model.id_by_token.get(letter.encode())) is not None}
    merges = {a + b: merged for a, b in product(ids, repeat=2) if (merged := model.merge_of(ids[a], ids[b]))}
    texts = {
        pair + letter: (merged, merges[pair[1] + letter])
        for (pair, merged), letter in product(merges.items(), ids)
        if pair[1] + letter in merges.keys() - {pair} and (pair + letter).encode() not in model.id_by_token
    }
    ordered = sorted(texts, key=lambda text: (min(texts[text]), text))
    return {text: texts[text] for text in ordered[:: max(1, len(ordered) // _N_OF_A_KIND)]}
