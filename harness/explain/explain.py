"""Two sides, one text: the first stage that differs, and both derivations."""

from __future__ import annotations

from dataclasses import replace

from harness.explain.accounts import account
from harness.explain.making import seen_bytes_by_id, side_of
from harness.explain.readable import readable
from harness.explain.sides import Side
from harness.explain.stages import first_difference
from harness.explain.views import View, observe, resolve
from harness.explanations import Explanation, Stage


def explain(a: Side, b: Side, text: str) -> Explanation:
    """Where `a` and `b` part on `text`, stage by stage, and how that is known."""
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    views = observed(a, b, text)
    verdict = first_difference(*views)
    accounts = [account(view, other, verdict) for view, other in zip(views, reversed(views), strict=True)]
    explanation = Explanation(text=readable(text), agree=verdict is None, a=accounts[0], b=accounts[1])
    if verdict is None:
        explanation.what = "the ids are the same, and so is what they decode to"
        if all(view.error is not None for view in views):
            explanation.agree, explanation.what = None, "both refuse the text, so nothing was compared"
        return explanation
    explanation.stage = verdict.stage
    explanation.what = readable(verdict.what)
    explanation.step, explanation.rank = verdict.step, verdict.rank
    explanation.certainty = verdict.certainty
    explanation.evidence = list(dict.fromkeys(map(readable, verdict.evidence)))
    if verdict.byte is not None:
        explanation.where = _character(views[0], verdict.byte)
    return explanation


def first_differing_stage(a: object, b: object, text: str, names: tuple[str, str] = ("A", "B")) -> Stage | None:
    """The name of the first stage in which two tokenizers (of any kind `side_of` takes) part.

    None where they agree, or both refuse the text.
    """
    sides = [side_of(target, name) for target, name in zip((a, b), names, strict=True)]
    return explain(sides[0], sides[1], text).stage


def observed(a: Side, b: Side, text: str) -> tuple[View, View]:
    """Both views, with what one side does not tell taken from the other where their answers allow it."""
    views = observe(a, text), observe(b, text)
    whole = {**b.whole_tokens, **a.whole_tokens}
    for view, other in zip(views, reversed(views), strict=True):
        _lend(view, other)
        resolve(view, (view.side.whole_tokens or whole).items())
    return views


def _lend(view: View, other: View) -> None:
    """Give a side that hides its vocabulary that of the model it is taken to run, or the other's.

    Where an id in use says otherwise, nothing is taken to be known of it.
    """
    side = view.side
    if side.token_bytes is not None:
        return
    for model, token_bytes in ((side.model, None), (other.side.model, other.side.token_bytes)):
        if model is None:
            continue
        token_of = token_bytes or seen_bytes_by_id(model).get
        lent = [token_of(i) for i in view.ids]
        clean = [(own, theirs) for own, theirs in zip(view.tokens, lent, strict=True) if own is not None]
        if None not in lent and all(own == theirs for own, theirs in clean):
            view.tokens = lent
            view.side = replace(side, token_bytes=token_of)
            return
    if side.is_guess:
        view.side = replace(side, model=None, split=None, normalize=None, about="known by its answers only")


def _character(view: View, byte: int) -> int | None:
    """The character of the text at which a byte of what the merges see stands, where that is the text itself."""
    seen = view.seen
    if seen is None or seen != view.text.encode():
        return None
    return len(seen[:byte].decode("utf-8", "ignore"))
