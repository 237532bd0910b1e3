"""The algorithms from the symbols of a piece to its tokens, step by step: one short function each.

They are written separately from the implementations, which therefore need no hooks. A caller that shows the steps must
compare their result with the implementation's ids and report any difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from harness.explain.rules import Rules
from harness.explanations import Step
from harness.printable import readable
from impls.core.errors import UnknownSymbol
from impls.core.model.merging import merged

Algorithm = Literal["leftmost", "replay", "backtracking", "greedy"]
ALGORITHMS: dict[Algorithm, str] = {
    "leftmost": "lowest rank first, the leftmost of equal ranks",
    "replay": "each merge once over the whole piece, in the order of ranks",
    "backtracking": "longest token compatible with the one before it, else one step back",
    "greedy": "longest token at each place",
}
_OTHERS: dict[str, Algorithm] = {"wordcount": "replay", "backtracking": "backtracking", "greedy": "greedy"}

MAX_SYMBOLS = 500
"""Longer pieces are not derived: these algorithms are written for readability, and quadratic."""


class Derived:
    """The derivation of a piece by one algorithm: its symbols, the steps, and the ids they end in."""

    def __init__(self, rules: Rules, symbols: list[int]) -> None:
        self.rules, self.symbols = rules, symbols
        self.ids = list(symbols)
        """The ids after the steps so far."""
        self.states = [tuple(symbols)]
        """The ids before the first step, and after each."""
        self.steps: list[Step] = []

    def join(
        self, action: str, index: int, n_ids: int, result: int, ids: Sequence[int] | None = None, **details: Any
    ) -> None:
        """Add a step that replaces `n_ids` ids from `index` on by its result, or by `ids`."""
        self.ids[index : index + n_ids] = [result] if ids is None else ids
        self.states.append(tuple(self.ids))
        text = readable(self.rules.token(result))
        self.steps.append(
            Step(
                number=len(self.steps) + 1,
                action=action,  # type: ignore[arg-type]
                at=sum(len(self.rules.token(i)) for i in self.ids[:index]),
                result=text,
                result_id=result,
                symbols=self.rules.texts(self.ids),
                **{"left": text, **details},
            )
        )

    def merge(self, index: int, rank: int, result: int, round: int = 0) -> None:
        """Merge the ids at `index` and `index + 1`."""
        left, right = self.rules.texts(self.ids[index : index + 2])
        self.join("merge", index, 2, result, left=left, right=right, rank=rank, round=round)


def algorithm_of(implementation: str) -> Algorithm:
    """Return the algorithm of an implementation. Peers are assumed to be exact, that is `leftmost`."""
    return _OTHERS.get(implementation, "leftmost")


def derive(rules: Rules, piece: str, algorithm: Algorithm) -> Derived:
    """Return the steps from `piece` to its tokens. Raises `UnknownSymbol` as `Model.symbols` does."""
    model = rules.model
    token: int | None
    if piece in model.user_defined_texts:
        token = model.id_by_token[piece.encode()]
        derived, note = Derived(rules, [token]), "a user-defined piece is found first"
    else:
        token, derived = model.whole_piece(piece), Derived(rules, model.symbols(piece))
        note = "ignore_merges is set" if model.ignore_merges else "joined bytes are looked up, the whole piece first"
        if algorithm == "greedy" or token is None:
            _FUNCTIONS[algorithm](derived)
            return derived
        if [token] == derived.symbols:
            return derived
    rank = model.ranks[token] if model.merge_rule == "concatenation" else None
    derived.join("whole piece", 0, len(derived.symbols), token, left="", rank=rank, note=note)
    return derived


def derive_by_merging(rules: Rules, piece: str, algorithm: Algorithm) -> tuple[Derived, bool]:
    """Run `derive`; of a piece looked up at once return the merges that lead to it as well, if they do, and True."""
    derived = derive(rules, piece, algorithm)
    if derived.steps and derived.steps[0].action == "whole piece" and len(derived.symbols) > 1:
        by_merges = Derived(rules, derived.symbols)
        _FUNCTIONS[algorithm](by_merges)
        if by_merges.ids == derived.ids:
            return by_merges, True
    return derived, False


def steps_to(rules: Rules, piece: str, ids: Sequence[int] | None, algorithm: Algorithm) -> list[Step] | None:
    """Return the steps of an algorithm if they end in `ids`.

    None also for a piece that is too long or has a character without a symbol.
    """
    try:
        derived = derive(rules, piece, algorithm) if len(piece) <= MAX_SYMBOLS else None
    except UnknownSymbol:
        return None
    return derived.steps if derived is not None and derived.ids == ids else None


# --- merging ----------------------------------------------------------------------------------------------------------


def _merges(derived: Derived) -> list[tuple[int, int, int]]:
    """Return (rank, result, index) of every two neighbours that merge."""
    pairs = enumerate(pairwise(derived.ids))
    return [(*merge, index) for index, pair in pairs if (merge := derived.rules.merge(*pair)) is not None]


def _leftmost(derived: Derived) -> None:
    """Merge the pair of the lowest rank, the leftmost of equal ranks, until none merges."""
    while merges := _merges(derived):
        rank, result, index = min(merges)
        derived.merge(index, rank, result)


def _replay(derived: Derived) -> None:
    """Merge in rounds of one rank each, the lowest present that is higher than those before."""
    done, round = -1, 0
    while merges := [merge for merge in _merges(derived) if merge[0] > done]:
        done, result, _ = min(merges)
        # Only pairs present when the round begins, from left to right without overlap: a a a -> aa a.
        round, n_merged, end = round + 1, 0, 0
        for rank, _, index in merges:
            if rank == done and index >= end:
                derived.merge(index - n_merged, rank, result, round)
                n_merged, end = n_merged + 1, index + 2


# --- segmentation without merging -------------------------------------------------------------------------------------


def _longest(rules: Rules, symbols: list[int], start: int, limit: int) -> tuple[int, int]:
    """Return (id, end) of the longest token from symbol `start`; the symbol itself if there is no longer one."""
    limit = min(limit, start + rules.longest_token_bytes)  # a symbol has at least one byte
    joined = b"".join(rules.token(i) for i in symbols[start:limit])
    for end in range(limit, start + 1, -1):
        token = rules.model.id_by_token.get(joined)
        if token is not None and rules.model.unknown_id not in symbols[start:end]:
            return token, end
        joined = joined[: len(joined) - len(rules.token(symbols[end - 1]))]
    return symbols[start], start + 1


def _greedy(derived: Derived) -> None:
    """Take the longest token at each position, from left to right."""
    rules, symbols = derived.rules, derived.symbols
    start = index = 0
    while start < len(symbols):
        token, end = _longest(rules, symbols, start, len(symbols))
        rank = token if rules.model.merge_rule == "concatenation" and end - start > 1 else None
        derived.join("longest", index, end - start, token, rank=rank)
        start, index = end, index + 1


def _backtracking(derived: Derived) -> None:
    """Take the longest token compatible with the previous one, else the next shorter, else undo the previous one.

    Source: van Antwerpen and Neubeck 2024, "So many tokens, so little time".
    """
    rules, symbols = derived.rules, derived.symbols
    ends, dead_ends, limit = [0], set[int](), len(symbols)
    skipped: list[str] = []
    while ends[-1] < len(symbols):
        start, n_taken = ends[-1], len(ends) - 1
        if limit > start:
            token, end = _longest(rules, symbols, start, limit)
            limit = end - 1
            if end in dead_ends:
                skipped.append(f"{readable(rules.token(token))} leads to a dead end")
            elif n_taken and not _compatible(rules, derived.ids[n_taken - 1], token):
                skipped.append(f"{readable(rules.token(token))} would have merged with the token before it")
            else:
                derived.join("take", n_taken, end - start, token, note="; ".join(skipped))
                ends.append(end)
                limit, skipped = len(symbols), []
        elif not n_taken:
            derived.ids = []  # no derivation; an empty list shows the caller that it failed
            return
        else:
            dead_ends.add(ends.pop())
            before = derived.ids[n_taken - 1]
            derived.join("back", n_taken - 1, 1, before, symbols[ends[-1] : start], note="; ".join(skipped))
            limit, skipped = start - 1, []


def _compatible(rules: Rules, left: int, right: int) -> bool:
    """Return whether byte pair encoding of the joined symbols of both tokens gives the same two tokens."""
    return merged([*rules.spelling(left), *rules.spelling(right)], rules.merge)[0] == [left, right]


_FUNCTIONS = {"leftmost": _leftmost, "replay": _replay, "backtracking": _backtracking, "greedy": _greedy}
