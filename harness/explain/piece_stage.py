"""The stages that cut a text and merge its pieces: which of the two differs first?"""

from __future__ import annotations

from harness.common_prefix import common_prefix_length
from harness.explain.algorithms import Algorithm, attempt
from harness.explain.merging import first_differing_step
from harness.explain.observations import Observation, ask
from harness.explain.probing import joins_nothing, joins_when_shorter, needed_cuts, try_cut
from harness.explain.readable import quoted, readable
from harness.explain.rules import Rules
from harness.explain.stage_difference import StageDifference
from harness.explain.unicode_reason import unicode_reason


def pieces_or_merges(a: Observation, b: Observation) -> StageDifference:
    """Find out whether two sides that see the same text cut it, merge it, or number its tokens differently.

    The pieces a side reports are trusted, and so are those of its pattern where merging them gives its ids. Where a
    side hides them, a token across a cut of the other is proof; otherwise it is probed (`harness.explain.probing`).
    """
    k = common_prefix_length(a.ids, b.ids)
    if not a.borders or not b.borders or k >= len(a.tokens) or k >= len(b.tokens):
        return StageDifference(
            "merges",
            f"the ids differ from the {k + 1}th on",
            "inferred",
            ["the bytes of some ids are not known, so pieces and merges look the same; give the model with -m"],
        )
    byte = a.borders[k]
    if a.tokens[k] == b.tokens[k]:
        what = f"{quoted(a.tokens[k] or b'')} has the id {a.ids[k]} in {a.side.name}, {b.ids[k]} in {b.side.name}"
        return StageDifference("vocabulary", what, byte=byte)
    a_known, b_known = _is_trusted(a, byte), _is_trusted(b, byte)
    if a_known and b_known:
        difference = _both_known(a, b, byte)
    else:
        known, hidden = (b, a) if b_known or (not a_known and a.piece_at(byte) is None) else (a, b)
        difference = _one_hidden(known, hidden, byte)
        if difference.stage == "merges":
            difference = _merges(a, b, byte, known.piece_at(byte), difference)
    difference.byte = byte
    if difference.stage == "pieces":
        difference.evidence += [hint for observation in (a, b) for hint in observation.side.hints]
        difference.evidence += _special_text_near(a, b, byte)
        _ask_for_unicode(a, b, byte, difference)
    return difference


def _is_trusted(observation: Observation, byte: int) -> bool:
    """Whether its pieces are known here: it reports them, or merging them by its algorithm gives its ids."""
    span = observation.piece_at(byte)
    if span is None:
        return False
    if observation.pieces_from == "told":
        return True
    return observation.pieces_from == "pattern" and _gives_its_ids(observation, span)


def _gives_its_ids(observation: Observation, span: tuple[int, int]) -> bool:
    rules, algorithm = observation.side.rules, observation.side.algorithm
    if rules is None or algorithm is None or observation.seen is None:
        return False
    found = attempt(rules, observation.seen[slice(*span)].decode("utf-8", "replace"), algorithm)
    return found is not None and found.ids == observation.ids_between(*span)


def _both_known(a: Observation, b: Observation, byte: int) -> StageDifference:
    spans = a.piece_at(byte), b.piece_at(byte)
    if spans[0] == spans[1]:
        return _merges(a, b, byte, spans[0], StageDifference("merges", ""))
    shown = [
        f"{observation.side.name} has the piece {_piece(observation, span)}"
        for observation, span in zip((a, b), spans, strict=True)
    ]
    evidence = [
        f"{observation.side.name} reports its pieces"
        if observation.pieces_from == "told"
        else f"{observation.side.name}: merging the pieces of its pattern gives its ids"
        for observation in (a, b)
    ]
    proofs = [proof for x, y in ((a, b), (b, a)) for proof in _proof(x, y, byte)]
    sure = bool(proofs) or a.pieces_from == b.pieces_from == "told"
    return StageDifference("pieces", "; ".join(shown), "certain" if sure else "inferred", proofs + evidence)


def _piece(observation: Observation, span: tuple[int, int] | None) -> str:
    return "?" if span is None or observation.seen is None else quoted(observation.seen[slice(*span)])


def _proof(known: Observation, other: Observation, byte: int) -> list[str]:
    """Name tokens of `other` that cross an end of the piece of `known`: there `other` certainly does not cut."""
    span = known.piece_at(byte)
    if span is None:
        return []
    crossing = [(cut, token) for cut in span if (token := other.crossed(cut)) is not None]
    return [
        f"{other.side.name} has the token {quoted(token)} across byte {cut}, where {known.side.name} cuts"
        for cut, token in crossing
    ]


def _one_hidden(known: Observation, hidden: Observation, byte: int) -> StageDifference:
    """Decide whether `hidden` merges the piece of `known` differently, or cuts elsewhere."""
    span = known.piece_at(byte)
    name = hidden.side.name
    if span is None or known.seen is None:
        reason = f"neither {known.side.name} nor {name} reports its pieces; give the model of both with -m"
        return StageDifference("merges", "", "inferred", [reason])
    piece = known.seen[slice(*span)].decode("utf-8", "replace")
    if proof := _proof(known, hidden, byte):
        what = f"{known.side.name} has the piece {quoted(piece)}; {name} does not cut there"
        return StageDifference("pieces", what, "certain", proof)
    its_ids, known_ids = hidden.ids_between(*span), known.ids_between(*span)
    if hidden.side.algorithm_is_known and _gives_its_ids(hidden, span):
        return StageDifference(
            "merges", "", "certain", [f"the merge algorithm of {name} is known and gives its ids for this piece"]
        )
    alone, _ = ask(hidden.side, piece)
    if alone is not None and alone == known_ids and alone != its_ids:
        evidence = [
            f"asked for {quoted(piece)} alone, {name} gives the ids of {known.side.name}; within the text others"
        ]
        what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts differently around it"
        return StageDifference("pieces", what, "inferred", evidence)
    return _cut_or_merge(known, hidden, span, piece)


