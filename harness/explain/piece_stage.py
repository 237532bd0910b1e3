"""The stages that cut a text into pieces and merge them: which of the two differs first?

Only facts decide. The pieces of a side are known if it reports them, or if merging those of its pattern gives its ids.
Of a side that hides them one thing is certain: it does not cut inside one of its tokens. Otherwise the verdict is the
first differing token, and that more is not known.
"""

from __future__ import annotations

from harness.common_prefix import common_prefix_length
from harness.explain.algorithms import steps_to
from harness.explain.merging import first_differing_step
from harness.explain.observations import Observation, Span, StageDifference, ask
from harness.generators.alphabets import is_newer
from harness.printable import code_point, quoted
from harness.unicode_versions import with_older

_AROUND = 12
"""Bytes shown on both sides of the first differing token."""
_CONTEXT = 40
"""Characters on both sides of it in which newer ones and special text are searched for."""


def pieces_or_merges(a: Observation, b: Observation) -> StageDifference:
    """Find out whether two sides that see the same text cut it, merge it, or number its tokens differently."""
    if not a.borders or not b.borders:
        reason = "the bytes of some ids are not known, so pieces and merges look the same; give the model with -m"
        first = common_prefix_length(a.ids, b.ids) + 1
        return StageDifference("pieces or merges", f"the ids differ from id number {first} on", [reason])
    # The same id may stand for different bytes; borders agree only as far as the bytes do.
    k = common_prefix_length(*(list(zip(side.ids, side.tokens, strict=True)) for side in (a, b)))
    if k >= len(a.tokens) or k >= len(b.tokens):
        return StageDifference("pieces or merges", f"the ids differ from id number {k + 1} on")
    byte = a.borders[k]
    if a.tokens[k] == b.tokens[k]:
        what = f"{quoted(a.tokens[k] or b'')} has the id {a.ids[k]} in {a.name}, {b.ids[k]} in {b.name}"
        return StageDifference("vocabulary", what, byte=byte)
    if a.ids[k] == b.ids[k]:
        shown = [f"{quoted(side.tokens[k] or b'')} in {side.name}" for side in (a, b)]
        return StageDifference("vocabulary", f"the id {a.ids[k]} is {', '.join(shown)}", byte=byte)
    difference = _at_byte(a, b, byte)
    difference.byte = byte
    if difference.stage in ("pieces", "pieces or merges"):
        difference.evidence += _special_text_near(a, b, byte)
        _ask_for_unicode(a, b, byte, difference)
    return difference


def _at_byte(a: Observation, b: Observation, byte: int) -> StageDifference:
    """Compare the pieces that hold a byte, as far as they are known, then the tokens that one of them is merged to."""
    trusted = [side for side in (a, b) if _is_trusted(side, byte)]
    known = next((side for side in (*trusted, a, b) if side.piece_at(byte) is not None), None)
    span = None if known is None else known.piece_at(byte)
    if known is None or span is None:
        reason = f"neither {a.name} nor {b.name} reports its pieces; give the model of both with -m"
        return StageDifference("pieces or merges", _tokens_apart(a, b, byte), [reason])
    other, piece = b if known is a else a, quoted(known.piece(span))
    proof, are_both_known = _proof(known, other, byte), len(trusted) == 2
    other_span = other.piece_at(byte) if are_both_known else None
    if other_span is not None and other_span != span:
        what = f"{known.name} has the piece {piece}; {other.name} has the piece {quoted(other.piece(other_span))}"
        return StageDifference("pieces", what, [*proof, *_proof(other, known, byte), *map(_source_of_pieces, trusted)])
    if proof:
        return StageDifference("pieces", f"{known.name} has the piece {piece}; {other.name} does not cut there", proof)
    difference = first_differing_step(known, other, span)
    difference = difference or StageDifference("merges", _tokens_apart(known, other, byte))
    if not are_both_known and _gives_its_ids(other, span):
        difference.evidence.insert(0, f"merging {piece} as one piece by its own merges gives the ids of {other.name}")
    elif not are_both_known:
        reason = f"{other.name} reports no pieces: whether it cuts {piece} or merges it differently is not known"
        difference.evidence.insert(0, reason)
        difference.stage = "pieces or merges" if difference.stage == "merges" else difference.stage
    return difference


def _is_trusted(observation: Observation, byte: int) -> bool:
    """Return whether the pieces are known here: the side reports them, or merging them gives its ids."""
    span = observation.piece_at(byte)
    return span is not None and (observation.pieces_from == "reported" or _gives_its_ids(observation, span))


def _gives_its_ids(observation: Observation, span: Span) -> bool:
    rules, algorithm = observation.side.rules, observation.side.algorithm
    if rules is None or algorithm is None:
        return False
    return steps_to(rules, observation.piece(span), observation.ids_between(*span), algorithm) is not None


def _source_of_pieces(observation: Observation) -> str:
    by_pattern = f"{observation.name}: merging the pieces of its pattern gives its ids"
    return f"{observation.name} reports its pieces" if observation.pieces_from == "reported" else by_pattern


def _proof(known: Observation, other: Observation, byte: int) -> list[str]:
    """Describe tokens of `other` that cross an end of the piece of `known`: `other` certainly does not cut there."""
    return [
        f"{other.name} has the token {quoted(token)} across byte {cut}, where {known.name} cuts"
        for cut in known.piece_at(byte) or ()
        if (token := other.crossed(cut)) is not None
    ]


def _tokens_apart(a: Observation, b: Observation, byte: int) -> str:
    """Describe the first differing tokens and the bytes around them."""
    tokens = [side.tokens[side.borders.index(byte)] or b"" for side in (a, b)]
    around = (a.seen or b"")[max(0, byte - _AROUND) : byte + max(map(len, tokens)) + _AROUND]
    shown = [f"{side.name} has {quoted(token)}" for side, token in zip((a, b), tokens, strict=True)]
    return f"at byte {byte}, in {quoted(around)}, {'; '.join(shown)}"


def _special_text_near(a: Observation, b: Observation, byte: int) -> list[str]:
    """Describe special text near the byte that is read as text: some libraries cut around it even so."""
    at = a.character(byte)
    near = "" if at is None else a.text[max(0, at - _CONTEXT) : at + _CONTEXT]
    texts = [text for text in {**a.side.whole_tokens, **b.side.whole_tokens} if text in near]
    return [f"{quoted(text)} is a special token; read as text it may still be cut around" for text in texts[:1]]


def _ask_for_unicode(a: Observation, b: Observation, byte: int, difference: StageDifference) -> None:
    """Change the stage to *unicode version* if the sides agree once older characters replace the newest ones."""
    at = a.character(byte)
    if at is None:
        return
    near = a.text[max(0, at - _CONTEXT) : at + _CONTEXT]
    text = near if ask(a.side, near)[0] != ask(b.side, near)[0] else a.text
    older = with_older(text)
    if older and all(_agree_on(a, b, other) for other in older):
        newer = ", ".join(code_point(character) for character in dict.fromkeys(text) if is_newer(character))
        difference.stage = "unicode version"
        reason = f"newer than Unicode 16: {newer}; with any older character in its place they agree"
        difference.evidence = [reason, *difference.evidence]


def _agree_on(a: Observation, b: Observation, text: str) -> bool:
    ids = ask(a.side, text)[0]
    return ids is not None and ids == ask(b.side, text)[0]
