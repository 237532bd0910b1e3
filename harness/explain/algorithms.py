"""The algorithms from the symbols of a piece to its tokens, step by step: one short function each.

They are written separately from the implementations, which therefore need no hooks. A caller that shows the steps must
compare their result with the implementation's ids and report any difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal

from harness.explain.rules import Rules
from harness.explanations import Step
from harness.printable import readable
from impls.core.errors import UnknownSymbol

Algorithm = Literal["leftmost", "replay", "backtracking", "greedy"]
ALGORITHMS: dict[Algorithm, str] = {
    "leftmost": "the lowest rank first, of equal ranks the leftmost",
    "replay": "the merges replayed in the order of their ranks, each once",
    "backtracking": "the longest token compatible with the one before it, else one step back",
    "greedy": "the longest token at each place",
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

    def record(self, action: str, index: int, made: int, **details: Any) -> None:
        """Add a step whose result `made` is at position `index` of the ids."""
        self.states.append(tuple(self.ids))
        text = readable(self.rules.token(made))
        self.steps.append(
            Step(
                number=len(self.steps) + 1,
                action=action,  # type: ignore[arg-type]
                at=sum(len(self.rules.token(i)) for i in self.ids[:index]),
                result=text,
                result_id=made,
                symbols=self.rules.texts(self.ids),
                **{"left": text, **details},
            )
        )

    def join(self, action: str, index: int, n_ids: int, made: int, **details: Any) -> None:
        """Replace `n_ids` ids from `index` on by `made`."""
        self.ids[index : index + n_ids] = [made]
        self.record(action, index, made, **details)

    def merge(self, index: int, rank: int, made: int, round: int = 0) -> None:
        """Merge the ids at `index` and `index + 1`."""
        left, right = self.rules.texts(self.ids[index : index + 2])
        self.join("merge", index, 2, made, left=left, right=right, rank=rank, round=round)


def algorithm_of(implementation: str) -> Algorithm:
    """Return the algorithm of an implementation. Peers are assumed to be exact, that is `leftmost`."""
    return _OTHERS.get(implementation, "leftmost")


def derive(rules: Rules, piece: str, algorithm: Algorithm, *, look_up: bool = True) -> Derived:
    """Return the steps from `piece` to its tokens. Raises `UnknownSymbol` as `Model.symbols` does.

    Without `look_up`, a piece that is itself a token is merged even if its model would look it up at once.
    """
    model = rules.model
    whole: int | None
    if piece in model.user_defined_texts:
        whole = model.id_by_token[piece.encode()]
        derived, note = Derived(rules, [whole]), "a user-defined piece is found first"
    else:
        whole, derived = model.whole_piece(piece), Derived(rules, model.symbols(piece))
        if algorithm == "greedy" or whole is None or not look_up:
            _FUNCTIONS[algorithm](derived)
            return derived
        if [whole] == derived.symbols:
            return derived
        first = "joined bytes are looked up, the whole piece first"
        note = "ignore_merges is set" if model.ignore_merges else first
    rank = model.ranks[whole] if model.merge_rule == "concatenation" else None
    derived.join("whole piece", 0, len(derived.symbols), whole, left="", rank=rank, note=note)
    return derived


def derive_by_merging(rules: Rules, piece: str, algorithm: Algorithm) -> tuple[Derived, bool]:
    """Run `derive`; of a piece looked up at once return the merges that lead to it as well, if they do, and True."""
    derived = derive(rules, piece, algorithm)
    if derived.steps and derived.steps[0].action == "whole piece":
        merged = derive(rules, piece, algorithm, look_up=False)
        if merged.ids == derived.ids:
            return merged, True
    return derived, False


def attempt(rules: Rules, piece: str, algorithm: Algorithm) -> Derived | None:
    """Run `derive`; return None for a piece that is too long or has a character without a symbol."""
    try:
        return derive(rules, piece, algorithm) if len(piece) <= MAX_SYMBOLS else None
    except UnknownSymbol:
        return None


def algorithm_that_gives(
    rules: Rules, piece: str, ids: Sequence[int], first: Algorithm | None
) -> tuple[Algorithm, Derived] | None:
    """Return the algorithm, `first` tried first, whose steps end in `ids`, or None.

    None also for a piece that is too long.
    """
    for algorithm in sorted(ALGORITHMS, key=lambda one: one != first):
        found = attempt(rules, piece, algorithm)
        if found is not None and found.ids == list(ids):
            return algorithm, found
    return None


# --- merging ----------------------------------------------------------------------------------------------------------


def _lowest_merge(rules: Rules, ids: Sequence[int]) -> tuple[int, int, int] | None:
    """Return (rank, result, index) of the lowest-ranked merge, the leftmost of equal ranks; None without a merge."""
    merges = ((found[0], at, found[1]) for at, pair in enumerate(pairwise(ids)) if (found := rules.merge(*pair)))
    rank, at, made = min(merges, default=(-1, -1, -1))
    return None if rank < 0 else (rank, made, at)


def _leftmost(derived: Derived) -> None:
    while merge := _lowest_merge(derived.rules, derived.ids):
        rank, made, at = merge
        derived.merge(at, rank, made)


def _replay(derived: Derived) -> None:
    """Merge in rounds of one rank each, the lowest present that is higher than those before."""
    rules = derived.rules
    done, round = -1, 0
    while True:
        merges = [rules.merge(*pair) for pair in pairwise(derived.ids)]
        possible = [found for found in merges if found and found[0] > done]
        if not possible:
            return
        rank, made = min(possible)
        done, round = rank, round + 1
        # Only pairs present when the round begins, from left to right without overlap: a a a -> aa a.
        index, before = 0, 0
        while before < len(merges):
            if merges[before] == (rank, made):
                derived.merge(index, rank, made, round)
                before += 1
            index, before = index + 1, before + 1


# --- segmentation without merging -------------------------------------------------------------------------------------


def _longest(rules: Rules, symbols: list[int], start: int, limit: int) -> tuple[int, int]:
    """Return (id, end) of the longest token from symbol `start`; the symbol itself if there is no longer one."""
    limit = min(limit, start + rules.longest_token_bytes)  # a symbol has at least one byte
    joined = b"".join(rules.token(i) for i in symbols[start:limit])
    for end in range(limit, start + 1, -1):
        found = rules.model.id_by_token.get(joined)
        if found is not None and rules.model.unknown_id not in symbols[start:end]:
            return found, end
        joined = joined[: len(joined) - len(rules.token(symbols[end - 1]))]
    return symbols[start], start + 1


def _greedy(derived: Derived) -> None:
    """Take the longest token at each position, from left to right."""
    rules, symbols = derived.rules, derived.symbols
    start = index = 0
    while start < len(symbols):
        found, end = _longest(rules, symbols, start, len(symbols))
        rank = found if rules.model.merge_rule == "concatenation" and end - start > 1 else None
        derived.join("longest", index, end - start, found, rank=rank)
        start, index = end, index + 1


def _backtracking(derived: Derived) -> None:
    """Take the longest token compatible with the previous one, else the next shorter, else undo the previous one.

    Source: van Antwerpen and Neubeck 2024, "So many tokens, so little time".
    """
    rules, symbols = derived.rules, derived.symbols
    ends = [0]
    dead_ends: set[int] = set()
    limit = len(symbols)
    while ends[-1] < len(symbols):
        start, taken = ends[-1], derived.ids[: len(ends) - 1]
        skipped: list[str] = []
        while limit > start:
            found, end = _longest(rules, symbols, start, limit)
            if end in dead_ends:
                skipped.append(f"{readable(rules.token(found))} leads to a dead end")
            elif taken and not _compatible(rules, taken[-1], found):
                skipped.append(f"{readable(rules.token(found))} would have merged with the token before it")
            else:
                derived.join("take", len(taken), end - start, found, note="; ".join(skipped))
                ends.append(end)
                limit = len(symbols)
                break
            limit = end - 1
        else:
            if not taken:
                derived.ids = []  # no derivation; an empty list shows the caller that it failed
                return
            dead_ends.add(start)
            limit = ends.pop() - 1
            derived.ids[len(taken) - 1 : len(taken)] = symbols[ends[-1] : start]
            derived.record("back", len(taken) - 1, taken[-1], note="; ".join(skipped))


def _compatible(rules: Rules, left: int, right: int) -> bool:
    """Return whether byte pair encoding of the joined symbols of both tokens gives the same two tokens."""
    ids = [*_symbols_of(rules, left), *_symbols_of(rules, right)]
    while merge := _lowest_merge(rules, ids):
        ids[merge[2] : merge[2] + 2] = [merge[1]]
    return ids == [left, right]


def _symbols_of(rules: Rules, i: int) -> list[int]:
    model = rules.model
    if i == model.unknown_id:
        return [i]
    token = rules.token(i)
    if model.alphabet == "bytes":
        return [model.id_by_token[bytes([byte])] for byte in token]
    suffix = (model.end_of_word or "").encode()
    ends = bool(suffix) and token.endswith(suffix) and token != suffix
    parts = [character.encode() for character in (token.removesuffix(suffix) if ends else token).decode()]
    if ends:
        parts[-1] += suffix
    return [model.id_by_token.get(part, -1) for part in parts]


_FUNCTIONS: dict[Algorithm, Callable[[Derived], None]] = {
    "leftmost": _leftmost,
    "replay": _replay,
    "backtracking": _backtracking,
    "greedy": _greedy,
}
