"""Find where two derivations of one piece diverge: the first step of either that contradicts the other's result."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from harness.explain.algorithms import ALGORITHMS, Algorithm, steps_to
from harness.explain.observations import Observation, Span, StageDifference
from harness.explain.rules import Rules
from harness.explanations import Step
from harness.printable import quoted


@dataclass(slots=True)
class MergeDerivation:
    """How a side merges a piece, as far as known."""

    name: str
    piece: bytes
    rules: Rules
    ends: list[int]
    """The byte at which each of its tokens ends."""
    algorithm: Algorithm | None = None
    """None if no known algorithm gives its ids."""
    steps: list[Step] = field(default_factory=list)

    def describe(self) -> str:
        """Name the algorithm that gives the side's ids."""
        if self.algorithm is None:
            return f"no known merge algorithm gives the ids of {self.name}"
        return f"the ids of {self.name} follow from its merges by this rule: {ALGORITHMS[self.algorithm]}"

    def result(self) -> str:
        """Name the tokens the side ends with."""
        return f"{self.name} has {' '.join(quoted(self.piece[start:end]) for start, end in pairwise([0, *self.ends]))}"

    def crossing(self, other: MergeDerivation) -> Step | None:
        """Return the first step, of those not undone later, whose result crosses the end of a token of `other`."""
        for step in self.steps:
            end = step.at + len(self.rules.token(step.result_id))
            is_kept = end in self.ends if step.action in ("take", "longest") else step.action != "back"
            if is_kept and any(step.at < border < end for border in other.ends):
                return step
        return None


def derivation(observation: Observation, other: Observation, span: Span) -> MergeDerivation | None:
    """Derive the ids of a piece in `observation`, by the merges of `other` if its own are unknown."""
    rules, ids = observation.side.rules or other.side.rules, observation.ids_between(*span)
    if rules is None or ids is None or observation.seen is None:
        return None
    ends = [border - span[0] for border in observation.borders if span[0] < border <= span[1]]
    derived = MergeDerivation(observation.name, observation.seen[slice(*span)], rules, ends)
    for algorithm in sorted(ALGORITHMS, key=lambda name: name != observation.side.algorithm):
        if (steps := steps_to(rules, observation.piece(span), ids, algorithm)) is not None:
            derived.algorithm, derived.steps = algorithm, steps
            break
    return derived


def first_differing_step(a: Observation, b: Observation, span: Span) -> StageDifference | None:
    """Return the first step of either side that joins what the other keeps apart; None if too little is known.

    The stage is `vocabulary` if the other side has no such token.
    """
    of_a, of_b = derivation(a, b, span), derivation(b, a, span)
    if of_a is None or of_b is None:
        return None
    sides, piece = ((of_a, of_b), (of_b, of_a)), f"in the piece {quoted(of_a.piece)}"
    evidence = [of_a.describe(), of_b.describe()]
    crossings = [(step, side, other) for side, other in sides if (step := side.crossing(other)) is not None]
    if not crossings:
        return StageDifference("merges", f"{piece} {of_a.result()}; {of_b.result()}", evidence)
    step, side, other = min(crossings, key=lambda crossing: crossing[0].number)
    is_token = other.rules is side.rules or side.rules.token(step.result_id) in other.rules.model.id_by_token
    what = f"{piece}, step {step.number}: {side.name} {_describe_step(step)}; "
    what += other.result() if is_token else f"{other.name} has no such token"
    return StageDifference("merges" if is_token else "vocabulary", what, evidence, step=step.number, rank=step.rank)


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
