"""Compare two sides on one text: the first differing stage, and both derivations; or list every merge step of one side.

A text passes through the stages in this order, so the first that differs explains the rest. Each function compares one
stage of two observations and returns the difference, or None if the sides agree there.

The steps come from `harness.explain.algorithms` and are compared with the ids of the implementation: a piece whose ids
differ is marked.
"""

from __future__ import annotations

from dataclasses import replace

from harness.explain.algorithms import ALGORITHMS, MAX_SYMBOLS, algorithm_of, derive_by_merging
from harness.explain.observations import Observation, StageDifference, decoded, observe, resolve
from harness.explain.piece_stage import pieces_or_merges
from harness.explain.rules import Rules, merge_input_bytes
from harness.explain.sides import Side
from harness.explain.summaries import summarise
from harness.explain.text_stage import normalisation
from harness.explanations import Explanation, Trace, TracedPiece
from harness.printable import quoted, readable
from harness.report import wording
from harness.targets import load_tokenizer
from impls.core.errors import Unsupported
from impls.core.model.model import Model


def explain(a: Side, b: Side, text: str) -> Explanation:
    """Explain where `a` and `b` differ on `text`, stage by stage, with the evidence."""
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    of_a, of_b = observe(a, text), observe(b, text)
    for observation, other in ((of_a, of_b), (of_b, of_a)):
        _share_vocabulary(observation, other)
        resolve(observation, observation.side.whole_tokens or other.side.whole_tokens)
    difference = first_difference(of_a, of_b)
    summaries = [summarise(*sides, difference) for sides in ((of_a, of_b), (of_b, of_a))]
    explanation = Explanation(text=readable(text), agree=difference is None, a=summaries[0], b=summaries[1])
    if difference is None:
        explanation.what = "the ids are the same, and so is what they decode to"
        if of_a.error is not None and of_b.error is not None:
            explanation.agree, explanation.what = None, "both refuse the text, so nothing was compared"
        return explanation
    explanation.stage, explanation.what = difference.stage, readable(difference.what)
    explanation.step, explanation.rank = difference.step, difference.rank
    explanation.evidence = list(dict.fromkeys(map(readable, difference.evidence)))
    explanation.where = None if difference.byte is None else of_a.character(difference.byte)
    return explanation


def _share_vocabulary(observation: Observation, other: Observation) -> None:
    """Give a side that hides its vocabulary that of the other side, unless an id in use contradicts it."""
    if observation.side.token_bytes is not None or other.side.model is None:
        return
    token_of = other.side.token_bytes or merge_input_bytes(other.side.model).get
    lent = [token_of(i) for i in observation.ids]
    if None not in lent and all(own in (None, token) for own, token in zip(observation.tokens, lent, strict=True)):
        observation.tokens = lent
        observation.side = replace(observation.side, token_bytes=token_of)


_IDS_SHOWN = 8


def first_difference(a: Observation, b: Observation) -> StageDifference | None:
    """Return the first difference of two observations; None if the sides agree, or both refuse the text."""
    if (a.error or b.error) is not None:
        return _failure(a, b)
    for side in (a, b):
        if side.again is not None:
            first, second = (wording.ids(of, _IDS_SHOWN) for of in (side.ids, side.again))
            return StageDifference("determinism", f"{side.name} gives [{first}] on the first call, then [{second}]")
    if a.ids == b.ids:
        return _decoding(a, b)
    return _special_tokens(a, b) or normalisation(a, b) or pieces_or_merges(a, b)


def _failure(a: Observation, b: Observation) -> StageDifference | None:
    if a.error is not None and b.error is not None and a.again is b.again is None:
        return None
    done = [f"raises {side.error}" if side.error else f"gives {len(side.ids)} ids" for side in (a, b)]
    return StageDifference("failure", f"{a.name} {done[0]}; {b.name} {done[1]}")


def _decoding(a: Observation, b: Observation) -> StageDifference | None:
    texts = decoded(a), decoded(b)
    if texts[0] == texts[1]:
        return None
    shown = [f"{side.name} decodes them to {quoted(text)}" for side, text in zip((a, b), texts, strict=True)]
    return StageDifference("decode", f"the ids are the same; {'; '.join(shown)}")


def _special_tokens(a: Observation, b: Observation) -> StageDifference | None:
    places = [[(special.text, special.offset) for special in side.specials] for side in (a, b)]
    if places[0] == places[1]:
        return None
    shown = [f"{side.name} recognises {', '.join(map(str, side.specials)) or 'none'}" for side in (a, b)]
    apart = sorted(set(map(str, a.specials)) ^ set(map(str, b.specials)))
    evidence = [f"only one side gives the id of {special}" for special in apart[:3]]
    first = min(offset for _, offset in places[0] + places[1])
    return StageDifference("special tokens", "; ".join(shown), evidence=evidence, byte=len(a.text[:first].encode()))


def trace(implementation: str, model: Model, text: str, model_name: str = "") -> Trace:
    """Return the steps of the target `implementation` on `text`, special tokens read as text.

    Raises `Unsupported` for a piece of more than `MAX_SYMBOLS` symbols, and the errors of encoding.
    """
    tokenizer = load_tokenizer(implementation, model)
    model = tokenizer.model  # a model file brings its own
    algorithm = algorithm_of(implementation)
    ids = tokenizer.encode(text, disallowed_special=())
    rules = Rules(model)
    pieces: list[TracedPiece] = []
    n_derived = 0
    for piece in tokenizer.pieces(text):
        if len(model.symbols(piece)) > MAX_SYMBOLS:
            raise Unsupported("trace", f"the piece {piece[:20]!r}… has more than {MAX_SYMBOLS} symbols; give less text")
        derived, is_looked_up = derive_by_merging(rules, piece, algorithm)
        expected = ids[n_derived : n_derived + len(derived.ids)]
        n_derived += len(derived.ids)
        pieces.append(
            TracedPiece(
                text=readable(piece),
                symbols=rules.texts(derived.symbols),
                steps=tuple(derived.steps),
                ids=tuple(derived.ids),
                note="a token: looked up at once, not merged; merging leads to it as well" if is_looked_up else "",
                reproduces=expected == derived.ids,
            )
        )
    return Trace(
        name=implementation,
        model=model_name,
        text=readable(text),
        way=ALGORITHMS[algorithm],
        ids=ids,
        pieces=pieces,
        reproduces=n_derived == len(ids) and all(piece.reproduces for piece in pieces),
    )
