"""Text from outside (names of implementations, corpora and files, messages) as it may be shown: nothing in it acts.

Control characters move a terminal's cursor, abort a renderer of images and begin lines that nobody wrote; marks of
direction (U+202E) show a name as another. Whatever shows such text passes it through `printable` first.
"""

from __future__ import annotations

import re
from typing import Any

_SURROGATES = range(0xD800, 0xE000)


def printable(text: object) -> str:
    r"""Return `text` on one line, what cannot be printed as its backslash escape.

    >>> printable("caf\u00e9\n\x1b[31m\u202e")
    'caf\u00e9\\n\\x1b[31m\\u202e'
    """
    shown = str(text)
    return shown if shown.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in shown)


def _escaped(character: str) -> str:
    if ord(character) in _SURROGATES:
        return f"\\u{ord(character):x}"
    return character.encode("unicode_escape").decode()


def printable_values(value: Any) -> Any:
    """Return `value` (of lists, dicts and what they hold) with every text in it printable; keys stay as they are."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(inner) for inner in value]
    return value


def printable_json(document: str) -> str:
    r"""Return a JSON document with what cannot be printed escaped as JSON does it: it reads as the same values.

    >>> print(printable_json('{"name": "a\u202eb"}'))
    {"name": "a\u202eb"}
    """
    return re.sub(r"[^\n\x20-\x7e]", lambda found: _escaped_json(found[0]), document)


def _escaped_json(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
