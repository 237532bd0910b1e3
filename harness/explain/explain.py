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
from harness.targets import load_tokenizer
from impls.core.errors import Unsupported
from impls.core.model.model import Model


def explain(a: Side, b: Side, text: str) -> Explanation:
    """Explain where `a` and `b` differ on `text`, stage by stage, with the evidence."""
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
    explanation.stage, explanation.what = found.stage, readable(found.what)
    explanation.step, explanation.rank = found.step, found.rank
    explanation.evidence = list(dict.fromkeys(map(readable, found.evidence)))
    if found.byte is not None and one.sees_the_text:
        explanation.where = one.character(found.byte)
    return explanation


def observed(a: Side, b: Side, text: str) -> tuple[Observation, Observation]:
    """Observe both sides; what one does not expose is taken from the other if their answers allow it."""
    one, two = observe(a, text), observe(b, text)
    whole = {**b.whole_tokens, **a.whole_tokens}
    for observation, other in ((one, two), (two, one)):
        _share_vocabulary(observation, other)
        resolve(observation, observation.side.whole_tokens or whole)
    return one, two


def _share_vocabulary(observation: Observation, other: Observation) -> None:
    """Give a side that hides its vocabulary that of the other side, unless an id in use contradicts it."""
    model, token_of = other.side.model, other.side.token_bytes
    if observation.side.token_bytes is not None or model is None:
        return
    token_of = token_of or merge_input_bytes(model).get
    lent = [token_of(i) for i in observation.ids]
    if None not in lent and all(own in (None, token) for own, token in zip(observation.tokens, lent, strict=True)):
        observation.tokens = lent
        observation.side = replace(observation.side, token_bytes=token_of)


_IDS_SHOWN = 8


def first_difference(a: Observation, b: Observation) -> StageDifference | None:
    """Return the first difference of two observations; None if the sides agree, or both refuse the text."""
    if (a.error or b.error) is not None:
        return _failure(a, b)
    for one in (a, b):
        if one.again is not None:
            what = f"{one.name} gives {_shown(one.ids)} when asked first, then {_shown(one.again)}"
            return StageDifference("determinism", what)
    if a.ids == b.ids:
        return _decoding(a, b)
    return _special_tokens(a, b) or _lost_beside_special(a, b) or normalisation(a, b) or pieces_or_merges(a, b)


def _shown(ids: list[int]) -> str:
    shown = " ".join(map(str, ids[:_IDS_SHOWN]))
    return f"[{shown}]" if len(ids) <= _IDS_SHOWN else f"[{shown} … ({len(ids)})]"


def _failure(a: Observation, b: Observation) -> StageDifference | None:
    if a.error is not None and b.error is not None and a.again is b.again is None:
        return None
    shown = [f"{one.name} " + (f"raises {one.error}" if one.error else f"gives {len(one.ids)} ids") for one in (a, b)]
    return StageDifference("failure", "; ".join(shown))


def _decoding(a: Observation, b: Observation) -> StageDifference | None:
    texts = decoded(a), decoded(b)
    if texts[0] == texts[1]:
        return None
    shown = [f"{one.name} decodes them to {quoted(text)}" for one, text in zip((a, b), texts, strict=True)]
    return StageDifference("decode", f"the ids are the same; {'; '.join(shown)}")


def _special_tokens(a: Observation, b: Observation) -> StageDifference | None:
    if [(found.text, found.offset) for found in a.specials] == [(found.text, found.offset) for found in b.specials]:
        return None
    shown = [f"{one.name} recognises {', '.join(map(str, one.specials)) or 'none'}" for one in (a, b)]
    apart = set(map(str, a.specials)) ^ set(map(str, b.specials))
    evidence = [f"the id of {one} is in the ids of one side only" for one in sorted(apart)[:3]]
    first = min(special.offset for special in (*a.specials, *b.specials))
    return StageDifference("special tokens", "; ".join(shown), evidence=evidence, byte=len(a.text[:first].encode()))


def _lost_beside_special(a: Observation, b: Observation) -> StageDifference | None:
    """Return the difference if one side drops the text right before or after a special token."""
    for one, other in ((a, b), (b, a)):
        segments = _segments(one)
        for k, (segment, kept) in enumerate(zip(segments, _segments(other), strict=False)):
            if segment == kept or len(segments) < 2:
                continue
            if k < len(segments) - 1 and kept.startswith(segment):
                where, special, lost = "before", one.specials[k], kept[len(segment) :]
            elif k > 0 and kept.endswith(segment):
                where, special, lost = "after", one.specials[k - 1], kept[: len(kept) - len(segment)]
            else:
                break
            text = quoted(lost.decode("utf-8", "replace"))
            what = f"{one.name} leaves out {text} {where} {quoted(special.text)}"
            return StageDifference("special tokens", what, byte=len(one.text[: special.offset].encode()))
    return None


def _segments(observation: Observation) -> list[bytes]:
    """Return the bytes of the tokens between special tokens; an empty result if some are unknown."""
    if observation.seen is None or not observation.specials:
        return []
    edges = [0]
    for special in observation.specials:
        edges += [observation.borders[special.index], observation.borders[special.index + 1]]
    edges.append(len(observation.seen))
    return [observation.seen[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


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
        its_ids = ids[n_derived : n_derived + len(derived.ids)]
        n_derived += len(derived.ids)
        pieces.append(
            TracedPiece(
                text=readable(piece),
                symbols=rules.texts(derived.symbols),
                steps=tuple(derived.steps),
                ids=tuple(derived.ids),
                note="a token: looked up at once, not merged; merging leads to it as well" if is_looked_up else "",
                reproduces=its_ids == derived.ids,
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
