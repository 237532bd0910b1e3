"""Two sides, one text: the first stage in which they differ, and both derivations."""

from __future__ import annotations

from dataclasses import replace

from harness.explain.adapters import seen_bytes_by_id, side_of
from harness.explain.observations import Observation, observe, resolve
from harness.explain.readable import readable
from harness.explain.sides import Side
from harness.explain.stages import first_difference
from harness.explain.summaries import summarise
from harness.explanations import Explanation, Stage


def explain(a: Side, b: Side, text: str) -> Explanation:
    """Explain where `a` and `b` differ on `text`, stage by stage, and how that is known."""
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    observations = observed(a, b, text)
    difference = first_difference(*observations)
    summaries = [
        summarise(observation, other, difference)
        for observation, other in zip(observations, reversed(observations), strict=True)
    ]
    explanation = Explanation(text=readable(text), agree=difference is None, a=summaries[0], b=summaries[1])
    if difference is None:
        explanation.what = "the ids are the same, and so is what they decode to"
        if all(observation.error is not None for observation in observations):
            explanation.agree, explanation.what = None, "both refuse the text, so nothing was compared"
        return explanation
    explanation.stage = difference.stage
    explanation.what = readable(difference.what)
    explanation.step, explanation.rank = difference.step, difference.rank
    explanation.certainty = difference.certainty
    explanation.evidence = list(dict.fromkeys(map(readable, difference.evidence)))
    if difference.byte is not None:
        explanation.where = _character(observations[0], difference.byte)
    return explanation


def first_differing_stage(a: object, b: object, text: str) -> Stage | None:
    """Return the first stage in which two tokenizers (of any kind `side_of` takes) differ.

    Returns None where they agree, or both refuse the text.
    """
    return explain(side_of(a, "A"), side_of(b, "B"), text).stage


def observed(a: Side, b: Side, text: str) -> tuple[Observation, Observation]:
    """Observe both sides; what one does not expose is taken from the other where their answers allow it."""
    observations = observe(a, text), observe(b, text)
    whole = {**b.whole_tokens, **a.whole_tokens}
    for observation, other in zip(observations, reversed(observations), strict=True):
        _lend(observation, other)
        resolve(observation, (observation.side.whole_tokens or whole).items())
    return observations


def _lend(observation: Observation, other: Observation) -> None:
    """Give a side that hides its vocabulary that of the model it is assumed to run, or the other side's.

    Where an id in use contradicts it, nothing is assumed.
    """
    side = observation.side
    if side.token_bytes is not None:
        return
    for model, token_bytes in ((side.model, None), (other.side.model, other.side.token_bytes)):
        if model is None:
            continue
        token_of = token_bytes or seen_bytes_by_id(model).get
        lent = [token_of(i) for i in observation.ids]
        clean = [(own, theirs) for own, theirs in zip(observation.tokens, lent, strict=True) if own is not None]
        if None not in lent and all(own == theirs for own, theirs in clean):
            observation.tokens = lent
            observation.side = replace(side, token_bytes=token_of)
            return
    if side.is_guess:
        observation.side = replace(side, model=None, split=None, normalize=None, about="known by its answers only")


def _character(observation: Observation, byte: int) -> int | None:
    """Return the character of the text that holds a byte of what the merges see, where that is the text itself."""
    seen = observation.seen
    if seen is None or seen != observation.text.encode():
        return None
    return len(seen[:byte].decode("utf-8", "ignore"))
