"""The stage that rewrites a text: normal forms, prefixes, characters that are dropped or have no symbol."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

from harness.common_prefix import common_prefix_length
from harness.explain.observations import Observation, StageDifference
from harness.printable import code_point, quoted
from impls.core.errors import UnknownSymbol, plural
from impls.core.model.model import Model


class Rewriting(NamedTuple):
    """How a text was rewritten, in words."""

    what: str
    dropped: str = ""
    """The characters removed, if nothing else was changed."""


_NORMAL_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_FORMS: dict[str, Callable[[str], str]] = {
    "": str,
    **{f"normalises it to {form}": partial(unicodedata.normalize, form) for form in _NORMAL_FORMS},
    "lower-cases it": str.lower,
    "upper-cases it": str.upper,
    "case-folds it": str.casefold,
    "strips white space at both ends": str.strip,
    "collapses white space to single spaces and strips it": lambda text: " ".join(text.split()),
    "converts line ends to line feeds": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
}
_SPACED: dict[str, Callable[[str], str]] = {
    "": str,
    "prepends a space": lambda text: " " + text,
    "replaces spaces by ▁": lambda text: text.replace(" ", "▁"),
    "replaces spaces by ▁ and prepends one": lambda text: "▁" + text.replace(" ", "▁"),
}


def rewriting(text: str, seen: str) -> Rewriting | None:
    """Return the rewriting that turns `text` into `seen`; None if they are equal."""
    if seen == text:
        return None
    for (what, form), (then, space) in product(_FORMS.items(), _SPACED.items()):
        if space(form(text)) == seen:
            return Rewriting(", ".join(filter(None, (what, then))))
    dropped = _dropped(text, seen)
    if dropped is not None:
        shown = ", ".join(map(code_point, dict.fromkeys(dropped[:3])))
        return Rewriting(f"drops {quoted(dropped)} ({shown})", dropped)
    at = common_prefix_length(text, seen)
    return Rewriting(f"changes {quoted(text[at : at + 8])} to {quoted(seen[at : at + 8])} at character {at}")


def _dropped(text: str, seen: str) -> str | None:
    """Return the characters missing in `seen` if it is `text` without some of its characters; else None."""
    dropped: list[str] = []
    at = 0
    for character in text:
        if at < len(seen) and seen[at] == character:
            at += 1
        else:
            dropped.append(character)
    return "".join(dropped) if at == len(seen) else None


def normalisation(a: Observation, b: Observation) -> StageDifference | None:
    """Return the difference if the sides see different texts, or the tokens of one do not spell what it sees."""
    if a.seen is not None and a.seen == b.seen:
        return None
    if a.declared is not None and a.declared == b.declared:
        return _lost_symbols(a, b)
    texts = [side.spelled if side.declared is None else side.declared for side in (a, b)]
    if texts[0] == texts[1]:
        return None
    shown, dropping, spelling = [], [], []
    for observation, seen in zip((a, b), texts, strict=True):
        name, text, normalize = observation.name, observation.text, observation.side.normalize
        change = rewriting(text, seen)
        if change is None:
            shown.append(f"{name} leaves the text unchanged")
            continue
        shown.append(f"{name} {change.what}")
        spelling.append(f"the tokens of {name} spell {_escaped(seen)}, the text is {_escaped(text)}")
        if change.dropped and (normalize is None or normalize(text) == text):
            dropping.append(f"{name} does not rewrite the text, yet none of its pieces holds {quoted(change.dropped)}")
    what = "; ".join(shown)
    byte = len(texts[0][: common_prefix_length(*texts)].encode("utf-8", "surrogatepass"))
    if dropping and a.declared is not None and b.declared is not None:
        return StageDifference("pieces", what, dropping, byte)
    return StageDifference("normalisation", what, spelling, byte)


def _escaped(text: str) -> str:
    """Return `text` in ASCII, so that a composed letter does not look like a decomposed one."""
    return ascii(text) if len(text) <= 40 else f"{text[:40]!a}…"


def _lost_symbols(a: Observation, b: Observation) -> StageDifference:
    """Return the difference if both should see the same text but the tokens of one do not spell it."""
    wrong = next(side for side in (a, b) if side.seen is None or side.spelled != side.declared)
    name, declared, model = wrong.name, wrong.declared or "", wrong.side.model
    if model is not None and model.unknown_id in wrong.ids:
        what = f"{name} has no token for a symbol of the text, and gives the unknown token"
        return StageDifference("vocabulary", what)
    texts = "|".join(re.escape(special.text) for special in wrong.specials)
    if texts and len({re.sub(rf"\s*({texts})\s*", r"\1", text) for text in (declared, wrong.spelled)}) == 1:
        evidence = [f"the tokens of {name} spell {_escaped(wrong.spelled)}, the text is {_escaped(declared)}"]
        return StageDifference("special tokens", f"{name} drops white space beside a special token", evidence)
    change = rewriting(declared, wrong.spelled)
    done = "spells different bytes" if change is None else change.what
    if model is None or not _has_every_symbol(model, declared):
        what = f"{name} sees {quoted(declared)} and {done}: its vocabulary lacks the symbol"
        return StageDifference("vocabulary", what)
    evidence = [f"its vocabulary has every symbol of the text, yet its tokens spell {_escaped(wrong.spelled)}"]
    byte = None if wrong.seen is None else common_prefix_length(declared.encode(), wrong.seen)
    if change is not None and change.dropped:
        what = f"{name} {done}; the pattern it should use covers them"
        return StageDifference("pieces or merges", what, evidence, byte)
    lost = len(declared.encode()) - len(wrong.seen or b"")
    off = f"{plural(abs(lost), 'byte')} {'lost' if lost > 0 else 'too many'}"
    return StageDifference("merges", f"the tokens of {name} do not spell the text: {off}", evidence, byte)


def _has_every_symbol(model: Model, text: str) -> bool:
    with suppress(UnknownSymbol):
        return model.unknown_id not in model.symbols(text)
    return False
