"""The difference of two vocabularies: which tokens they share, and what replacing one by the other does to texts.

Tokens are compared by the bytes they decode to, so that vocabularies of any kind can be compared; documents are counted
by the ids of the fastest exact implementation, special text as ordinary text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, NamedTuple

import numpy as np

from harness.data import Corpus, DataError
from harness.evaluate.intervals import Figure, ratio
from harness.evaluate.prices import Prices
from harness.evaluate.tally import GROUPS, groups_of
from harness.evaluate.texts import batches
from harness.measure.token_use import KINDS, ordinary_tokens, script_of
from harness.progress import Bar
from impls import Tokenizer

N_CHANGES = 5
"""Documents shown in each direction."""
_SHOWN_CHARACTERS = 100


class Change(NamedTuple):
    """How one document changes."""

    number: int
    """Its index in the corpus, from 1."""
    text: str
    """The beginning of its text."""
    n_bytes: int
    before: int
    """Tokens under the first vocabulary."""
    after: int
    """Tokens under the second vocabulary."""


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """How a corpus changes."""

    corpus: str
    n_documents: int
    n_bytes: int
    before: int
    after: int
    factor: Figure
    """Tokens after over tokens before, with its interval over documents."""
    n_more: int
    """Documents that take more tokens than before."""
    n_fewer: int
    more: list[Change]
    """The documents that grow most, by number of tokens."""
    fewer: list[Change]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two vocabularies, and texts encoded with both."""

    names: tuple[str, str]
    tokenizers: tuple[Tokenizer, Tokenizer]
    shared: dict[int, int]
    """Ordinary tokens with the same bytes: id in the first -> id in the second."""
    only: tuple[dict[int, bytes], dict[int, bytes]]
    """Ordinary tokens without a counterpart, by id, of each vocabulary."""
    special: dict[str, int]
    """Special and added tokens, by text: `shared`, `moved` (of these), `only_one`, `only_other`."""
    corpora: list[CorpusChange]
    prices: Prices

    @property
    def n_moved(self) -> int:
        """Return the number of shared tokens that have another id."""
        return sum(one != other for one, other in self.shared.items())

    def scripts(self) -> dict[str, tuple[int, int, int]]:
        """Return by script how many tokens are shared, only in the first, and only in the second."""
        by_id = self.tokenizers[0].model.bytes_by_id()
        shared = Counter(script_of(by_id[i]) for i in self.shared)
        one, other = (Counter(map(script_of, tokens.values())) for tokens in self.only)
        every = {kind: (shared[kind], one[kind], other[kind]) for kind in KINDS}
        return {kind: counts for kind, counts in every.items() if any(counts)}

    def cost(self, side: int, n_tokens: int) -> float | None:
        """Return the cost of tokens under one side; None if its price is unknown."""
        price = self.prices.of(self.names[side])
        return None if price is None else n_tokens * price / 1e6

    def document(self) -> dict[str, Any]:
        """Return everything as a JSON-serialisable document."""
        sides = zip(("one", "other"), self.names, self.tokenizers, strict=True)
        return {
            **{
                side: {"model": name, "implementation": tokenizer.name, "round_trip": tokenizer.model.round_trip}
                for side, name, tokenizer in sides
            },
            "n_shared": len(self.shared),
            "n_moved": self.n_moved,
            "n_only_one": len(self.only[0]),
            "n_only_other": len(self.only[1]),
            "special": self.special,
            "scripts": [
                {"script": script, "n_shared": shared, "n_only_one": one, "n_only_other": other}
                for script, (shared, one, other) in self.scripts().items()
            ],
            "only_one": list(self.only[0]),
            "only_other": list(self.only[1]),
            "currency": self.prices.currency,
            "price_date": self.prices.date,
            "corpora": [self._corpus(one) for one in self.corpora],
        }

    def _corpus(self, change: CorpusChange) -> dict[str, Any]:
        return {
            "corpus": change.corpus, "n_documents": change.n_documents, "n_bytes": change.n_bytes,
            "n_tokens_one": change.before, "n_tokens_other": change.after,
            "factor": change.factor.value, "interval": [change.factor.low, change.factor.high],
            "n_documents_more": change.n_more, "n_documents_fewer": change.n_fewer,
            "cost_one": self.cost(0, change.before), "cost_other": self.cost(1, change.after),
            "more": [one._asdict() for one in change.more], "fewer": [one._asdict() for one in change.fewer],
        }  # fmt: skip


