"""The stages in which a text is cut and its pieces are merged: which of the two differs first?"""

from __future__ import annotations

from harness.explain.merging import first_step_apart
from harness.explain.probing import cut_stays, joins_nothing, joins_when_shorter, needed_cuts
from harness.explain.readable import quoted, readable
from harness.explain.rules import Rules
from harness.explain.unicode_reason import unicode_reason
from harness.explain.verdict import Verdict
from harness.explain.views import View, ask
from harness.explain.ways import Way, attempt


def pieces_or_merges(a: View, b: View) -> Verdict:
    """Of two sides that see the same text and give other ids: do they cut it, merge it, or number the tokens otherwise?

    What a side tells of its pieces counts, and so does its pattern where merging the pieces gives its ids. Of a side
    that hides them, a token across a cut of the other is proof; else it is asked (`harness.explain.probing`).
    """
    k = next((k for k, (x, y) in enumerate(zip(a.ids, b.ids, strict=False)) if x != y), min(len(a.ids), len(b.ids)))
    if not a.borders or not b.borders or k >= len(a.tokens) or k >= len(b.tokens):
        return Verdict(
            "merges",
            f"the ids differ from the {k + 1}th on",
            "inferred",
            ["the bytes of some ids are not known, so pieces and merges cannot be told apart; give the model with -m"],
        )
    byte = a.borders[k]
    if a.tokens[k] == b.tokens[k]:
        what = f"{quoted(a.tokens[k] or b'')} has the id {a.ids[k]} in {a.side.name}, {b.ids[k]} in {b.side.name}"
        return Verdict("vocabulary", what, byte=byte)
    a_known, b_known = _is_trusted(a, byte), _is_trusted(b, byte)
    if a_known and b_known:
        verdict = _both_known(a, b, byte)
    else:
        known, hidden = (b, a) if b_known or (not a_known and a.piece_at(byte) is None) else (a, b)
        verdict = _one_hidden(known, hidden, byte)
        if verdict.stage == "merges":
            verdict = _merges(a, b, byte, known.piece_at(byte), verdict)
    verdict.byte = byte
    if verdict.stage == "pieces":
        verdict.evidence += [hint for view in (a, b) for hint in view.side.hints]
        verdict.evidence += _special_text_near(a, b, byte)
        _ask_for_unicode(a, b, byte, verdict)
    return verdict


def _is_trusted(view: View, byte: int) -> bool:
    """Whether the pieces it says it has are those it had here: told, or its way of merging them gives its ids."""
    span = view.piece_at(byte)
    if span is None:
        return False
    if view.pieces_from == "told":
        return True
    return view.pieces_from == "pattern" and _gives_its_ids(view, span)


def _gives_its_ids(view: View, span: tuple[int, int]) -> bool:
    rules, way = view.side.rules, view.side.way
    if rules is None or way is None or view.seen is None:
        return False
    found = attempt(rules, view.seen[slice(*span)].decode("utf-8", "replace"), way)
    return found is not None and found.ids == view.ids_between(*span)


def _both_known(a: View, b: View, byte: int) -> Verdict:
    spans = a.piece_at(byte), b.piece_at(byte)
    if spans[0] == spans[1]:
        return _merges(a, b, byte, spans[0], Verdict("merges", ""))
    told = [f"{view.side.name} has the piece {_piece(view, span)}" for view, span in zip((a, b), spans, strict=True)]
    evidence = [
        f"{view.side.name} tells its pieces"
        if view.pieces_from == "told"
        else f"{view.side.name}: merging the pieces of its pattern gives its ids"
        for view in (a, b)
    ]
    proofs = [proof for x, y in ((a, b), (b, a)) for proof in _proof(x, y, byte)]
    sure = bool(proofs) or a.pieces_from == b.pieces_from == "told"
    return Verdict("pieces", "; ".join(told), "certain" if sure else "inferred", proofs + evidence)


def _piece(view: View, span: tuple[int, int] | None) -> str:
    return "?" if span is None or view.seen is None else quoted(view.seen[slice(*span)])


def _proof(known: View, other: View, byte: int) -> list[str]:
    """A token of `other` that crosses an end of the piece of `known`: there `other` does not cut, for certain."""
    span = known.piece_at(byte)
    if span is None:
        return []
    crossing = [(cut, token) for cut in span if (token := other.crossed(cut)) is not None]
    return [
        f"{other.side.name} has the token {quoted(token)} across byte {cut}, where {known.side.name} cuts"
        for cut, token in crossing
    ]


def _one_hidden(known: View, hidden: View, byte: int) -> Verdict:
    """`known` has a piece here; does `hidden` have the same one, and merges it otherwise, or does it cut otherwise?"""
    span = known.piece_at(byte)
    name = hidden.side.name
    if span is None or known.seen is None:
        reason = f"neither {known.side.name} nor {name} tells its pieces; give the model of both with -m"
        return Verdict("merges", "", "inferred", [reason])
    piece = known.seen[slice(*span)].decode("utf-8", "replace")
    if proof := _proof(known, hidden, byte):
        what = f"{known.side.name} has the piece {quoted(piece)}; {name} does not cut there"
        return Verdict("pieces", what, "certain", proof)
    its_ids, known_ids = hidden.ids_between(*span), known.ids_between(*span)
    if hidden.side.way_is_sure and _gives_its_ids(hidden, span):
        return Verdict("merges", "", "certain", [f"{name} tells how it merges, and that gives its ids for this piece"])
    alone, _ = ask(hidden.side, piece)
    if alone is not None and alone == known_ids and alone != its_ids:
        evidence = [
            f"asked for {quoted(piece)} alone, {name} gives the ids of {known.side.name}; within the text others"
        ]
        what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts otherwise around it"
        return Verdict("pieces", what, "inferred", evidence)
    return _cut_or_merge(known, hidden, span, piece)


