"""What was done to a text before it was cut: the usual rewritings, found by trying them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from harness.common_prefix import common_prefix_length
from harness.explain.readable import code_point, quoted


class Rewriting(NamedTuple):
    """How a text was rewritten, as a phrase."""

    what: str
    dropped: str = ""
    """The characters removed, where nothing else was done."""


_FORMS: dict[str, Callable[[str], str]] = {
    "normalises it to NFC": lambda text: unicodedata.normalize("NFC", text),
    "normalises it to NFD": lambda text: unicodedata.normalize("NFD", text),
    "normalises it to NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "normalises it to NFKD": lambda text: unicodedata.normalize("NFKD", text),
    "lower-cases it": str.lower,
    "upper-cases it": str.upper,
    "case-folds it": str.casefold,
    "strips white space at both ends": str.strip,
    "collapses white space to single spaces and strips it": lambda text: " ".join(text.split()),
    "converts line ends to line feeds": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
}
_MARK = "▁"


def rewriting(text: str, seen: str) -> Rewriting | None:
    """Return the rewriting that turns `text` into `seen`; None where they are equal."""
    if seen == text:
        return None
    for what, form in _forms().items():
        if form(text) == seen:
            return Rewriting(what)
    dropped = _dropped(text, seen)
    if dropped is not None:
        shown = ", ".join(map(code_point, dict.fromkeys(dropped[:3])))
        return Rewriting(f"drops {quoted(dropped)} ({shown})", dropped)
    at = common_prefix_length(text, seen)
    return Rewriting(f"changes {quoted(text[at : at + 8])} to {quoted(seen[at : at + 8])} at character {at}")


def _forms() -> dict[str, Callable[[str], str]]:
    """Return the usual forms, each also combined with a prefix space and with ▁ for spaces."""
    spaced: dict[str, Callable[[str], str]] = {
        "prepends a space": lambda text: " " + text,
        f"replaces spaces by {_MARK}": lambda text: text.replace(" ", _MARK),
        f"replaces spaces by {_MARK} and prepends one": lambda text: _MARK + text.replace(" ", _MARK),
    }
    both = {f"{one}, {two}": _in_turn(f, g) for one, f in _FORMS.items() for two, g in spaced.items()}
    return {**_FORMS, **spaced, **both}


def _in_turn(first: Callable[[str], str], then: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: then(first(text))


def _dropped(text: str, seen: str) -> str | None:
    """Return the characters missing in `seen`, where `seen` is `text` without some of its characters; else None."""
    dropped: list[str] = []
    at = 0
    for character in text:
        if at < len(seen) and seen[at] == character:
            at += 1
        else:
            dropped.append(character)
    return "".join(dropped) if at == len(seen) else None
