"""Tokens against the size of a vocabulary, exactly, from one model.

Training learns merges one after another, so the first k merges of a vocabulary are the vocabulary trained to k merges.
Encoding applies the lowest rank first: with k merges a piece goes through the same steps up to the first one of rank k
or more. So each distinct piece is merged once, and the ranks of its steps give its length at every size.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np

from impls.core.model.merging import merging
from impls.core.model.model import Model
from impls.core.text.text import repair_surrogates


def vocabulary_curve(model: Model, documents: Iterable[str], sizes: Sequence[int], n_groups: int) -> np.ndarray:
    """Return the tokens of documents, each encoded separately, under the first `sizes` merges of `model`.

    The result is int64 of shape (n_groups, n_sizes): document i, empty ones left out, belongs to group i modulo
    `n_groups`, so that memory grows with the distinct pieces of the text, not with its length. Special tokens in the
    text are read as ordinary text. Raise `UnknownSymbol` for a character outside the alphabet.

    Merges a+b (rank 0), ab+c (rank 1), "abc ab":    0: a b c _ a b    1: ab c _ ab    2: abc _ ab
    """
    lengths: dict[str, np.ndarray] = {}
    n_tokens = np.zeros((n_groups, len(sizes)), np.int64)
    for i, document in enumerate(filter(None, documents)):
        if times := Counter(model.splitter.split(model.normalize(repair_surrogates(document)))):
            lengths |= {piece: _lengths(model, piece, sizes) for piece in times.keys() - lengths.keys()}
            n_tokens[i % n_groups] += np.array([*times.values()]) @ np.stack([lengths[piece] for piece in times])
    return n_tokens


def _lengths(model: Model, piece: str, sizes: Sequence[int]) -> np.ndarray:
    """Return the number of tokens of a piece under the first `sizes` merges.

    A step after one of higher rank requires the merges up to that one too, so the numbers required ascend.
    """
    symbols = model.symbols(piece)
    n_symbols = len(symbols)
    required = [rank + 1 for rank in accumulate(merging(symbols, model.merge_of), max)]
    return np.array([n_symbols - bisect_right(required, size) for size in sizes], np.int32)
