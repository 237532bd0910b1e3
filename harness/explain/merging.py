"""Where two derivations of one piece part: the first step of either that the other's result does not hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explain.readable import quoted
from harness.explain.rules import Rules
from harness.explain.views import View
from harness.explain.ways import WAYS, Derived, Way, attempt, way_that_gives
from harness.explanations import Step


@dataclass(slots=True)
class Derivation:
    """How a side merges a piece, as far as that is known."""

    name: str
    rules: Rules
    way: Way | None
    """None: no known way gives its ids."""
    steps: list[Step]
    ends: list[int]
    """The byte at which each of its tokens ends."""
    ids: list[int]

    @property
    def reproduced(self) -> bool:
        """Whether the steps end in the ids of the side."""
        return self.way is not None


@dataclass(slots=True)
class Apart:
    """The first step that differs, in words."""

    what: str
    step: int | None
    rank: int | None
    reproduced: bool
    """Whether both derivations end in the ids of their sides."""
    missing: bytes | None = None
    """The token that the other side does not have."""
    evidence: list[str] = field(default_factory=list)


def derivation(view: View, other: View, span: tuple[int, int]) -> Derivation | None:
    """How `view` came from a piece to its ids; by the merges of `other` where its own are not known."""
    rules = view.side.rules or other.side.rules
    ids = view.ids_between(*span)
    if rules is None or ids is None or view.seen is None:
        return None
    piece = view.seen[slice(*span)].decode("utf-8", "replace")
    found = way_that_gives(rules, piece, ids, view.side.way)
    ends = [border - span[0] for border in view.borders if span[0] < border <= span[1]]
    if found is None:
        return Derivation(view.side.name, rules, None, [], ends, ids)
    way, derived = found
    return Derivation(view.side.name, rules, way, derived.steps, ends, ids)


def expected(view: View, other: View, piece: str) -> Derived | None:
    """What its declared way makes of a piece, whatever the ids."""
    rules = view.side.rules or other.side.rules
    return None if rules is None else attempt(rules, piece, view.side.way or "leftmost")


def first_step_apart(a: View, b: View, span: tuple[int, int]) -> Apart | None:
    """The first step, of either side, that joins what the other keeps apart; None where too little is known."""
    one, two = derivation(a, b, span), derivation(b, a, span)
    if one is None or two is None or a.seen is None:
        return None
    piece = a.seen[slice(*span)]
    evidence = [_way_told(side) for side in (one, two)]
    reproduced = one.reproduced and two.reproduced
    crossings = _crossing(one, two), _crossing(two, one)
    candidates = [(step.number, k, step) for k, step in enumerate(crossings) if step is not None]
    if not candidates:
        what = f"in the piece {quoted(piece)} {_result(one, piece)}; {_result(two, piece)}"
        return Apart(what, None, None, reproduced, evidence=evidence)
    number, k, step = min(candidates, key=lambda candidate: candidate[:2])
    taker, other = (one, two) if k == 0 else (two, one)
    told = f"{taker.name} {_told(step)}; {_answer(other, number, step, piece)}"
    what = f"in the piece {quoted(piece)}, step {number}: {told}"
    result = taker.rules.token(step.result_id) if step.result_id is not None else b""
    if other.rules is not taker.rules and result not in other.rules.model.id_by_token:
        told = f"{taker.name} {_told(step)}; {other.name} has no such token"
        what = f"in the piece {quoted(piece)}, step {number}: {told}"
        return Apart(what, number, step.rank, reproduced, result, evidence)
    return Apart(what, number, step.rank, reproduced, evidence=evidence)


def _crossing(side: Derivation, other: Derivation) -> Step | None:
    """The first step of `side` whose result runs over the end of a token of `other`."""
    for step in side.steps:
        if step.action == "back" or step.result_id is None:
            continue
        end = step.at + len(side.rules.token(step.result_id))
        if step.action in ("take", "longest") and end not in side.ends:
            continue  # taken back later
        if any(step.at < border < end for border in other.ends):
            return step
    return None


def _told(step: Step) -> str:
    rank = "" if step.rank is None else f" (rank {step.rank})"
    match step.action:
        case "merge":
            return f"merges {quoted(step.left)} + {quoted(step.right)}{rank} at byte {step.at}"
        case "whole piece":
            return f"takes the whole piece as one token{rank}: {step.note}"
        case "longest":
            return f"takes the longest token, {quoted(step.result)}{rank}, at byte {step.at}"
        case _:
            return f"takes {quoted(step.result)} at byte {step.at}"


def _answer(other: Derivation, number: int, step: Step, piece: bytes) -> str:
    """What the other side does at that step, or has in that place in the end."""
    there = _crossing_back(other, step)
    if there is not None:
        later = "" if there.number == number else f" in its step {there.number}"
        return f"{other.name} {_told(there)}{later}"
    same = next((its for its in other.steps if its.number == number), None)
    if same is not None and same.action == "merge":
        return f"{other.name} {_told(same)}"
    if other.steps and other.steps[-1].action == "merge" and len(other.steps) < number:
        return f"{other.name} merges nothing more"
    return _result(other, piece)


def _crossing_back(other: Derivation, step: Step) -> Step | None:
    """The step of `other` that takes a part of what `step` joined, and more: the two exclude each other."""
    result_end = step.at + len(step.result.encode())
    for its in other.steps:
        if its.action == "back" or its.result_id is None:
            continue
        end = its.at + len(other.rules.token(its.result_id))
        if its.action in ("take", "longest") and end not in other.ends:
            continue
        if its.at < step.at < end < result_end or step.at < its.at < result_end < end:
            return its
    return None


def _result(side: Derivation, piece: bytes) -> str:
    starts = [0, *side.ends[:-1]]
    tokens = " ".join(quoted(piece[start:end]) for start, end in zip(starts, side.ends, strict=True))
    return f"{side.name} has {tokens}"


def _way_told(side: Derivation) -> str:
    if side.way is None:
        return f"no way of merging known here gives the ids of {side.name}"
    return f"the ids of {side.name} are what its merges give in this way: {WAYS[side.way]}"
