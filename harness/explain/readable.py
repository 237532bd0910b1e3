"""Text made safe for JSON and a screen: invalid UTF-8 and lone surrogates become backslash escapes."""

from __future__ import annotations


def readable(text: str | bytes) -> str:
    r"""Escape what UTF-8 cannot hold in `text`.

    >>> readable(b"a\xff"), readable("\ud83d")
    ('a\\xff', '\\ud83d')
    """
    if isinstance(text, bytes):
        return text.decode("utf-8", "backslashreplace")
    return text.encode("utf-8", "backslashreplace").decode()


_LONGEST_QUOTE = 60


def quoted(text: str | bytes) -> str:
    """Return `text` in quotes for use within a sentence, shortened where it is long."""
    shown = readable(text)
    written = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return f"‘{written}’" if len(written) <= _LONGEST_QUOTE else f"‘{written[:_LONGEST_QUOTE]}…’"


def code_point(character: str) -> str:
    """Return the code point as U+0041 with, where Python knows it, its name.

    >>> code_point("A")
    'U+0041 LATIN CAPITAL LETTER A'
    """
    import unicodedata

    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
