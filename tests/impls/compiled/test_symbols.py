"""Of several merges that make a token, those that never happen are left out of the tables."""

from __future__ import annotations

from collections import Counter
from random import Random

from impls import Model
from impls.compiled.merge.symbols import possible_merges
from impls.core.model.derivations import spellings
from impls.core.model.merging import merged


def a_model_that_lists_several_merges_a_token(rng: Random) -> Model:
    """Tokens of a few letters, each made by several merges, some of which rank before those that make their parts."""
    chars = rng.random() < 0.4
    letters = [letter.encode() for letter in rng.choice(("a", "ab", "abc", "abcd"))]
    made: list[bytes] = []
    for _ in range(rng.randint(1, 16)):
        token = rng.choice(letters + made) + rng.choice(letters + made)
        made += [token] if token not in made and len(token) < 12 else []
    if rng.random() < 0.5:
        rng.shuffle(made)
    tokens = [*(letters if chars else (bytes([byte]) for byte in range(256))), *made]
    ids = {token: i for i, token in enumerate(tokens)}
    cuts = [(token[:k], token[k:]) for token in made for k in rng.sample(range(1, len(token)), len(token) - 1)]
    merges = [(ids[left], ids[right]) for left, right in cuts if left in ids and right in ids and rng.random() < 0.9]
    if rng.random() < 0.3:
        rng.shuffle(merges)
    return Model(tokens=tuple(tokens), merges=tuple(merges), alphabet="chars" if chars else "bytes")


def test_merges_that_never_happen_are_left_out(fuzz: int) -> None:
    rng = Random("possible merges")
    for _ in range(600 * fuzz):
        model = a_model_that_lists_several_merges_a_token(rng)
        kept = set(map(tuple, possible_merges(model)[0].tolist()))
        made = Counter(model.merge_results)
        for rank, (pair, i) in enumerate(zip(model.merges, model.merge_results, strict=True)):
            (symbols,) = spellings(model, model.tokens[i] or b"")
            assert (pair in kept) == (made[i] == 1 or merged(symbols, model.merge_of) == ([i], rank)), model.merges
