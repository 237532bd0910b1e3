"""The stages that cut a text into pieces and merge them: which of the two differs first?

Only facts decide. The pieces of a side are known if it reports them, or if merging those of its pattern gives its ids.
Of a side that hides them one thing is certain: it does not cut inside one of its tokens. Otherwise the verdict is the
first differing token, and that more is not known.
"""

from __future__ import annotations

from typing import Literal

from harness.common_prefix import common_prefix_length
from harness.explain.algorithms import attempt
from harness.explain.merging import first_differing_step
from harness.explain.observations import Observation, Span, StageDifference, ask
from harness.generators.alphabets import is_newer
from harness.printable import code_point, quoted
from harness.unicode_versions import with_older

_AROUND = 12
"""Bytes shown on both sides of the first differing token."""
_CONTEXT = 40
"""Characters on both sides of it in which newer ones are searched for."""


def pieces_or_merges(a: Observation, b: Observation) -> StageDifference:
    """Find out whether two sides that see the same text cut it, merge it, or number its tokens differently."""
    if not a.borders or not b.borders:
        reason = "the bytes of some ids are not known, so pieces and merges look the same; give the model with -m"
        first = common_prefix_length(a.ids, b.ids) + 1
        return StageDifference("pieces or merges", f"the ids differ from number {first} on", [reason])
    # The same id may stand for different bytes; borders agree only as far as the bytes do.
    k = common_prefix_length(*(list(zip(one.ids, one.tokens, strict=True)) for one in (a, b)))
    if k >= len(a.tokens) or k >= len(b.tokens):
        return StageDifference("pieces or merges", f"the ids differ from number {k + 1} on")
    byte = a.borders[k]
    if a.tokens[k] == b.tokens[k]:
        what = f"{quoted(a.tokens[k] or b'')} has the id {a.ids[k]} in {a.name}, {b.ids[k]} in {b.name}"
        return StageDifference("vocabulary", what, byte=byte)
    if a.ids[k] == b.ids[k]:
        shown = [f"{quoted(one.tokens[k] or b'')} in {one.name}" for one in (a, b)]
        return StageDifference("vocabulary", f"the id {a.ids[k]} is {', '.join(shown)}", byte=byte)
    a_known, b_known = _is_trusted(a, byte), _is_trusted(b, byte)
    if a_known and b_known:
        difference = _both_known(a, b, byte)
    else:
        known, hidden = (b, a) if b_known or (not a_known and a.piece_at(byte) is None) else (a, b)
        difference = _one_hidden(known, hidden, byte)
    difference.byte = byte
    if difference.stage in ("pieces", "pieces or merges"):
        difference.evidence += _special_text_near(a, b, byte)
        _ask_for_unicode(a, b, byte, difference)
    return difference


def _is_trusted(observation: Observation, byte: int) -> bool:
    """Return whether the pieces are known here: the side reports them, or merging them gives its ids."""
    span = observation.piece_at(byte)
    if span is None or observation.pieces_from == "reported":
        return span is not None
    return observation.pieces_from == "pattern" and _gives_its_ids(observation, span)


def _gives_its_ids(observation: Observation, span: Span) -> bool:
    rules, algorithm = observation.side.rules, observation.side.algorithm
    if rules is None or algorithm is None or observation.seen is None:
        return False
    derived = attempt(rules, observation.between(*span), algorithm)
    return derived is not None and derived.ids == observation.ids_between(*span)


def _both_known(a: Observation, b: Observation, byte: int) -> StageDifference:
    span = a.piece_at(byte)
    if span == b.piece_at(byte) and span is not None:
        return _merges(a, b, byte, span, "merges")
    shown, reasons = [], []
    for one in (a, b):
        span = one.piece_at(byte)
        piece = "?" if span is None or one.seen is None else quoted(one.seen[slice(*span)])
        shown.append(f"{one.name} has the piece {piece}")
        by_pattern = f"{one.name}: merging the pieces of its pattern gives its ids"
        reasons.append(f"{one.name} reports its pieces" if one.pieces_from == "reported" else by_pattern)
    return StageDifference("pieces", "; ".join(shown), [*_proof(a, b, byte), *_proof(b, a, byte), *reasons])


