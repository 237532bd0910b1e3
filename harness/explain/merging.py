"""Find where two derivations of one piece diverge: the first step of either that contradicts the other's result."""

from __future__ import annotations

from dataclasses import dataclass

from harness.explain.algorithms import ALGORITHMS, Algorithm, algorithm_that_gives
from harness.explain.observations import Observation, Span, StageDifference
from harness.explain.rules import Rules
from harness.explanations import Step
from harness.printable import quoted


@dataclass(slots=True)
class MergeDerivation:
    """How a side merges a piece, as far as known."""

    name: str
    rules: Rules
    algorithm: Algorithm | None
    """None if no known algorithm gives its ids."""
    steps: list[Step]
    ends: list[int]
    """The byte at which each of its tokens ends."""

    def describe(self) -> str:
        """Name the algorithm that gives the side's ids."""
        if self.algorithm is None:
            return f"no known merge algorithm gives the ids of {self.name}"
        return f"the ids of {self.name} are what its merges give by this algorithm: {ALGORITHMS[self.algorithm]}"

    def result(self, piece: bytes) -> str:
        """Name the tokens the side ends with."""
        tokens = [quoted(piece[start:end]) for start, end in zip([0, *self.ends], self.ends, strict=False)]
        return f"{self.name} has {' '.join(tokens)}"

    def lasting(self) -> list[tuple[Step, int]]:
        """Return the steps that are not undone later, with the end in bytes of each result."""
        found = []
        for step in self.steps:
            if step.action == "back" or step.result_id is None:
                continue
            end = step.at + len(self.rules.token(step.result_id))
            if step.action not in ("take", "longest") or end in self.ends:
                found.append((step, end))
        return found


def derivation(observation: Observation, other: Observation, span: Span) -> MergeDerivation | None:
    """Derive the ids of a piece in `observation`, by the merges of `other` if its own are unknown."""
    rules = observation.side.rules or other.side.rules
    ids = observation.ids_between(*span)
    if rules is None or ids is None or observation.seen is None:
        return None
    found = algorithm_that_gives(rules, observation.between(*span), ids, observation.side.algorithm)
    ends = [border - span[0] for border in observation.borders if span[0] < border <= span[1]]
    if found is None:
        return MergeDerivation(observation.name, rules, None, [], ends)
    return MergeDerivation(observation.name, rules, found[0], found[1].steps, ends)


def first_differing_step(a: Observation, b: Observation, span: Span) -> StageDifference | None:
    """Return the first step of either side that joins what the other keeps apart; None if too little is known.

    The stage is `vocabulary` if the other side has no such token.
    """
    one, two = derivation(a, b, span), derivation(b, a, span)
    if one is None or two is None or a.seen is None:
        return None
    piece = a.seen[slice(*span)]
    evidence = [one.describe(), two.describe()]
    found = StageDifference("merges", "", evidence)
    crossings = _crossing(one, two), _crossing(two, one)
    candidates = [(step.number, k, step) for k, step in enumerate(crossings) if step is not None]
    if not candidates:
        found.what = f"in the piece {quoted(piece)} {one.result(piece)}; {two.result(piece)}"
        return found
    number, k, step = min(candidates, key=lambda candidate: candidate[:2])
    taker, other = (one, two) if k == 0 else (two, one)
    found.step, found.rank = number, step.rank
    found.what = f"in the piece {quoted(piece)}, step {number}: {taker.name} {_describe_step(step)}; "
    result = taker.rules.token(step.result_id) if step.result_id is not None else b""
    if other.rules is not taker.rules and result not in other.rules.model.id_by_token:
        found.stage = "vocabulary"
        found.what += f"{other.name} has no such token"
    else:
        found.what += other.result(piece)
    return found


def _crossing(side: MergeDerivation, other: MergeDerivation) -> Step | None:
    """Return the first step of `side` whose result crosses the end of a token of `other`."""
    return next((step for step, end in side.lasting() if any(step.at < border < end for border in other.ends)), None)


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
