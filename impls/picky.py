"""PickyBPE: a token that hardly occurs outside the one it was merged into is removed again.

Idea
    After each merge, the two merged tokens are examined: the share of a token's occurrences that the merge used is its
    intersection over self. If that exceeds a threshold, the token is removed from the vocabulary, and its remaining
    occurrences in the corpus are split into its parts. Its place is free for another token; it may be made again.
    Encoding replays merges and removals in the order in which they happened, so that it gives the tokens of training.

        h e n c e | h e n c e | t h e n c e | h e n        threshold 0.6
        henc e | henc e | t henc e | hen                  … hen+c made "henc": it used 3 of 4 "hen", which is removed:
        henc e | henc e | t henc e | he n                 the remaining "hen" becomes he n
Cost
    That of training with `priority`, and of rewriting the distinct pieces that hold a removed token.
Source
    Chizhov, Arnett, Korotkova and Yamshchikov 2024, "BPE Gets Picky: Efficient Vocabulary Refinement During Tokenizer
    Training". Defined here: a share above the threshold removes, so that 1 removes nothing; of a token merged with
    itself both occurrences are used; bytes are never removed; the left token is examined before the right one; equal
    counts are ordered by `TrainingSpec.ties`, and symbols numbered as first made (`core.events`). Training stops after
    ten events for each token of the vocabulary, even if that is not full.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from impls.core.errors import InvalidSpec
from impls.core.events import N_BYTES, REMOVED, Event, Events
from impls.core.model import Model
from impls.core.specification import TrainingSpec, check_spec
from impls.core.training import base_symbols, corpus_pieces, merge_budget, trained_model
from impls.learner import Learner, Pair

_MOST_EVENTS = 10


def train_picky(texts: Iterable[str], spec: TrainingSpec, *, threshold: float = 0.9) -> Model:
    """Learn a vocabulary of `spec.vocab_size` ids, removed tokens not counted, by merges and removals.

    Raise `InvalidSpec` for the alphabet `chars`, for ties to the first occurrence, for a least count of 0, and for a
    threshold that is not above 0 and at most 1.
    """
    check_spec(spec)
    for field, value in (("alphabet", "chars"), ("ties", "first"), ("min_count", 0)):
        if getattr(spec, field) == value:
            raise InvalidSpec(field, f"{value!r} is not trained with removals (PickyBPE)")
    if not 0 < threshold <= 1:
        raise InvalidSpec("threshold", f"must be above 0 and at most 1, not {threshold!r}")
    base = base_symbols((), spec)
    learner = _Learner(Counter(corpus_pieces(texts, spec)), spec)
    events = learner.learn_and_remove(merge_budget(base, spec), threshold)
    kept = [token for symbol, token in enumerate(learner.events.tokens) if symbol in learner.events.present]
    return trained_model(spec, [*base, *kept[N_BYTES:]], (), None).with_(events=events)


class _Learner(Learner):
    """Distinct pieces as in `priority`, with the symbols of `core.events`, and the occurrences of each symbol."""

    def __init__(self, count_by_piece: Counter[str], spec: TrainingSpec) -> None:
        words = [list(piece.encode()) for piece in count_by_piece]
        super().__init__(words, list(count_by_piece.values()), [bytes([byte]) for byte in range(N_BYTES)], spec)
        self.events = Events()
        self._n_of: Counter[int] = Counter()
        for word, weight in zip(self.words, self.weights, strict=True):
            for symbol in word:
                self._n_of[symbol] += weight
        self._words_of: defaultdict[int, list[int]] = defaultdict(list)  # of a symbol; some may have lost it

    def learn_and_remove(self, budget: int, threshold: float) -> list[Event]:
        """Return the events that lead to `budget` tokens besides the bytes, or fewer if pairs run out."""
        events: list[Event] = []
        while len(self.events.present) < N_BYTES + budget and len(events) < _MOST_EVENTS * budget:
            if (best := self.pop_best()) is None:
                break
            pair = best[0]
            before = {symbol: self._n_of[symbol] for symbol in pair}
            self._merge_to(pair, self.events.merge(pair))
            events.append(pair)
            shares = {symbol: (n - self._n_of[symbol]) / n for symbol, n in before.items()}
            for symbol, share in shares.items():
                if symbol >= N_BYTES and share > threshold:
                    self._remove(symbol)
                    events.append((symbol, REMOVED))
        return events

    def _merge_to(self, pair: Pair, made: int) -> None:
        holders = self.words_with.get(pair, [])
        n_merged = self.merge(pair, made)
        self._words_of[made] += holders
        for symbol, n in ((made, n_merged), (pair[0], -n_merged), (pair[1], -n_merged)):
            self._n_of[symbol] += n

    def _remove(self, symbol: int) -> None:
        instead = self.events.remove(symbol)
        changed: set[Pair] = set()
        for index in dict.fromkeys(self._words_of.pop(symbol, ())):
            word, weight = self.words[index], self.weights[index]
            if symbol not in word:
                continue
            for pair in pairwise(word):
                self.counts[pair] -= weight
            word = self.words[index] = [s for one in word for s in (instead if one == symbol else (one,))]
            for pair in pairwise(word):
                self._gain(pair, index, weight)
                changed.add(pair)
            for part in instead:
                self._words_of[part].append(index)
        for part in instead:
            self._n_of[part] += self._n_of[symbol]
        del self._n_of[symbol]
        self._offer(changed)