def _cut_or_merge(known: View, hidden: View, span: tuple[int, int], piece: str) -> Verdict:
    """Within one piece of `known` the ids differ: further cuts of `hidden`, or another way of merging?"""
    name = hidden.side.name
    rules = hidden.side.rules or known.side.rules
    way = hidden.side.way or "leftmost"
    if rules is None or hidden.seen is None:
        return Verdict("merges", "", "inferred", [f"no vocabulary of {name} is known"])
    if _derives(hidden, span):
        return Verdict("merges", "", "certain", [f"merging {quoted(piece)} as one piece gives the ids of {name}"])
    if (asked := joins_nothing(hidden, rules)) is not None:
        evidence = [f"{name} merges nothing: of {asked} tokens it was asked for alone it gives none as one"]
        return Verdict("merges", "", "inferred", evidence)
    cuts = needed_cuts(hidden, rules, way, *span)
    for cut in cuts or ():
        parts = f"{quoted(hidden.seen[span[0] : cut])} and {quoted(hidden.seen[cut : span[1]])}"
        if (joined := joins_when_shorter(hidden, span, cut)) is not None:
            evidence = [f"of a shorter part of the piece {name} makes {quoted(joined)}, which runs over the place"]
            return Verdict("merges", "", "inferred", evidence)
        stays = cut_stays(hidden, rules, way, span, cut)
        if stays.is_cut:
            evidence = [
                f"{name} keeps {parts} apart, which merging would join; and in all {stays.n_trials} texts with other "
                "characters of the same classes there"
            ]
            what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts it into {parts}"
            return Verdict("pieces", what, "inferred", evidence)
        if stays.is_cut is False:
            evidence = [
                f"{name} keeps {parts} apart here, but not with other characters of the same classes "
                f"({stays.n_trials - stays.n_cut} of {stays.n_trials} texts): no cut, but how it merges"
            ]
            return Verdict("merges", "", "inferred", evidence)
        if (joined := _token_across(rules, piece, len(hidden.seen[span[0] : cut]), way)) is not None:
            alone, _ = ask(hidden.side, readable(joined))
            if alone is not None and len(alone) > 1:
                evidence = [f"{name} never joins {parts}: not even {quoted(joined)} alone is one token to it"]
                what = f"{known.side.name} has the piece {quoted(piece)}; {name} cuts it into {parts}"
                return Verdict("pieces", what, "inferred", evidence)
    return Verdict("merges", "", "inferred", [f"nothing shows that {name} cuts {quoted(piece)}"])


def _derives(view: View, span: tuple[int, int]) -> bool:
    return view.pieces_from != "inferred" and _gives_its_ids(view, span)


def _token_across(rules: Rules, piece: str, byte: int, way: Way) -> bytes | None:
    found = attempt(rules, piece, way)
    at = 0
    for i in found.ids if found is not None else ():
        token = rules.token(i)
        if at < byte < at + len(token):
            return token
        at += len(token)
    return None


def _merges(a: View, b: View, byte: int, span: tuple[int, int] | None, found: Verdict) -> Verdict:
    apart = None if span is None else first_step_apart(a, b, span)
    if apart is None:
        found.what = f"from byte {byte} on {a.side.name} and {b.side.name} merge otherwise"
        found.certainty = "inferred"
        return found
    if apart.missing is not None:
        evidence = found.evidence + apart.evidence
        return Verdict("vocabulary", apart.what, found.certainty, evidence, step=apart.step, rank=apart.rank)
    certainty = found.certainty if apart.reproduced else "inferred"
    hints = [hint for view in (a, b) for hint in view.side.hints if "is listed" in hint]
    return Verdict(
        "merges", apart.what, certainty, found.evidence + apart.evidence + hints, None, apart.step, apart.rank
    )


def _special_text_near(a: View, b: View, byte: int) -> list[str]:
    """Special text that ends or begins here, read as text: some libraries cut around it all the same."""
    if a.seen is None or a.seen != a.text.encode():
        return []
    at = len(a.seen[:byte].decode("utf-8", "ignore"))
    near = a.text[max(0, at - 40) : at + 40]
    found = [text for text in {**a.side.whole_tokens, **b.side.whole_tokens} if text in near]
    return [f"{quoted(text)} is a special token; read as text it may be cut around all the same" for text in found[:1]]


def _ask_for_unicode(a: View, b: View, byte: int, verdict: Verdict) -> None:
    """Make the verdict *unicode version* where a character newer than one engine is why the pieces differ."""
    spans = [span for view in (a, b) if (span := view.piece_at(byte)) is not None]
    start = min((span[0] for span in spans), default=byte)
    end = max((span[1] for span in spans), default=byte)
    reason = unicode_reason(a, b, start, end)
    if reason is None:
        return
    verdict.evidence = [reason.what, *reason.evidence, *verdict.evidence]
    if reason.is_version:
        verdict.stage = "unicode version"
        verdict.what = f"{reason.what}; so {verdict.what}"
