"""The algorithms from the symbols of a piece to its tokens, step by step: one short function each.

They are written separately from the implementations, which so need no hooks. Whoever shows the steps must compare
their result with the ids of the implementation itself and say where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from harness.explain import segmentation
from harness.explain.readable import readable
from harness.explain.rules import Rules
from harness.explain.segmentation import Steps
from harness.explanations import Step

Algorithm = Literal["leftmost", "everywhere", "replay", "backtracking", "greedy", "fewest"]
ALGORITHMS: dict[Algorithm, str] = {
    "leftmost": "the lowest rank first, of equal ranks the leftmost",
    "everywhere": "round by round the lowest rank, everywhere at once",
    "replay": "the merges replayed in the order of their ranks, each once",
    "backtracking": "the longest token compatible with the one before it, else one step back",
    "greedy": "the longest token at each place",
    "fewest": "as few tokens as possible",
}
ALGORITHM_OF: dict[str, Algorithm] = {
    "naive": "everywhere",
    "bytelevel": "everywhere",
    "wordcount": "replay",
    "priority": "leftmost",
    "compiled": "leftmost",
    "backtracking": "backtracking",
    "greedy": "greedy",
    "tiktoken": "leftmost",
    "tokenizers": "leftmost",
    "sentencepiece": "leftmost",
}
"""Implementation -> its algorithm; peers are assumed to be exact, which is `leftmost`, unless their ids differ."""

MAX_SYMBOLS = 500
"""Longer pieces are not derived: these algorithms are written for reading, and quadratic."""


@dataclass(slots=True)
class Derived:
    """The derivation of a piece by one algorithm."""

    symbols: list[int]
    """Before the first step."""
    steps: list[Step]
    ids: list[int]


def derive(rules: Rules, piece: str, algorithm: Algorithm, *, look_up: bool = True) -> Derived:
    """Return the steps from `piece` to its tokens. Raises `UnknownSymbol` as `Model.symbols` does.

    Without `look_up` a piece that is a token is merged even if its model would look it up at once.
    """
    if piece in rules.model.user_defined_texts:
        return _at_once(rules, [rules.model.id_by_token[piece.encode()]], "a user-defined piece is found first")
    symbols = rules.model.symbols(piece)
    if algorithm == "greedy":
        return Derived(symbols, *segmentation.greedy(rules, symbols))
    whole = rules.model.whole_piece(piece)
    if whole is not None and look_up:
        if [whole] == symbols:
            return Derived(symbols, [], [whole])
        first = "joined bytes are looked up, the whole piece first"
        return _at_once(rules, symbols, "ignore_merges is set" if rules.model.ignore_merges else first, whole)
    return Derived(symbols, *_DERIVATIONS[algorithm](rules, symbols))


def _at_once(rules: Rules, symbols: list[int], rule: str, whole: int | None = None) -> Derived:
    """Return the derivation of one step, from the symbols to a single token."""
    made = symbols[0] if whole is None else whole
    step = Step(
        number=1,
        action="whole piece",
        at=0,
        rank=rules.model.ranks[made] if rules.model.merge_rule == "concatenation" else None,
        result=readable(rules.token(made)),
        result_id=made,
        symbols=rules.texts([made]),
        note=rule,
    )
    return Derived(symbols, [step], [made])


class _Recorder:
    """The symbols of a piece and the steps recorded for its merges."""

    def __init__(self, rules: Rules, ids: list[int]) -> None:
        self.rules, self.ids = rules, list(ids)
        self.steps: list[Step] = []

    def join(self, index: int, rank: int, made: int, round: int = 0) -> None:
        """Merge the symbols at `index` and `index + 1`."""
        token = self.rules.token
        left, right = self.ids[index], self.ids[index + 1]
        at = sum(len(token(i)) for i in self.ids[:index])
        self.ids[index : index + 2] = [made]
        self.steps.append(
            Step(
                number=len(self.steps) + 1,
                action="merge",
                at=at,
                left=readable(token(left)),
                right=readable(token(right)),
                rank=rank,
                result=readable(token(made)),
                result_id=made,
                round=round,
                symbols=self.rules.texts(self.ids),
            )
        )


def _leftmost(rules: Rules, symbols: list[int]) -> Steps:
    record = _Recorder(rules, symbols)
    while True:
        merges = [(*found, at) for at, pair in enumerate(pairwise(record.ids)) if (found := rules.merge(*pair))]
        if not merges:
            return record.steps, record.ids
        rank, made, at = min(merges, key=lambda merge: (merge[0], merge[2]))
        record.join(at, rank, made)


def _everywhere(rules: Rules, symbols: list[int]) -> Steps:
    return _in_rounds(rules, symbols, never_back=False)


def _replay(rules: Rules, symbols: list[int]) -> Steps:
    return _in_rounds(rules, symbols, never_back=True)


def _in_rounds(rules: Rules, symbols: list[int], never_back: bool) -> Steps:
    """Merge in rounds of one rank each, the lowest present; with `never_back` above the rank of the round before."""
    record = _Recorder(rules, symbols)
    done, round = -1, 0
    while True:
        merges = [rules.merge(*pair) for pair in pairwise(record.ids)]
        possible = [found for found in merges if found and (found[0] > done or not never_back)]
        if not possible:
            return record.steps, record.ids
        (rank, made), round = min(possible, key=_rank if rules.one_at_a_time else None), round + 1
        # Only pairs present when the round begins, from left to right without overlap: a a a -> aa a.
        index, before = 0, 0
        while before < len(merges):
            if merges[before] == (rank, made):
                record.join(index, rank, made, round)
                before += 1
                if rules.one_at_a_time:
                    break
            index, before = index + 1, before + 1
        done = rank


def _rank(merge: tuple[int, int]) -> int:
    return merge[0]


_DERIVATIONS: dict[Algorithm, Callable[[Rules, list[int]], Steps]] = {
    "leftmost": _leftmost,
    "everywhere": _everywhere,
    "replay": _replay,
    "backtracking": segmentation.backtracking,
    "fewest": segmentation.fewest,
}


def algorithm_that_gives(
    rules: Rules, piece: str, ids: Sequence[int], first: Algorithm | None
) -> tuple[Algorithm, Derived] | None:
    """Return the algorithm, `first` tried first, whose steps end in `ids`, or None.

    None also for a piece that is too long.
    """
    algorithms = ([first] if first else []) + [algorithm for algorithm in ALGORITHMS if algorithm != first]
    for algorithm in algorithms:
        found = attempt(rules, piece, algorithm)
        if found is not None and found.ids == list(ids):
            return algorithm, found
    return None


def attempt(rules: Rules, piece: str, algorithm: Algorithm) -> Derived | None:
    """Run `derive`; return None for a piece that is too long or has a character without a symbol."""
    from impls.core.errors import UnknownSymbol

    if len(piece) > MAX_SYMBOLS:
        return None
    try:
        return derive(rules, piece, algorithm)
    except UnknownSymbol:
        return None
