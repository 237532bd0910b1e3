"""The stages that cut a text into pieces and merge them: which of the two differs first?"""

from __future__ import annotations

from harness.common_prefix import common_prefix_length
from harness.explain.algorithms import Algorithm, attempt
from harness.explain.merging import first_differing_step
from harness.explain.observations import Observation, Span, StageDifference, ask
from harness.explain.probing import joins_nothing, joins_when_shorter, needed_cuts, try_cut
from harness.explain.rules import Rules
from harness.explain.unicode_reason import unicode_reason
from harness.printable import quoted, readable


def pieces_or_merges(a: Observation, b: Observation) -> StageDifference:
    """Find out whether two sides that see the same text cut it, merge it, or number its tokens differently.

    The pieces a side reports are trusted, and so are those of its pattern if merging them gives its ids. If a side
    hides them, a token across a cut of the other is proof; otherwise it is probed (`harness.explain.probing`).
    """
    k = common_prefix_length(a.ids, b.ids)
    if not a.borders or not b.borders or k >= len(a.tokens) or k >= len(b.tokens):
        reason = "the bytes of some ids are not known, so pieces and merges look the same; give the model with -m"
        return StageDifference("merges", f"the ids differ from the {k + 1}th on", "inferred", [reason])
    byte = a.borders[k]
    if a.tokens[k] == b.tokens[k]:
        what = f"{quoted(a.tokens[k] or b'')} has the id {a.ids[k]} in {a.name}, {b.ids[k]} in {b.name}"
        return StageDifference("vocabulary", what, byte=byte)
    a_known, b_known = _is_trusted(a, byte), _is_trusted(b, byte)
    if a_known and b_known:
        difference = _both_known(a, b, byte)
    else:
        known, hidden = (b, a) if b_known or (not a_known and a.piece_at(byte) is None) else (a, b)
        difference = _compare_with_hidden_pieces(known, hidden, byte)
        if difference.stage == "merges":
            difference = _merges(a, b, byte, known.piece_at(byte), difference)
    difference.byte = byte
    if difference.stage == "pieces":
        difference.evidence += [*a.side.hints, *b.side.hints, *_special_text_near(a, b, byte)]
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
    found = attempt(rules, observation.between(*span), algorithm)
    return found is not None and found.ids == observation.ids_between(*span)


def _both_known(a: Observation, b: Observation, byte: int) -> StageDifference:
    if a.piece_at(byte) == b.piece_at(byte):
        return _merges(a, b, byte, a.piece_at(byte), StageDifference("merges", ""))
    shown, reasons = [], []
    for one in (a, b):
        span = one.piece_at(byte)
        piece = "?" if span is None or one.seen is None else quoted(one.seen[slice(*span)])
        shown.append(f"{one.name} has the piece {piece}")
        inferred = f"{one.name}: merging the pieces of its pattern gives its ids"
        reasons.append(f"{one.name} reports its pieces" if one.pieces_from == "reported" else inferred)
    proofs = [*_proof(a, b, byte), *_proof(b, a, byte)]
    sure = bool(proofs) or a.pieces_from == b.pieces_from == "reported"
    return StageDifference("pieces", "; ".join(shown), "certain" if sure else "inferred", proofs + reasons)


def _proof(known: Observation, other: Observation, byte: int) -> list[str]:
    """Describe tokens of `other` that cross an end of the piece of `known`: `other` certainly does not cut there."""
    return [
        f"{other.name} has the token {quoted(token)} across byte {cut}, where {known.name} cuts"
        for cut in known.piece_at(byte) or ()
        if (token := other.crossed(cut)) is not None
    ]


def _compare_with_hidden_pieces(known: Observation, hidden: Observation, byte: int) -> StageDifference:
    """Decide whether `hidden` merges the piece of `known` differently, or cuts elsewhere."""
    span = known.piece_at(byte)
    name = hidden.name
    if span is None or known.seen is None:
        return _merging(f"neither {known.name} nor {name} reports its pieces; give the model of both with -m")
    piece = known.between(*span)
    has = f"{known.name} has the piece {quoted(piece)}; {name}"
    if proof := _proof(known, hidden, byte):
        return StageDifference("pieces", f"{has} does not cut there", "certain", proof)
    if hidden.side.algorithm_is_known and _gives_its_ids(hidden, span):
        reason = f"the merge algorithm of {name} is known and gives its ids for this piece"
        return StageDifference("merges", "", "certain", [reason])
    alone, _ = ask(hidden.side, piece)
    if alone is not None and alone == known.ids_between(*span) != hidden.ids_between(*span):
        reason = f"asked for {quoted(piece)} alone, {name} gives the ids of {known.name}; within the text others"
        return StageDifference("pieces", f"{has} cuts differently around it", "inferred", [reason])
    return _cut_or_merge(known, hidden, span, piece)


