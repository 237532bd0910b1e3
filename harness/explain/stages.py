"""Which stage differs first: special tokens, the text itself, its pieces, their merges, the ids, decoding.

A text runs through the stages in this order, so the first that differs explains the rest. Each function here looks at
one stage of two views and gives a verdict, or None where the sides do the same there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.explain.merging import first_step_apart
from harness.explain.probing import cut_stays, joins_nothing, needed_cuts
from harness.explain.readable import quoted, readable
from harness.explain.rewriting import Rewriting, rewriting
from harness.explain.unicode_reason import unicode_reason
from harness.explain.views import View, ask, tell_specials
from harness.explain.ways import Rules, Way, attempt
from harness.explanations import Certainty, Stage


@dataclass(slots=True)
class Verdict:
    """The first stage that differs, and why."""

    stage: Stage
    what: str
    certainty: Certainty = "certain"
    evidence: list[str] = field(default_factory=list)
    byte: int | None = None
    """Of the text the merges see: where the difference begins."""
    step: int | None = None
    rank: int | None = None


def first_difference(a: View, b: View) -> Verdict | None:
    """The verdict on two views; None where the sides agree, or both refuse the text."""
    if (a.error or b.error) is not None:
        return _failure(a, b)
    for view in (a, b):
        if view.again is not None:
            first, second = _shown(view.ids), _shown(view.again)
            return Verdict("determinism", f"{view.side.name} gives {first} when asked first, then {second}")
    if a.ids == b.ids:
        return _decoding(a, b)
    return _special_tokens(a, b) or _normalisation(a, b) or _pieces_or_merges(a, b)


def _shown(ids: list[int], at_most: int = 8) -> str:
    shown = " ".join(map(str, ids[:at_most]))
    return f"[{shown}]" if len(ids) <= at_most else f"[{shown} … ({len(ids)})]"


def _failure(a: View, b: View) -> Verdict | None:
    if a.error is not None and b.error is not None and a.again is b.again is None:
        return None
    told = [
        f"{view.side.name} raises {view.error}" if view.error else f"{view.side.name} gives {len(view.ids)} ids"
        for view in (a, b)
    ]
    return Verdict("failure", "; ".join(told))


def _decoding(a: View, b: View) -> Verdict | None:
    texts = [_decoded(view) for view in (a, b)]
    if texts[0] == texts[1]:
        return None
    told = [f"{view.side.name} decodes them to {quoted(text)}" for view, text in zip((a, b), texts, strict=True)]
    return Verdict("decode", f"the ids are the same; {'; '.join(told)}")


def _decoded(view: View) -> str:
    try:
        return view.side.decode(view.ids)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def _special_tokens(a: View, b: View) -> Verdict | None:
    if [(found.text, found.offset) for found in a.specials] == [(found.text, found.offset) for found in b.specials]:
        return None
    told = [f"{view.side.name} recognises {', '.join(tell_specials(view)) or 'none'}" for view in (a, b)]
    apart = set(tell_specials(a)) ^ set(tell_specials(b))
    offsets = [found.offset for view in (a, b) for found in view.specials]
    evidence = [f"the id of {one} stands in the ids of one side only" for one in sorted(apart)[:3]]
    byte = len(a.text[: min(offsets)].encode()) if offsets else None
    return Verdict("special tokens", "; ".join(told), evidence=evidence, byte=byte)


# --- the text itself -----------------------------------------------------------------------------------------


def _normalisation(a: View, b: View) -> Verdict | None:
    if a.seen is not None and a.seen == b.seen:
        return None
    if a.declared is not None and a.declared == b.declared:
        return _lost_symbols(a, b)
    texts = [_text_seen(view) for view in (a, b)]
    if texts[0] == texts[1]:
        return None
    changes = [rewriting(a.text, text) for text in texts]
    told = [
        f"{view.side.name} {'leaves the text as it is' if change is None else change.what}"
        for view, change in zip((a, b), changes, strict=True)
    ]
    at = next((k for k, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1]), min(map(len, texts)))
    byte = len(texts[0][:at].encode("utf-8", "surrogatepass"))
    evidence = [hint for view in (a, b) for hint in view.side.hints]
    dropping = [_dropped_by_splitting(view, change) for view, change in zip((a, b), changes, strict=True)]
    if any(dropping):
        evidence += [text for text in dropping if text]
        certainty: Certainty = "certain" if all(view.declared is not None for view in (a, b)) else "inferred"
        return Verdict("pieces", "; ".join(told), certainty, evidence, byte)
    evidence += [
        f"the tokens of {view.side.name} spell {_escaped(text)}, the text is {_escaped(a.text)}"
        for view, text, change in zip((a, b), texts, changes, strict=True)
        if change is not None
    ]
    return Verdict("normalisation", "; ".join(told), evidence=evidence, byte=byte)


def _text_seen(view: View) -> str:
    if view.declared is not None:
        return view.declared
    if view.seen is not None:
        return view.seen.decode("utf-8", "replace")
    return _decoded(view)


def _escaped(text: str) -> str:
    """In ASCII, so that a composed letter does not look like a decomposed one."""
    return ascii(text) if len(text) <= 40 else f"{text[:40]!a}…"


def _dropped_by_splitting(view: View, change: Rewriting | None) -> str | None:
    """Why dropped characters were lost in splitting, or None where they were not (or nothing was dropped)."""
    if change is None or not change.dropped:
        return None
    side = view.side
    if side.normalize is not None and side.normalize(view.text) != view.text:
        return None
    return f"{side.name} does not rewrite the text, yet {quoted(change.dropped)} stands in none of its pieces"


def _lost_symbols(a: View, b: View) -> Verdict:
    """Both see the same text, and the tokens of one do not spell it: it has no token for a symbol."""
    told: list[str] = []
    for view in (a, b):
        assert view.declared is not None
        spelled = _decoded(view) if view.seen is None else view.seen.decode("utf-8", "replace")
        if spelled == view.declared:
            continue
        model = view.side.model
        if model is not None and model.unknown_id in view.ids:
            told.append(f"{view.side.name} has no token for a symbol of the text and gives the unknown token for it")
        else:
            change = rewriting(view.declared, spelled)
            done = "spells it otherwise" if change is None else change.what
            told.append(f"{view.side.name} sees {quoted(view.declared)} and {done}: its vocabulary lacks the symbol")
    return Verdict("vocabulary", "; ".join(told) or "the tokens spell other bytes")


# --- pieces, merges, ids ---------------------------------------------------------------------------------------


def _pieces_or_merges(a: View, b: View) -> Verdict:
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


def _ask_for_unicode(a: View, b: View, byte: int, verdict: Verdict) -> None:
    """Make the verdict *unicode version* where a character newer than one engine is why the pieces differ."""
    spans = [span for view in (a, b) if (span := view.piece_at(byte)) is not None]
    start = min((span[0] for span in spans), default=byte)
    end = max((span[1] for span in spans), default=byte)
    reason = unicode_reason(a, b, start, end)
    if reason is None:
        return
    verdict.evidence = reason.evidence + verdict.evidence
    if reason.is_version:
        verdict.stage = "unicode version"
        verdict.what = f"{reason.what}; so {verdict.what}"
