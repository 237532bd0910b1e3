"""BoundlessBPE: merges inside pieces as usual, and of whole pieces into superwords, in one order by count.

Idea
    Two neighbouring symbols may merge inside a piece, and also if each is a whole piece, that is, one of a single
    token. The result of joining two whole pieces is a whole piece again, a superword, which may be joined with the next
    one. Training counts both kinds of neighbours together, merges the most frequent pair wherever allowed, and starts
    over; encoding merges the lowest rank wherever allowed (`naive` literally, `priority` by a heap). With `|` between
    pieces:

        o f | _ t h e | _ o f | _ t h e         learned: o+f, _+of, t+h, _+th, _th+e, of+_the, …
        of | _ t h e | _of | _ t h e            of is whole, but what follows it is not
        of | _the | _of | _the                  now both are
        of_the | _of | _the                     _of+_the is another pair; of_the+_of may follow
Cost
    Each occurrence of a piece has other neighbours, so superwords are counted over the whole text and not over distinct
    pieces: memory and time grow with the text. Inside pieces the cost is that of training with `priority`.
Source
    Schmidt, Reddy, Tanner and Pinter 2025, "Boundless Byte Pair Encoding: Breaking the Pre-tokenization Barrier",
    without the removal of tokens. Defined here: which pieces may be joined (`core.model.data`), that a pair whose
    bytes are already a token is not merged (`of_the` may be a piece of its own under another pattern), that a
    superword does not extend beyond its text, and that equal counts are ordered by `TrainingSpec.ties`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from impls.core.arguments import texts_in_turn
from impls.core.errors import InvalidSpec, Unsupported
from impls.core.model import Model
from impls.core.model.data import JOINED_PIECES, JoinedPieces, may_be_joined
from impls.core.specification import TrainingSpec, check_spec
from impls.core.text.patterns import Splitter, resolve
from impls.core.text.text import repair_surrogates
from impls.core.training import base_symbols, first_base_id, merge_budget, piece_symbols, trained_model
from impls.learner import Learner, Pair

_NOT_WHOLE = -1


def train_boundless(
    texts: Iterable[str], spec: TrainingSpec, *, join: JoinedPieces = "words", implementation: str = "compiled"
) -> Model:
    """Learn a model whose merges also join whole pieces, of words or `all`, and count them in `merge_counts`.

    By `compiled`, or by `priority` as in this file. Raise `InvalidSpec` for the alphabet `chars`, for ties to the first
    occurrence, and for a least count of 0; `Unsupported` for another implementation.
    """
    check_spec(spec)
    for field, value, why in (
        ("alphabet", "chars", "is not trained with merges that join pieces; 'bytes' is"),
        ("ties", "first", "is not known where merges join pieces; choose 'smallest', 'largest' or 'shortest'"),
        ("min_count", 0, "asks for pairs that no longer occur, which merges that join pieces do not look for"),
    ):
        if getattr(spec, field) == value:
            raise InvalidSpec(field, f"{value!r} {why}")
    if join not in JOINED_PIECES:
        raise InvalidSpec("join", f"must be {' or '.join(JOINED_PIECES)}, not {join!r}")
    if implementation == "compiled":
        from impls.compiled.training.boundless import train

        return train(texts, spec, join)
    if implementation != "priority":
        raise Unsupported(implementation, "trains no merges that join pieces; compiled and priority do")
    splitter = Splitter(resolve(spec.pattern))
    pieces_of = [splitter.split(repair_surrogates(text)) for text in texts_in_turn(texts)]
    base = base_symbols((), spec)
    learner = _Learner(pieces_of, base, spec, join)
    merges, counts = learner.learn(merge_budget(base, spec))
    return trained_model(spec, base, merges, counts).with_(joined_pieces=join)


class _Learner(Learner):
    """Distinct pieces as in `priority`, and also the pieces of all texts in a row, which merges join."""

    def __init__(self, texts: list[list[str]], base: list[bytes], spec: TrainingSpec, join: JoinedPieces) -> None:
        times = Counter(piece for pieces in texts for piece in pieces)
        id_of = {symbol: first_base_id(spec) + index for index, symbol in enumerate(base)}
        words = [[id_of[symbol] for symbol in piece_symbols(piece, spec)] for piece in times]
        super().__init__(words, list(times.values()), [b""] * first_base_id(spec) + base, spec)
        self._known = set(base)
        number_of = {piece: number for number, piece in enumerate(times)}
        row = [number for pieces in texts for number in (*map(number_of.__getitem__, pieces), None)]
        joined = may_be_joined(join)
        can_join = [joined(piece) for piece in times]
        self._places: defaultdict[int, list[int]] = defaultdict(list)  # by piece that may be joined, not whole yet
        for place, number in enumerate(row):
            if number is not None and can_join[number]:
                self._places[number].append(place)
        # The row is a linked list; each place holds the token of its piece if that is whole and may be joined, else
        # `_NOT_WHOLE`.
        self._whole = [_NOT_WHOLE] * len(row)
        self._before, self._after = list(range(-1, len(row) - 1)), list(range(1, len(row) + 1))
        self._places_of: defaultdict[Pair, list[int]] = defaultdict(list)  # of its left part; some may have lost it
        self._offer(self._made_whole([number for number, word in enumerate(words) if len(word) == 1]))

    def pop_best(self) -> tuple[Pair, int] | None:
        """Return the most frequent pair that makes a new token, and its count, or None."""
        while (best := super().pop_best()) is not None:
            if self.tokens[best[0][0]] + self.tokens[best[0][1]] not in self._known:
                break
        return best

    def merge(self, pair: Pair, new: int | None = None) -> int:
        """Merge `pair` inside pieces, then between whole pieces; return the number of symbols saved in the corpus."""
        holders = self.words_with.get(pair, [])
        n_fewer = super().merge(pair, new)
        self._known.add(self.tokens[-1])
        made: set[Pair] = set()
        for place in sorted(set(self._places_of.pop(pair, ()))):
            if self._pair_at(place) == pair:
                self._join(place, made)
                n_fewer += 1
        self.counts.pop(pair, None)
        made |= self._made_whole([number for number in holders if len(self.words[number]) == 1])
        self._offer(made)
        return n_fewer

    def _pair_at(self, place: int) -> Pair | None:
        """Return the tokens of the whole pieces at `place` and after it, or None if they may not be joined."""
        if place < 0 or (following := self._after[place]) == len(self._whole):
            return None
        left, right = self._whole[place], self._whole[following]
        return None if _NOT_WHOLE in (left, right) else (left, right)

    def _join(self, place: int, made: set[Pair]) -> None:
        """Join two whole pieces to the newest token: x left right y -> x new y changes the pairs with x and y."""
        gone = self._after[place]
        for at in (self._before[place], gone):
            if (lost := self._pair_at(at)) is not None:
                self.counts[lost] -= 1
        self._whole[place], self._whole[gone] = len(self.tokens) - 1, _NOT_WHOLE
        following = self._after[place] = self._after[gone]
        self._before[following] = place  # every text ends in a place of its own, so there is one
        made |= self._meet(self._before[place]) | self._meet(place)

    def _made_whole(self, numbers: list[int]) -> set[Pair]:
        """Record that these distinct pieces have become one token, and return the pairs that gain occurrences."""
        made: set[Pair] = set()
        for number in numbers:
            (token,) = self.words[number]
            for place in self._places.pop(number, ()):
                self._whole[place] = token
                made |= self._meet(self._before[place]) | self._meet(place)
        return made

    def _meet(self, place: int) -> set[Pair]:
        """Count the pair at `place`, if there is one, and return it as a set."""
        if (pair := self._pair_at(place)) is None:
            return set()
        self.counts[pair] += 1
        self._places_of[pair].append(place)
        return {pair}