def difference(
    names: tuple[str, str],
    tokenizers: tuple[Tokenizer, Tokenizer],
    corpora: Sequence[Corpus],
    prices: Prices,
    bar: Bar,
) -> Difference:
    """Return the difference of two vocabularies; raise `DataError` for a corpus without text."""
    one, other = (ordinary_tokens(tokenizer.model) for tokenizer in tokenizers)
    # A character and its byte (SentencePiece) decode to the same bytes; each has its own counterpart.
    ids_in_other: dict[bytes, list[int]] = {}
    for i, token in reversed(other.items()):
        ids_in_other.setdefault(token, []).append(i)
    shared = {i: ids.pop() for i, token in one.items() if (ids := ids_in_other.get(token))}
    reached = set(shared.values())
    only = (
        {i: token for i, token in one.items() if i not in shared},
        {i: token for i, token in other.items() if i not in reached},
    )
    special, others = (tokenizer.model.whole_token_ids for tokenizer in tokenizers)
    both = special.keys() & others.keys()
    counts = {
        "shared": len(both),
        "moved": sum(special[text] != others[text] for text in both),
        "only_one": len(special.keys() - both),
        "only_other": len(others.keys() - both),
    }
    changes = [_change(corpus, tokenizers, bar) for corpus in corpora]
    return Difference(names, tokenizers, shared, only, counts, changes, prices)


def _change(corpus: Corpus, tokenizers: tuple[Tokenizer, Tokenizer], bar: Bar) -> CorpusChange:
    sums = np.zeros((2, GROUPS), np.int64)
    more: list[Change] = []
    fewer: list[Change] = []
    n_documents = n_bytes = n_more = n_fewer = 0
    for documents in batches(corpus.documents()):
        before, after = (
            np.diff(tokenizer.encode_ragged(documents, disallowed_special=())[1]) for tokenizer in tokenizers
        )
        groups = groups_of(n_documents, len(documents))
        np.add.at(sums[0], groups, before)
        np.add.at(sums[1], groups, after)
        grown = after - before
        n_more, n_fewer = n_more + int((grown > 0).sum()), n_fewer + int((grown < 0).sum())
        order = np.argsort(grown, kind="stable").tolist()
        n_before = n_documents
        made = {
            k: _of(n_before + k + 1, documents[k], int(before[k]), int(after[k]))
            for k in {*order[:N_CHANGES], *order[-N_CHANGES:]}
        }
        more = nlargest(N_CHANGES, [*more, *_grown(made.values(), 1)], key=lambda one: one.after - one.before)
        fewer = nlargest(N_CHANGES, [*fewer, *_grown(made.values(), -1)], key=lambda one: one.before - one.after)
        n_documents += len(documents)
        size = sum(len(document.encode("utf-8", "surrogatepass")) for document in documents)
        n_bytes += size
        bar.advance(size, corpus.name)
    if not n_documents:
        raise DataError(f"{corpus.name}: holds no text")
    factor = ratio(sums[1], sums[0], n_documents)
    return CorpusChange(
        corpus.name, n_documents, n_bytes, int(sums[0].sum()), int(sums[1].sum()), factor, n_more, n_fewer, more, fewer
    )


def _of(number: int, document: str, before: int, after: int) -> Change:
    n_bytes = len(document.encode("utf-8", "surrogatepass"))
    return Change(number, document[:_SHOWN_CHARACTERS], n_bytes, before, after)


def _grown(changes: Iterable[Change], sign: int) -> list[Change]:
    return [one for one in changes if (one.after - one.before) * sign > 0]