def _merging(reason: str) -> StageDifference:
    return StageDifference("merges", "", "inferred", [reason])


def _cut_or_merge(known: Observation, hidden: Observation, span: Span, piece: str) -> StageDifference:
    """Decide whether ids that differ within one piece of `known` come from further cuts of `hidden` or from merging."""
    name = hidden.name
    rules = hidden.side.rules or known.side.rules
    algorithm = hidden.side.algorithm or "leftmost"
    if rules is None or hidden.seen is None:
        return _merging(f"no vocabulary of {name} is known")
    if hidden.pieces_from != "inferred" and _gives_its_ids(hidden, span):
        reason = f"merging {quoted(piece)} as one piece gives the ids of {name}"
        return StageDifference("merges", "", "certain", [reason])
    if (asked := joins_nothing(hidden, rules)) is not None:
        return _merging(f"{name} merges nothing: of {asked} tokens it was asked for alone it gives none as one")
    for cut in needed_cuts(hidden, rules, algorithm, *span) or ():
        parts = f"{quoted(hidden.seen[span[0] : cut])} and {quoted(hidden.seen[cut : span[1]])}"
        what = f"{known.name} has the piece {quoted(piece)}; {name} cuts it into {parts}"
        if (joined := joins_when_shorter(hidden, span, cut)) is not None:
            return _merging(f"of a shorter part of the piece {name} makes {quoted(joined)}, which runs over the place")
        n_trials, n_cut = try_cut(hidden, rules, algorithm, span, cut)
        if n_trials == n_cut > 0:
            reason = (
                f"{name} keeps {parts} apart, which merging would join; and in all {n_trials} texts with other "
                "characters of the same classes there"
            )
            return StageDifference("pieces", what, "inferred", [reason])
        if n_trials > n_cut:
            return _merging(
                f"{name} keeps {parts} apart here, but not with other characters of the same classes "
                f"({n_trials - n_cut} of {n_trials} texts): no cut, but how it merges"
            )
        if (joined := _token_across(rules, piece, len(hidden.seen[span[0] : cut]), algorithm)) is not None:
            alone, _ = ask(hidden.side, readable(joined))
            if alone is not None and len(alone) > 1:
                reason = f"{name} never joins {parts}: not even {quoted(joined)} alone is one token to it"
                return StageDifference("pieces", what, "inferred", [reason])
    return _merging(f"nothing shows that {name} cuts {quoted(piece)}")


def _token_across(rules: Rules, piece: str, byte: int, algorithm: Algorithm) -> bytes | None:
    found = attempt(rules, piece, algorithm)
    at = 0
    for token in map(rules.token, found.ids if found is not None else ()):
        if at < byte < at + len(token):
            return token
        at += len(token)
    return None


def _merges(a: Observation, b: Observation, byte: int, span: Span | None, found: StageDifference) -> StageDifference:
    """Add the first differing step to `found`, which explains why merging differs and how certain that is."""
    apart = None if span is None else first_differing_step(a, b, span)
    if apart is None:
        found.what = f"from byte {byte} on {a.name} and {b.name} merge differently"
        found.certainty = "inferred"
        return found
    if apart.certainty == "certain":
        apart.certainty = found.certainty
    apart.evidence = found.evidence + apart.evidence
    if apart.stage == "merges":
        apart.evidence += [hint for hint in (*a.side.hints, *b.side.hints) if "is listed" in hint]
    return apart


def _special_text_near(a: Observation, b: Observation, byte: int) -> list[str]:
    """Describe special text near the byte that is read as text: some libraries cut around it even so."""
    if not a.sees_the_text:
        return []
    at = a.character(byte)
    near = a.text[max(0, at - 40) : at + 40]
    found = [text for text in {**a.side.whole_tokens, **b.side.whole_tokens} if text in near]
    return [f"{quoted(text)} is a special token; read as text it may still be cut around" for text in found[:1]]


def _ask_for_unicode(a: Observation, b: Observation, byte: int, difference: StageDifference) -> None:
    """Change the stage to *unicode version* if the pieces differ because a character is newer than one engine."""
    spans = [span for one in (a, b) if (span := one.piece_at(byte)) is not None] or [(byte, byte)]
    reason = unicode_reason(a, b, min(start for start, _ in spans), max(end for _, end in spans))
    if reason is None:
        return
    difference.evidence = [reason.what, *reason.evidence, *difference.evidence]
    if reason.is_version:
        difference.stage = "unicode version"
        difference.what = f"{reason.what}; so {difference.what}"
