"""The ways from the symbols of a piece to tokens, step by step: one short function for each rule.

These are told once more here, apart from the implementations, so that those need no hooks. Whoever shows the steps
must hold their result against the ids of the implementation itself and say where they are not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from harness.explain.readable import readable
from harness.explanations import Step
from impls.model import Model

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


class Rules:
    """The merges of a model as the ways look them up: the rank of a pair and what it makes."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._by_pair = {
            pair: (rank, made) for rank, (pair, made) in enumerate(zip(model.merges, model.merge_results, strict=True))
        }  # of a pair that is listed twice the later rank stays
        self._byte_of = (
            {} if model.sentencepiece is None else {i: k for k, i in enumerate(model.sentencepiece.byte_ids)}
        )
        self.one_at_a_time = bool(model.equal_ranks)
        """Whether of equal ranks only the leftmost merges in a round (SentencePiece's models)."""
        self.longest_token_bytes = max((len(token) for token in model.id_by_token), default=1)

    @cached_property
    def merging_characters(self) -> frozenset[str]:
        """The ASCII characters that stand in tokens of more than one byte."""
        tokens = (token for token in self.model.id_by_token if len(token) > 1 and token.isascii())
        return frozenset(character for token in tokens for character in token.decode())

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """(rank, id it makes) of two neighbours, or None."""
        model = self.model
        if model.merge_rule == "pairs":
            return self._by_pair.get((left, right))
        if model.unknown_id in (left, right):
            return None
        made = model.id_by_token.get(self._raw(left) + self._raw(right))
        return None if made is None else (model.ranks[made], made)

    def token(self, i: int) -> bytes:
        """The bytes an id stands for in the text the merges see."""
        byte = self._byte_of.get(i)
        return self._raw(i) if byte is None else bytes([byte])

    def _raw(self, i: int) -> bytes:
        """The token as it is looked up; the text of the unknown token where it has no other."""
        token = self.model.tokens[i] if i < len(self.model.tokens) else None
        return token if token is not None else (self.model.unknown or "").encode()

    def texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Readable texts of ids."""
        return tuple(readable(self.token(i)) for i in ids)


def derive(rules: Rules, piece: str, way: Way) -> Derived:
    """The steps from `piece` to its tokens. Raises `UnknownSymbol` as `Model.symbols` does."""
    if piece in rules.model.user_defined_texts:
        return _at_once(rules, [rules.model.id_by_token[piece.encode()]], "a user-defined piece is found first")
    symbols = rules.model.symbols(piece)
    if way == "greedy":
        return Derived(symbols, *_greedy(rules, symbols))
    whole = rules.model.whole_piece(piece)
    if whole is not None:
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


Steps = tuple[list[Step], list[int]]


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


def _greedy(rules: Rules, symbols: list[int]) -> Steps:
    taken: list[int] = []
    steps: list[Step] = []
    at = start = 0
    while start < len(symbols):
        found, end = _longest(rules, symbols, start, len(symbols))
        token = rules.token(found)
        rank = found if rules.model.merge_rule == "concatenation" and end - start > 1 else None
        taken.append(found)
        steps.append(
            Step(
                number=len(steps) + 1,
                action="longest",
                at=at,
                left=readable(token),
                rank=rank,
                result=readable(token),
                result_id=found,
                symbols=rules.texts([*taken, *symbols[end:]]),
            )
        )
        at, start = at + len(token), end
    return steps, taken


def _longest(rules: Rules, symbols: list[int], start: int, limit: int) -> tuple[int, int]:
    """(id, end) of the longest token over symbols from `start`; one symbol where there is no longer one."""
    limit = min(limit, start + rules.longest_token_bytes)  # a symbol has at least one byte
    joined = b"".join(rules.token(i) for i in symbols[start:limit])
    for end in range(limit, start + 1, -1):
        found = rules.model.id_by_token.get(joined)
        if found is not None and rules.model.unknown_id not in symbols[start:end]:
            return found, end
        joined = joined[: len(joined) - len(rules.token(symbols[end - 1]))]
    return symbols[start], start + 1


def _backtracking(rules: Rules, symbols: list[int]) -> Steps:
    steps: list[Step] = []
    taken: list[int] = []
    ends = [0]
    dead_ends: set[int] = set()

    def step(action: Literal["take", "back"], i: int, start: int, note: str) -> None:
        at = sum(len(rules.token(symbol)) for symbol in symbols[:start])
        told = readable(rules.token(i))
        shown = rules.texts([*taken, *symbols[ends[-1] :]])
        number = len(steps) + 1
        steps.append(
            Step(number=number, action=action, at=at, left=told, result=told, result_id=i, symbols=shown, note=note)
        )

    limit = len(symbols)
    while ends[-1] < len(symbols):
        start = ends[-1]
        skipped: list[str] = []
        chosen: tuple[int, int] | None = None
        while limit > start:
            found, end = _longest(rules, symbols, start, limit)
            if end in dead_ends:
                skipped.append(f"{readable(rules.token(found))} leads to a dead end")
            elif taken and not _compatible(rules, taken[-1], found):
                skipped.append(f"{readable(rules.token(found))} would have merged with what stands before")
            else:
                chosen = found, end
                break
            limit = end - 1
        if chosen is not None:
            taken.append(chosen[0])
            ends.append(chosen[1])
            step("take", chosen[0], start, "; ".join(skipped))
            limit = len(symbols)
        elif not taken:
            return steps, []  # no derivation at all: the caller sees that these are not the ids
        else:
            dead_ends.add(start)
            limit = ends.pop() - 1
            step("back", taken.pop(), ends[-1], "; ".join(skipped))
    return steps, taken


def _compatible(rules: Rules, left: int, right: int) -> bool:
    """Whether byte pair encoding of the symbols of both leaves the two."""
    symbols = [*_symbols_of(rules, left), *_symbols_of(rules, right)]
    return _merged(rules, symbols) == [left, right]


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


def _merged(rules: Rules, ids: list[int]) -> list[int]:
    """As `_leftmost`, without writing the steps."""
    ids = list(ids)
    while True:
        merges = [(*found, at) for at, pair in enumerate(pairwise(ids)) if (found := rules.merge(*pair))]
        if not merges:
            return ids
        _, made, at = min(merges, key=lambda merge: (merge[0], merge[2]))
        ids[at : at + 2] = [made]


def _fewest(rules: Rules, symbols: list[int]) -> Steps:
    """A covering by the fewest tokens; of several the one whose first token is shortest."""
    n = len(symbols)
    best: list[tuple[int, int, int]] = [(0, n, -1)] * (n + 1)  # (tokens to the end, where the first ends, its id)
    for start in range(n - 1, -1, -1):
        joined = b""
        choices = []
        for end in range(start + 1, min(n, start + rules.longest_token_bytes) + 1):
            joined += rules.token(symbols[end - 1])
            found = symbols[start] if end == start + 1 else rules.model.id_by_token.get(joined)
            if found is not None:
                choices.append((1 + best[end][0], end, found))
        best[start] = min(choices)
    steps: list[Step] = []
    taken: list[int] = []
    start = at = 0
    while start < n:
        _, end, found = best[start]
        taken.append(found)
        token = rules.token(found)
        told, shown = readable(token), rules.texts([*taken, *symbols[end:]])
        steps.append(
            Step(number=len(steps) + 1, action="take", at=at, left=told, result=told, result_id=found, symbols=shown)
        )
        at, start = at + len(token), end
    return steps, taken


_WAYS: dict[Way, Callable[[Rules, list[int]], Steps]] = {
    "leftmost": _leftmost,
    "everywhere": _everywhere,
    "replay": _replay,
    "backtracking": _backtracking,
    "fewest": _fewest,
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
    from impls.errors import UnknownSymbol

    if len(piece) > MAX_SYMBOLS:
        return None
    try:
        return derive(rules, piece, way)
    except UnknownSymbol:
        return None