def _cut_or_merge(known: Observation, hidden: Observation, span: tuple[int, int], piece: str) -> StageDifference:
    """Decide whether ids that differ within one piece of `known` come from further cuts of `hidden` or from merging."""
    name = hidden.side.name
    rules = hidden.side.rules or known.side.rules
    algorithm = hidden.side.algorithm or "leftmost"
    if rules is None or hidden.seen is None:
        return StageDifference("merges", "", "inferred", [f"no vocabulary of {name} is known"])
    if _derives(hidden, span):
        return StageDifference(
            "merges", "", "certain", [f"merging {quoted(piece)} as one piece gives the ids of {name}"]
        )
    if (asked := joins_nothing(hidden, rules)) is not None:
        evidence = [f"{name} merges nothing: of {asked} tokens it was asked for alone it gives none as one"]
        return StageDifference("merges", "", "inferred", evidence)
    cuts = needed_cuts(hidden, rules, algorithm, *span)
    for cut in cuts or ():
        parts = f"{quoted(hidden.seen[span[0] : cut])} and {quoted(hidden.seen[cut : span[1]])}"
        if (joined := joins_when_shorter(hidden, span, cut)) is not None:
            evidence = [f"of a shorter part of the piece {name} makes {quoted(joined)}, which runs over the place"]
            return StageDifference("merges", "", "inferred", evidence)
        trials = try_cut(hidden, rules, algorithm, span, cut)
        if trials.is_cut:
            evidence = [
                f"{name} keeps {parts} apart, which merging would join; and in all {trials.n_trials} texts with other "
                "characters of the same classes there"
            ]
            what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts it into {parts}"
            return StageDifference("pieces", what, "inferred", evidence)
        if trials.is_cut is False:
            evidence = [
                f"{name} keeps {parts} apart here, but not with other characters of the same classes "
                f"({trials.n_trials - trials.n_cut} of {trials.n_trials} texts): no cut, but how it merges"
            ]
            return StageDifference("merges", "", "inferred", evidence)
        if (joined := _token_across(rules, piece, len(hidden.seen[span[0] : cut]), algorithm)) is not None:
            alone, _ = ask(hidden.side, readable(joined))
            if alone is not None and len(alone) > 1:
                evidence = [f"{name} never joins {parts}: not even {quoted(joined)} alone is one token to it"]
                what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts it into {parts}"
                return StageDifference("pieces", what, "inferred", evidence)
    return StageDifference("merges", "", "inferred", [f"nothing shows that {name} cuts {quoted(piece)}"])


def _derives(observation: Observation, span: tuple[int, int]) -> bool:
    return observation.pieces_from != "inferred" and _gives_its_ids(observation, span)


def _token_across(rules: Rules, piece: str, byte: int, algorithm: Algorithm) -> bytes | None:
    found = attempt(rules, piece, algorithm)
    at = 0
    for i in found.ids if found is not None else ():
        token = rules.token(i)
        if at < byte < at + len(token):
            return token
        at += len(token)
    return None


def _merges(
    a: Observation, b: Observation, byte: int, span: tuple[int, int] | None, found: StageDifference
) -> StageDifference:
    apart = None if span is None else first_differing_step(a, b, span)
    if apart is None:
        found.what = f"from byte {byte} on {a.side.name} and {b.side.name} merge differently"
        found.certainty = "inferred"
        return found
    if apart.missing is not None:
        evidence = found.evidence + apart.evidence
        return StageDifference("vocabulary", apart.what, found.certainty, evidence, step=apart.step, rank=apart.rank)
    certainty = found.certainty if apart.reproduced else "inferred"
    hints = [hint for observation in (a, b) for hint in observation.side.hints if "is listed" in hint]
    return StageDifference(
        "merges", apart.what, certainty, found.evidence + apart.evidence + hints, None, apart.step, apart.rank
    )


def _special_text_near(a: Observation, b: Observation, byte: int) -> list[str]:
    """Name special text near the byte, read as text: some libraries cut around it even so."""
    if a.seen is None or a.seen != a.text.encode():
        return []
    at = len(a.seen[:byte].decode("utf-8", "ignore"))
    near = a.text[max(0, at - 40) : at + 40]
    found = [text for text in {**a.side.whole_tokens, **b.side.whole_tokens} if text in near]
    return [f"{quoted(text)} is a special token; read as text it may still be cut around" for text in found[:1]]


def _ask_for_unicode(a: Observation, b: Observation, byte: int, difference: StageDifference) -> None:
    """Change the stage to *unicode version* where the pieces differ because a character is newer than one engine."""
    spans = [span for observation in (a, b) if (span := observation.piece_at(byte)) is not None]
    start = min((span[0] for span in spans), default=byte)
    end = max((span[1] for span in spans), default=byte)
    reason = unicode_reason(a, b, start, end)
    if reason is None:
        return
    difference.evidence = [reason.what, *reason.evidence, *difference.evidence]
    if reason.is_version:
        difference.stage = "unicode version"
        difference.what = f"{reason.what}; so {difference.what}"
