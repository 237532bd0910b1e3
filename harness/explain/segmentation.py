"""Segmentations of a piece into tokens without merging: longest match, backtracking, fewest tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from harness.explain.readable import readable
from harness.explain.rules import Rules
from harness.explanations import Step

Steps = tuple[list[Step], list[int]]
"""The steps, and the ids they end in."""


def greedy(rules: Rules, symbols: list[int]) -> Steps:
    """Take the longest token at each place, from left to right."""
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
    """Return (id, end) of the longest token from symbol `start`; the symbol itself where there is no longer one."""
    limit = min(limit, start + rules.longest_token_bytes)  # a symbol has at least one byte
    joined = b"".join(rules.token(i) for i in symbols[start:limit])
    for end in range(limit, start + 1, -1):
        found = rules.model.id_by_token.get(joined)
        if found is not None and rules.model.unknown_id not in symbols[start:end]:
            return found, end
        joined = joined[: len(joined) - len(rules.token(symbols[end - 1]))]
    return symbols[start], start + 1


def backtracking(rules: Rules, symbols: list[int]) -> Steps:
    """Take the longest token compatible with the previous one, else the next shorter, else undo the previous one.

    van Antwerpen and Neubeck 2024, "So many tokens, so little time".
    """
    steps: list[Step] = []
    taken: list[int] = []
    ends = [0]
    dead_ends: set[int] = set()

    def step(action: Literal["take", "back"], i: int, start: int, note: str) -> None:
        at = sum(len(rules.token(symbol)) for symbol in symbols[:start])
        token = readable(rules.token(i))
        shown = rules.texts([*taken, *symbols[ends[-1] :]])
        number = len(steps) + 1
        steps.append(
            Step(number=number, action=action, at=at, left=token, result=token, result_id=i, symbols=shown, note=note)
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
                skipped.append(f"{readable(rules.token(found))} would have merged with the token before it")
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
            return steps, []  # no derivation: the caller sees that these are not the ids
        else:
            dead_ends.add(start)
            limit = ends.pop() - 1
            step("back", taken.pop(), ends[-1], "; ".join(skipped))
    return steps, taken


def _compatible(rules: Rules, left: int, right: int) -> bool:
    """Whether byte pair encoding of the symbols of both tokens gives the same two tokens."""
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
    """Merge the lowest rank first, leftmost of equals, without recording steps."""
    ids = list(ids)
    while True:
        merges = [(*found, at) for at, pair in enumerate(pairwise(ids)) if (found := rules.merge(*pair))]
        if not merges:
            return ids
        _, made, at = min(merges, key=lambda merge: (merge[0], merge[2]))
        ids[at : at + 2] = [made]


def fewest(rules: Rules, symbols: list[int]) -> Steps:
    """Cover the symbols with the fewest tokens; of several segmentations take the one whose first token is shortest."""
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
        text, shown = readable(token), rules.texts([*taken, *symbols[end:]])
        steps.append(
            Step(number=len(steps) + 1, action="take", at=at, left=text, result=text, result_id=found, symbols=shown)
        )
        at, start = at + len(token), end
    return steps, taken
