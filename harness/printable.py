"""Make external text (names of implementations, corpora and files, messages, bytes of tokens) safe to show.

Control characters move a terminal's cursor, abort an image renderer and forge lines; direction marks (U+202E) disguise
one name as another. Such text must pass through `printable` before it is shown.
"""

from __future__ import annotations

import re
from typing import Any


def printable(text: object) -> str:
    r"""Return `text` on one line, unprintable characters as backslash escapes.

    >>> printable("caf\u00e9\n\x1b[31m\u202e")
    'caf\u00e9\\n\\x1b[31m\\u202e'
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def printable_values(value: Any) -> Any:
    """Return `value` (nested lists and dicts) with every string in it printable; keys are unchanged."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(inner) for inner in value]
    return value


def printable_json(document: str) -> str:
    r"""Return a JSON document with unprintable characters as JSON escapes: it parses to the same values.

    >>> print(printable_json('{"name": "a\u202eb"}'))
    {"name": "a\u202eb"}
    """
    return re.sub(r"[^\n\x20-\x7e]", lambda match: _escaped_json(match[0]), document)


def _escaped_json(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def readable(text: str | bytes) -> str:
    r"""Escape what UTF-8 cannot encode in `text`.

    >>> readable(b"a\xff"), readable("\ud83d")
    ('a\\xff', '\\ud83d')
    """
    if isinstance(text, bytes):
        return text.decode("utf-8", "backslashreplace")
    return text.encode("utf-8", "backslashreplace").decode()


def token_shown(token: bytes) -> str:
    r"""Return a token as a Python literal: ' ev', or b' \xd7' if it is not UTF-8."""
    text = text_of(token)
    return repr(token if text is None else text)


def text_of(token: bytes) -> str | None:
    """Return the text of a token, or None if it is not whole characters."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def quoted(text: str | bytes, at_most: int = 60) -> str:
    """Return `text` on one line in quotes; of a long one the beginning and the length."""
    shown = readable(text)
    written = printable(shown)
    return f"‘{written}’" if len(written) <= at_most else f"‘{written[:at_most]}…’ ({len(shown):,} characters)"


def code_point(character: str) -> str:
    """Return the code point as U+0041, with its name if Python knows it.

    >>> code_point("A")
    'U+0041 LATIN CAPITAL LETTER A'
    """
    import unicodedata

    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
