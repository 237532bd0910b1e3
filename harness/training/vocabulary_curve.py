"""Bytes per token against the size of a vocabulary, exactly and at every size, from one model. Times nothing.

Training learns merges one after another, so the first k merges of a vocabulary are the vocabulary trained to k merges.
Encoding applies the lowest rank first: with k merges a piece goes through the same steps up to the first of rank k or
more, and ends there. So each distinct piece is merged once, and the ranks of its steps give its length at every size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from harness.measure.analysis.stats import Interval, ratio_of_totals
from impls.core.model.derivations import merging
from impls.core.model.model import Model
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates


@dataclass(frozen=True, slots=True)
class Curve:
    """The tokens of a text under the first k merges of a model, for every k."""

    n_bytes: np.ndarray
    """UTF-8 bytes of each document: int64 of shape (n_documents,)."""
    n_tokens: np.ndarray
    """Tokens of all documents by number of merges: int64 of shape (n_merges + 1,)."""
    sizes: Sequence[int]
    """Numbers of merges that are also counted by document, for intervals."""
    n_tokens_by_document: np.ndarray
    """Tokens at `sizes`: int64 of shape (n_documents, n_sizes)."""

    def bytes_per_token(self, n_merges: int) -> float:
        """Return the mean bytes of UTF-8 per token under so many merges."""
        return float(self.n_bytes.sum() / self.n_tokens[n_merges])

    def intervals(self) -> list[Interval]:
        """Return bytes per token at each of `sizes`, with its 95 % interval by bootstrap over documents."""
        return ratio_of_totals(self.n_bytes, self.n_tokens_by_document)


def vocabulary_curve(model: Model, documents: Iterable[str], sizes: Sequence[int] = ()) -> Curve:
    """Return the curve of `model`, which must not be `uncuttable`, over documents that are each encoded separately.

    Special tokens in the text are read as ordinary text. Raise `UnknownSymbol` for a character outside the alphabet.

    Merges a+b (rank 0), ab+c (rank 1), "abc ab":    0: a b c _ a b    1: ab c _ ab    2: abc _ ab
    """
    splitter = Splitter(model.pattern)
    number_of: dict[str, int] = {}
    n_bytes: list[int] = []
    pieces_of: list[Counter[int]] = []
    for document in filter(None, documents):
        n_bytes.append(len(document.encode("utf-8", "surrogatepass")))
        pieces = splitter.split(model.normalize(repair_surrogates(document)))
        pieces_of.append(Counter(number_of.setdefault(piece, len(number_of)) for piece in pieces))
    times = np.zeros(len(number_of), np.int64)
    for counts in pieces_of:
        times[list(counts)] += list(counts.values())
    lengths = np.zeros((len(number_of), len(sizes)), np.int32)
    changes = np.zeros(len(model.merges) + 1, np.int64)
    for piece, number in number_of.items():
        n_symbols, needed = _steps(model, piece)
        changes[0] += times[number] * n_symbols
        np.subtract.at(changes, needed, times[number])
        lengths[number] = n_symbols - np.searchsorted(needed, sizes, side="right")
    by_document = [np.array([*counts.values()]) @ lengths[[*counts]] for counts in pieces_of]
    return Curve(
        np.array(n_bytes, np.int64),
        changes.cumsum(),
        sizes,
        np.array(by_document, np.int64).reshape(len(n_bytes), len(sizes)),
    )


def _steps(model: Model, piece: str) -> tuple[int, np.ndarray]:
    """Return the number of symbols of a piece, and of each step of merging it the number of merges it needs.

    A step after one of higher rank needs that one too, so the numbers ascend.
    """
    symbols = model.symbols(piece)
    n_symbols = len(symbols)
    ranks = list(accumulate(merging(symbols, model.merge_of), max))
    return n_symbols, np.array(ranks, np.int64) + 1


def uncuttable(model: Model) -> str | None:
    """Return why the first merges of `model` are not a vocabulary of their own, or None where they are."""
    if model.merge_rule != "pairs":
        return "it lists no merges"
    if model.ignore_merges:
        return "it looks up whole pieces"
    if model.sentencepiece is not None or model.added_tokens or model.continuing_prefix is not None:
        return "it has tokens that no merge makes"
    if model.beyond_merges is not None:
        return model.beyond_merges
    n_tokens = len(model.tokens)
    if model.merge_results != tuple(range(n_tokens - len(model.merges), n_tokens)):
        return "its ids are not in the order of its merges"
    return None


def cut(model: Model, n_merges: int) -> Model:
    """Return `model`, which must not be `uncuttable`, with its first merges only: what training to that size gives."""
    n_tokens, n_left_out = len(model.tokens), len(model.merges) - n_merges

    def moved(i: int) -> int:
        return i - n_left_out if i >= n_tokens else i

    return model.with_(
        tokens=model.tokens[: n_tokens - n_left_out],
        merges=model.merges[:n_merges],
        merge_counts=None if model.merge_counts is None else model.merge_counts[:n_merges],
        special_tokens={text: moved(i) for text, i in model.special_tokens.items()},
        unknown_id=None if model.unknown_id is None else moved(model.unknown_id),
    )
