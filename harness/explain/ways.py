"""The ways from the symbols of a piece to tokens, step by step: one short function for each rule.

These are told once more here, apart from the implementations, so that those need no hooks. Whoever shows the steps
must hold their result against the ids of the implementation itself and say where they are not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from harness.explain import covering
from harness.explain.covering import Steps
from harness.explain.readable import readable
from harness.explain.rules import Rules
from harness.explanations import Step

Way = Literal["leftmost", "everywhere", "replay", "backtracking", "greedy", "fewest"]
WAYS: dict[Way, str] = {
    "leftmost": "the lowest rank first, of equal ranks the leftmost",
    "everywhere": "round by round the lowest rank, everywhere at once",
    "replay": "the merges replayed in the order of their ranks, each once",
    "backtracking": "the longest token compatible with the one before it, else one step back",
    "greedy": "the longest token at each place",
    "fewest": "as few tokens as possible",
}
OWN_WAY: dict[str, Way] = {
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
"""Implementation -> its way; peers are taken to be exact, which is `leftmost`, until their ids say otherwise."""

MAX_SYMBOLS = 500
"""Longer pieces are not derived: these ways are for reading, and quadratic."""


@dataclass(slots=True)
class Derived:
    """What a way makes of a piece."""

    symbols: list[int]
    """Before the first step."""
    steps: list[Step]
    ids: list[int]


def derive(rules: Rules, piece: str, way: Way, *, look_up: bool = True) -> Derived:
    """The steps from `piece` to its tokens. Raises `UnknownSymbol` as `Model.symbols` does.

    Without `look_up` a piece that is a token is merged all the same, where its model would look it up at once.
    """
    if piece in rules.model.user_defined_texts:
        return _at_once(rules, [rules.model.id_by_token[piece.encode()]], "a user-defined piece is found first")
    symbols = rules.model.symbols(piece)
    if way == "greedy":
        return Derived(symbols, *covering.greedy(rules, symbols))
    whole = rules.model.whole_piece(piece)
    if whole is not None and look_up:
        if [whole] == symbols:
            return Derived(symbols, [], [whole])
        first = "joined bytes are looked up, the whole piece first"
        return _at_once(rules, symbols, "ignore_merges is set" if rules.model.ignore_merges else first, whole)
    return Derived(symbols, *_WAYS[way](rules, symbols))


def _at_once(rules: Rules, symbols: list[int], rule: str, whole: int | None = None) -> Derived:
    """One step from the symbols to one token."""
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
    """Keeps the symbols of a piece and writes a step for each merge."""

    def __init__(self, rules: Rules, ids: list[int]) -> None:
        self.rules, self.ids = rules, list(ids)
        self.steps: list[Step] = []

    def join(self, index: int, rank: int, made: int, round: int = 0) -> None:
        """Merge the symbols at `index` and behind it."""
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
    """Rounds of one rank each, the lowest there is; `never_back`: above the rank of the round before."""
    record = _Recorder(rules, symbols)
    done, round = -1, 0
    while True:
        merges = [rules.merge(*pair) for pair in pairwise(record.ids)]
        possible = [found for found in merges if found and (found[0] > done or not never_back)]
        if not possible:
            return record.steps, record.ids
        (rank, made), round = min(possible, key=_rank if rules.one_at_a_time else None), round + 1
        # Those that stand there when the round begins, from left to right without overlap: a a a -> aa a.
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


_WAYS: dict[Way, Callable[[Rules, list[int]], Steps]] = {
    "leftmost": _leftmost,
    "everywhere": _everywhere,
    "replay": _replay,
    "backtracking": covering.backtracking,
    "fewest": covering.fewest,
}


def way_that_gives(rules: Rules, piece: str, ids: Sequence[int], first: Way | None) -> tuple[Way, Derived] | None:
    """The way, `first` before all others, whose steps end in `ids`; None where none does or the piece is too long."""
    ways = ([first] if first else []) + [way for way in WAYS if way != first]
    for way in ways:
        found = attempt(rules, piece, way)
        if found is not None and found.ids == list(ids):
            return way, found
    return None


def attempt(rules: Rules, piece: str, way: Way) -> Derived | None:
    """`derive`, or None for a piece that is too long or holds what the model has no symbol for."""
    from impls.core.errors import UnknownSymbol

    if len(piece) > MAX_SYMBOLS:
        return None
    try:
        return derive(rules, piece, way)
    except UnknownSymbol:
        return None
