"""The stage in which a text is rewritten: normal forms, prefixes, characters that are dropped or have no symbol."""

from __future__ import annotations

from harness.common_prefix import common_prefix_length
from harness.explain.observations import Observation, decoded
from harness.explain.readable import quoted
from harness.explain.rewriting import Rewriting, rewriting
from harness.explain.stage_difference import StageDifference
from harness.explanations import Certainty
from impls.core.errors import UnknownSymbol
from impls.core.model.model import Model


def normalisation(a: Observation, b: Observation) -> StageDifference | None:
    """Return the difference where the two see different texts, or the tokens of one do not spell what it sees."""
    if a.seen is not None and a.seen == b.seen:
        return None
    if a.declared is not None and a.declared == b.declared:
        return _lost_symbols(a, b)
    texts = [_text_seen(observation) for observation in (a, b)]
    if texts[0] == texts[1]:
        return None
    changes = [rewriting(a.text, text) for text in texts]
    shown = [
        f"{observation.side.name} {'leaves the text as it is' if change is None else change.what}"
        for observation, change in zip((a, b), changes, strict=True)
    ]
    at = common_prefix_length(*texts)
    byte = len(texts[0][:at].encode("utf-8", "surrogatepass"))
    evidence = [hint for observation in (a, b) for hint in observation.side.hints]
    dropping = [_dropped_by_splitting(observation, change) for observation, change in zip((a, b), changes, strict=True)]
    if any(dropping):
        evidence += [text for text in dropping if text]
        certainty: Certainty = (
            "certain" if all(observation.declared is not None for observation in (a, b)) else "inferred"
        )
        return StageDifference("pieces", "; ".join(shown), certainty, evidence, byte)
    evidence += [
        f"the tokens of {observation.side.name} spell {_escaped(text)}, the text is {_escaped(a.text)}"
        for observation, text, change in zip((a, b), texts, changes, strict=True)
        if change is not None
    ]
    return StageDifference("normalisation", "; ".join(shown), evidence=evidence, byte=byte)


def _text_seen(observation: Observation) -> str:
    if observation.declared is not None:
        return observation.declared
    if observation.seen is not None:
        return observation.seen.decode("utf-8", "replace")
    return decoded(observation)


def _escaped(text: str) -> str:
    """Return `text` in ASCII, so that a composed letter does not look like a decomposed one."""
    return ascii(text) if len(text) <= 40 else f"{text[:40]!a}…"


def _dropped_by_splitting(observation: Observation, change: Rewriting | None) -> str | None:
    """Say why dropped characters were lost in splitting; None where they were not, or nothing was dropped."""
    if change is None or not change.dropped:
        return None
    side = observation.side
    if side.normalize is not None and side.normalize(observation.text) != observation.text:
        return None
    return f"{side.name} does not rewrite the text, yet {quoted(change.dropped)} is in none of its pieces"


def _lost_symbols(a: Observation, b: Observation) -> StageDifference:
    """Return the difference where both should see the same text, and the tokens of one do not spell it."""
    wrong = next(
        observation
        for observation in (a, b)
        if observation.seen is None or observation.seen.decode("utf-8", "replace") != observation.declared
    )
    name, declared = wrong.side.name, wrong.declared or ""
    spelled = decoded(wrong) if wrong.seen is None else wrong.seen.decode("utf-8", "replace")
    model = wrong.side.model
    if model is not None and model.unknown_id in wrong.ids:
        what = f"{name} has no token for a symbol of the text and gives the unknown token for it"
        return StageDifference("vocabulary", what)
    change = rewriting(declared, spelled)
    done = "spells other bytes" if change is None else change.what
    if model is None or not _has_every_symbol(model, declared):
        return StageDifference(
            "vocabulary", f"{name} sees {quoted(declared)} and {done}: its vocabulary lacks the symbol"
        )
    evidence = [f"its vocabulary has every symbol of the text, yet its tokens spell {_escaped(spelled)}"]
    byte = None if wrong.seen is None else common_prefix_length(declared.encode(), wrong.seen)
    if change is not None and change.dropped:
        what = f"{name} {done}; the pattern it should have covers them"
        return StageDifference("pieces", what, "inferred", evidence, byte)
    lost = len(declared.encode()) - len(wrong.seen or b"")
    what = f"the tokens of {name} do not spell the text: {abs(lost)} byte(s) {'lost' if lost > 0 else 'too many'}"
    return StageDifference("merges", what, "certain", evidence, byte)


def _has_every_symbol(model: Model, text: str) -> bool:
    try:
        symbols = model.symbols(text)
    except UnknownSymbol:
        return False
    return model.unknown_id not in symbols