def _proof(known: Observation, other: Observation, byte: int) -> list[str]:
    """Describe tokens of `other` that cross an end of the piece of `known`: `other` certainly does not cut there."""
    return [
        f"{other.name} has the token {quoted(token)} across byte {cut}, where {known.name} cuts"
        for cut in known.piece_at(byte) or ()
        if (token := other.crossed(cut)) is not None
    ]


def _one_hidden(known: Observation, hidden: Observation, byte: int) -> StageDifference:
    """Compare a side whose pieces are known with one that hides them."""
    span = known.piece_at(byte)
    if span is None or known.seen is None:
        reason = f"neither {known.name} nor {hidden.name} reports its pieces; give the model of both with -m"
        return StageDifference("pieces or merges", _tokens_apart(known, hidden, byte), [reason])
    piece = quoted(known.seen[slice(*span)])
    if proof := _proof(known, hidden, byte):
        what = f"{known.name} has the piece {piece}; {hidden.name} does not cut there"
        return StageDifference("pieces", what, proof)
    if _gives_its_ids(hidden, span):
        reason = f"merging {piece} as one piece by its own merges gives the ids of {hidden.name}"
        return _merges(known, hidden, byte, span, "merges", reason)
    reason = f"{hidden.name} reports no pieces: whether it cuts {piece} or merges it differently is not known"
    return _merges(known, hidden, byte, span, "pieces or merges", reason)


def _merges(
    a: Observation, b: Observation, byte: int, span: Span, stage: Literal["merges", "pieces or merges"], *reasons: str
) -> StageDifference:
    """Return the first step that differs in the piece; without one, the first tokens that do."""
    difference = first_differing_step(a, b, span) or StageDifference("merges", _tokens_apart(a, b, byte))
    if difference.stage == "merges":
        difference.stage = stage
    difference.evidence[:0] = reasons
    return difference


def _tokens_apart(a: Observation, b: Observation, byte: int) -> str:
    """Describe the first differing tokens and the bytes around them."""
    tokens = [one.tokens[one.borders.index(byte)] or b"" for one in (a, b)]
    around = (a.seen or b"")[max(0, byte - _AROUND) : byte + max(map(len, tokens)) + _AROUND]
    shown = [f"{one.name} has {quoted(token)}" for one, token in zip((a, b), tokens, strict=True)]
    return f"at byte {byte}, in {quoted(around)}, {'; '.join(shown)}"


def _special_text_near(a: Observation, b: Observation, byte: int) -> list[str]:
    """Describe special text near the byte that is read as text: some libraries cut around it even so."""
    if not a.sees_the_text:
        return []
    at = a.character(byte)
    near = a.text[max(0, at - 40) : at + 40]
    texts = [text for text in {**a.side.whole_tokens, **b.side.whole_tokens} if text in near]
    return [f"{quoted(text)} is a special token; read as text it may still be cut around" for text in texts[:1]]


def _ask_for_unicode(a: Observation, b: Observation, byte: int, difference: StageDifference) -> None:
    """Change the stage to *unicode version* if the sides agree once older characters replace the newest ones."""
    if not a.sees_the_text:
        return
    at = a.character(byte)
    near = a.text[max(0, at - _CONTEXT) : at + _CONTEXT]
    text = near if ask(a.side, near)[0] != ask(b.side, near)[0] else a.text
    older = with_older(text)
    answers = [(ask(a.side, other)[0], ask(b.side, other)[0]) for other in older]
    if older and all(of_a is not None and of_a == of_b for of_a, of_b in answers):
        newer = ", ".join(code_point(character) for character in dict.fromkeys(text) if is_newer(character))
        difference.stage = "unicode version"
        reason = f"newer than Unicode 16: {newer}; with any older character in its place they agree"
        difference.evidence = [reason, *difference.evidence]
