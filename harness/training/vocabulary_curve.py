"""Bytes per token against the size of a vocabulary, exactly and at every size, from one model.

Training learns merges one after another, so the first k merges of a vocabulary are the vocabulary trained to k merges.
Encoding applies the lowest rank first: with k merges a piece goes through the same steps up to the first one of rank k
or more. So each distinct piece is merged once, and the ranks of its steps give its length at every size.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from impls.core.model.merging import merging
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates


@dataclass(frozen=True, slots=True)
class Curve:
    """The tokens of a text under the first k merges of a model, for every k."""

    n_documents: int
    n_bytes: np.ndarray
    """UTF-8 bytes by group of documents: int64 of shape (n_groups,)."""
    n_tokens: np.ndarray
    """Tokens of all documents by number of merges: int64 of shape (n_merges + 1,)."""
    sizes: Sequence[int]
    """Numbers of merges that are also counted by group, for intervals."""
    n_tokens_by_group: np.ndarray
    """Tokens at `sizes`: int64 of shape (n_groups, n_sizes)."""


def vocabulary_curve(
    model: Model, documents: Iterable[str], sizes: Sequence[int] = (), n_groups: int | None = None
) -> Curve:
    """Return the curve of `model`, as training gives it, over documents that are each encoded separately.

    Document i belongs to group i modulo `n_groups`; without it, each is a group of its own. With groups memory grows
    with the distinct pieces of the text, not with its length. Special tokens in the text are read as ordinary text.
    Raise `UnknownSymbol` for a character outside the alphabet.

    Merges a+b (rank 0), ab+c (rank 1), "abc ab":    0: a b c _ a b    1: ab c _ ab    2: abc _ ab
    """
    splitter = Splitter(model.pattern)
    number_of: dict[str, int] = {}
    n_symbols, n_steps, needed = array("q"), array("q"), array("q")
    times, lengths = np.zeros(1 << 10, np.int64), np.zeros((1 << 10, len(sizes)), np.int32)
    n_bytes: list[int] = []
    n_tokens: list[np.ndarray] = []
    n_documents = 0
    for document in filter(None, documents):
        pieces = Counter(splitter.split(model.normalize(repair_surrogates(document))))
        for piece in pieces:
            if piece in number_of:
                continue
            number = number_of[piece] = len(number_of)
            if number == len(times):
                times = np.concatenate((times, np.zeros_like(times)))
                lengths = np.concatenate((lengths, np.zeros_like(lengths)))
            n, steps = _steps(model, piece)
            n_symbols.append(n)
            n_steps.append(len(steps))
            needed.extend(steps)
            lengths[number] = [n - bisect_right(steps, size) for size in sizes]
        numbers, occurrences = [number_of[piece] for piece in pieces], np.array([*pieces.values()], np.int64)
        times[numbers] += occurrences
        group = n_documents if n_groups is None else n_documents % n_groups
        if group == len(n_bytes):
            n_bytes.append(0)
            n_tokens.append(np.zeros(len(sizes), np.int64))
        n_bytes[group] += len(document.encode("utf-8", "surrogatepass"))
        n_tokens[group] += occurrences @ lengths[numbers]
        n_documents += 1
    times = times[: len(number_of)]
    changes = np.zeros(len(model.merges) + 1, np.int64)
    changes[0] = times @ np.array(n_symbols, np.int64)
    np.subtract.at(changes, np.array(needed, np.int64), np.repeat(times, np.array(n_steps, np.int64)))
    by_group = np.array(n_tokens, np.int64).reshape(len(n_bytes), len(sizes))
    return Curve(n_documents, np.array(n_bytes, np.int64), changes.cumsum(), sizes, by_group)


def _steps(model: Model, piece: str) -> tuple[int, list[int]]:
    """Return the number of symbols of a piece and, for each of its merge steps, the number of merges it requires.

    A step after one of higher rank requires that one too, so the numbers ascend.
    """
    symbols = model.symbols(piece)
    n_symbols = len(symbols)
    return n_symbols, [rank + 1 for rank in accumulate(merging(symbols, model.merge_of), max)]
