"""Where two derivations of one piece diverge: the first step of either that contradicts the other's result."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explain.algorithms import ALGORITHMS, Algorithm, algorithm_that_gives
from harness.explain.observations import Observation
from harness.explain.readable import quoted
from harness.explain.rules import Rules
from harness.explanations import Step


@dataclass(slots=True)
class Derivation:
    """How a side merges a piece, as far as known."""

    name: str
    rules: Rules
    algorithm: Algorithm | None
    """None: no known algorithm gives its ids."""
    steps: list[Step]
    ends: list[int]
    """The byte at which each of its tokens ends."""
    ids: list[int]

    @property
    def reproduced(self) -> bool:
        """Whether the steps end in the ids of the side."""
        return self.algorithm is not None


@dataclass(slots=True)
class StepDifference:
    """The first step that differs, as a sentence."""

    what: str
    step: int | None
    rank: int | None
    reproduced: bool
    """Whether both derivations end in the ids of their sides."""
    missing: bytes | None = None
    """The token that the other side does not have."""
    evidence: list[str] = field(default_factory=list)


def derivation(observation: Observation, other: Observation, span: tuple[int, int]) -> Derivation | None:
    """Derive the ids of a piece in `observation`, by the merges of `other` where its own are not known."""
    rules = observation.side.rules or other.side.rules
    ids = observation.ids_between(*span)
    if rules is None or ids is None or observation.seen is None:
        return None
    piece = observation.seen[slice(*span)].decode("utf-8", "replace")
    found = algorithm_that_gives(rules, piece, ids, observation.side.algorithm)
    ends = [border - span[0] for border in observation.borders if span[0] < border <= span[1]]
    if found is None:
        return Derivation(observation.side.name, rules, None, [], ends, ids)
    algorithm, derived = found
    return Derivation(observation.side.name, rules, algorithm, derived.steps, ends, ids)


def first_differing_step(a: Observation, b: Observation, span: tuple[int, int]) -> StepDifference | None:
    """Return the first step of either side that joins what the other keeps apart; None where too little is known."""
    one, two = derivation(a, b, span), derivation(b, a, span)
    if one is None or two is None or a.seen is None:
        return None
    piece = a.seen[slice(*span)]
    evidence = [_describe_algorithm(side) for side in (one, two)]
    reproduced = one.reproduced and two.reproduced
    crossings = _crossing(one, two), _crossing(two, one)
    candidates = [(step.number, k, step) for k, step in enumerate(crossings) if step is not None]
    if not candidates:
        what = f"in the piece {quoted(piece)} {_result(one, piece)}; {_result(two, piece)}"
        return StepDifference(what, None, None, reproduced, evidence=evidence)
    number, k, step = min(candidates, key=lambda candidate: candidate[:2])
    taker, other = (one, two) if k == 0 else (two, one)
    where = f"in the piece {quoted(piece)}, step {number}: {taker.name} {_describe_step(step)}"
    result = taker.rules.token(step.result_id) if step.result_id is not None else b""
    if other.rules is not taker.rules and result not in other.rules.model.id_by_token:
        what = f"{where}; {other.name} has no such token"
        return StepDifference(what, number, step.rank, reproduced, result, evidence)
    what = f"{where}; {_answer(other, number, step, piece)}"
    return StepDifference(what, number, step.rank, reproduced, evidence=evidence)


def _crossing(side: Derivation, other: Derivation) -> Step | None:
    """Return the first step of `side` whose result crosses the end of a token of `other`."""
    for step in side.steps:
        if step.action == "back" or step.result_id is None:
            continue
        end = step.at + len(side.rules.token(step.result_id))
        if step.action in ("take", "longest") and end not in side.ends:
            continue  # undone later
        if any(step.at < border < end for border in other.ends):
            return step
    return None


def _describe_step(step: Step) -> str:
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
    """Say what the other side does at that step, or which tokens it ends with."""
    there = _crossing_back(other, step)
    if there is not None:
        later = "" if there.number == number else f" in its step {there.number}"
        return f"{other.name} {_describe_step(there)}{later}"
    same = next((its for its in other.steps if its.number == number), None)
    if same is not None and same.action == "merge":
        return f"{other.name} {_describe_step(same)}"
    if other.steps and other.steps[-1].action == "merge" and len(other.steps) < number:
        return f"{other.name} merges nothing more"
    return _result(other, piece)


def _crossing_back(other: Derivation, step: Step) -> Step | None:
    """Return the step of `other` that takes a part of what `step` joined, and more: the two exclude each other."""
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


def _describe_algorithm(side: Derivation) -> str:
    if side.algorithm is None:
        return f"no known merge algorithm gives the ids of {side.name}"
    return f"the ids of {side.name} are what its merges give by this algorithm: {ALGORITHMS[side.algorithm]}"
