"""Wrong merging, made by rule: ranks and ids that are swapped or lost, other orders, cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from string import ascii_lowercase

from harness.conform.vectors.steps import Merge, MergeAll, Merged, Steps, merger, remembering
from harness.generators.texts import text_of
from impls.core.model.model import Model
from impls.greedy import Greedy

# --- merging ---------------------------------------------------------------------------------------------------

_N_OF_A_KIND = 30
_CUTS = (8, 16, 20, 31, 32, 64, 100, 127, 128, 255, 256, 512, 1000, 1023, 1024, 4095, 4096, 65_535, 65_536)
BYTES = (0x00, 0x09, 0x1F, 0x20, 0x7F, 0x80, 0x9F, 0xA0, 0xAC, 0xBE, 0xC2, 0xDF, 0xE0, 0xEE, 0xF0, 0xF3, 0xFE)


def _where(model: Model, merge: MergeAll) -> Callable[[Merge, set[int]], Merge]:
    """Return a function that restricts a changed merging to pieces in which one of some tokens may be merged."""
    met: set[int] = set()

    def note(merged: Merged) -> Merged:
        if merged is not None:
            met.add(merged[1])
        return merged

    merge_noting = merger(model, note)

    def considered(piece: str) -> list[int]:
        met.clear()
        return [*met.union(merge_noting(piece))]

    tokens_of = remembering(considered)
    return lambda changed, tokens: (
        lambda piece: merge([piece]) if tokens.isdisjoint(tokens_of(piece)) else changed(piece)
    )


def of_merging(model: Model, right: Steps) -> Iterator[tuple[str, Merge]]:
    """Yield the changed merging of one piece."""
    merge, where = right.merged, _where(model, right.merged)
    yield "greedy longest match", Greedy(model).encode_piece
    yield "a whole piece is not looked up", merger(model, whole=False)
    yield "no merges", model.symbols
    yield "of equal ranks the rightmost first", _choosing(model, merge, lambda rank, at: (rank, -at))
    yield "the highest rank first", _choosing(model, merge, lambda rank, at: (-rank, at))
    yield "left to right, whatever the rank", _choosing(model, merge, lambda rank, at: (at, 0))
    for n in _CUTS:
        yield f"cut after {n:,} characters", partial(_cut, merge, n)
        yield f"lost after {n:,} characters", partial(_begun, merge, n)
    for byte in BYTES if model.alphabet == "bytes" else ():
        swap = dict(zip(ids := [model.id_by_token[bytes([byte + k])] for k in (0, 1)], ids[::-1], strict=True))
        yield f"bytes {byte:#04x} and {byte + 1:#04x} swapped", _renamed(merge, swap)
    for n in (16, 17):
        if model.vocab_size > 1 << n:
            yield f"ids of {n} bits", partial(_of_bits, merge, n)
    chosen = chosen_ids(model)
    for i, after in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        yield f"id {i} lost", where(_without(model, i), {i})
        yield f"ids {i} and {after} swapped", _renamed(merge, {i: after, after: i})
    for text, (one, other) in overlapping(model).items():
        swapped = {one[1]: other[0], other[1]: one[0]}
        name = f"ranks of {text[:2]!a} and {text[1:]!a} swapped"
        yield name, where(merger(model, _with_ranks(swapped)), set(swapped))


def _cut(merge: MergeAll, n: int, piece: str) -> list[int]:
    return merge([piece[k : k + n] for k in range(0, len(piece), n)])


def _begun(merge: MergeAll, n: int, piece: str) -> list[int]:
    return merge([piece[:n]])


def _of_bits(merge: MergeAll, n: int, piece: str) -> list[int]:
    return [i % (1 << n) for i in merge([piece])]


def _renamed(merge: MergeAll, ids: dict[int, int]) -> Merge:
    return lambda piece: [ids.get(i, i) for i in merge([piece])]


def _without(model: Model, lost: int) -> Merge:
    def change(merged: Merged) -> Merged:
        return None if merged is not None and merged[1] == lost else merged

    merge, merge_parts = merger(model, change), merger(model, change, whole=False)
    return lambda piece: (merge_parts if model.whole_piece(piece) == lost else merge)(piece)


def _with_ranks(ranks: dict[int, int]) -> Callable[[Merged], Merged]:
    return lambda merged: merged and (ranks.get(merged[1], merged[0]), merged[1])


_LONGEST_CHOSEN = 200


def _choosing(model: Model, merge: MergeAll, order: Callable[[int, int], tuple[int, int]]) -> Merge:
    """Return a function that merges the first in another order of rank and place; long pieces are merged rightly."""

    def changed(piece: str) -> list[int]:
        ids = model.symbols(piece)
        if model.whole_piece(piece) is not None or len(ids) > _LONGEST_CHOSEN:
            return merge([piece])
        while True:
            pairs = enumerate(pairwise(ids))
            options = [(order(found[0], at), at, found[1]) for at, pair in pairs if (found := model.merge_of(*pair))]
            if not options:
                return ids
            _, at, made = min(options)
            ids[at : at + 2] = [made]

    return changed


def chosen_ids(model: Model) -> list[int]:
    """Return ids spread over the vocabulary, the last among them, of learned tokens that are texts."""
    special = set(model.whole_token_ids.values())
    ids = [
        i for i, token in enumerate(model.tokens) if token and len(token) > 1 and text_of(token) and i not in special
    ]
    return [ids[k * (len(ids) - 1) // (_N_OF_A_KIND - 1)] for k in range(_N_OF_A_KIND)] if len(ids) > 1 else ids


def overlapping(model: Model) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Return texts of three letters, spread over the ranks, with the merges of their first two and of their last two.

    The lower rank decides; the three are no token.
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
