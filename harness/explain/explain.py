"""Two sides, one text: the first stage in which they differ, and both derivations."""

from __future__ import annotations

from dataclasses import replace

from harness.explain.adapters import seen_bytes_by_id
from harness.explain.observations import Observation, observe, resolve
from harness.explain.readable import readable
from harness.explain.sides import Side
from harness.explain.stages import first_difference
from harness.explain.summaries import summarise
from harness.explanations import Explanation


def explain(a: Side, b: Side, text: str) -> Explanation:
    """Explain where `a` and `b` differ on `text`, stage by stage, and how that is known."""
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    one, two = observed(a, b, text)
    found = first_difference(one, two)
    explanation = Explanation(
        text=readable(text), agree=found is None, a=summarise(one, two, found), b=summarise(two, one, found)
    )
    if found is None:
        explanation.what = "the ids are the same, and so is what they decode to"
        if one.error is not None and two.error is not None:
            explanation.agree, explanation.what = None, "both refuse the text, so nothing was compared"
        return explanation
    explanation.stage, explanation.what, explanation.certainty = found.stage, readable(found.what), found.certainty
    explanation.step, explanation.rank = found.step, found.rank
    explanation.evidence = list(dict.fromkeys(map(readable, found.evidence)))
    if found.byte is not None and one.sees_the_text:
        explanation.where = one.character(found.byte)
    return explanation


def observed(a: Side, b: Side, text: str) -> tuple[Observation, Observation]:
    """Observe both sides; what one does not expose is taken from the other where their answers allow it."""
    one, two = observe(a, text), observe(b, text)
    whole = {**b.whole_tokens, **a.whole_tokens}
    for observation, other in ((one, two), (two, one)):
        _lend(observation, other)
        resolve(observation, observation.side.whole_tokens or whole)
    return one, two


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
        if None not in lent and all(own in (None, token) for own, token in zip(observation.tokens, lent, strict=True)):
            observation.tokens = lent
            observation.side = replace(side, token_bytes=token_of)
            return
    if side.is_guess:
        observation.side = replace(side, model=None, split=None, normalize=None, about="known by its answers only")
