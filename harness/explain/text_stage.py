"""The stage in which a text is rewritten: normal forms, prefixes, characters that are dropped or have no symbol."""

from __future__ import annotations

from harness.explain.readable import quoted
from harness.explain.rewriting import Rewriting, rewriting
from harness.explain.verdict import Verdict
from harness.explain.views import View, decoded
from harness.explanations import Certainty
from impls.core.errors import UnknownSymbol
from impls.core.model.model import Model


def normalisation(a: View, b: View) -> Verdict | None:
    """The verdict where the two see other texts, or the tokens of one do not spell what it sees."""
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
    return decoded(view)


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
    """Both are to see the same text, and the tokens of one do not spell it."""
    wrong = next(view for view in (a, b) if view.seen is None or view.seen.decode("utf-8", "replace") != view.declared)
    name, declared = wrong.side.name, wrong.declared or ""
    spelled = decoded(wrong) if wrong.seen is None else wrong.seen.decode("utf-8", "replace")
    model = wrong.side.model
    if model is not None and model.unknown_id in wrong.ids:
        what = f"{name} has no token for a symbol of the text and gives the unknown token for it"
        return Verdict("vocabulary", what)
    change = rewriting(declared, spelled)
    done = "spells other bytes" if change is None else change.what
    if model is None or not _has_every_symbol(model, declared):
        return Verdict("vocabulary", f"{name} sees {quoted(declared)} and {done}: its vocabulary lacks the symbol")
    evidence = [f"its vocabulary has every symbol of the text, yet its tokens spell {_escaped(spelled)}"]
    byte = None if wrong.seen is None else _common_bytes(declared.encode(), wrong.seen)
    if change is not None and change.dropped:
        what = f"{name} {done}; the pattern it is to have covers them"
        return Verdict("pieces", what, "inferred", evidence, byte)
    lost = len(declared.encode()) - len(wrong.seen or b"")
    what = f"the tokens of {name} do not spell the text: {abs(lost)} byte(s) {'lost' if lost > 0 else 'too many'}"
    return Verdict("merges", what, "certain", evidence, byte)


def _has_every_symbol(model: Model, text: str) -> bool:
    try:
        symbols = model.symbols(text)
    except UnknownSymbol:
        return False
    return model.unknown_id not in symbols


def _common_bytes(one: bytes, other: bytes) -> int:
    return next((k for k, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
