"""Write any text as a Python expression, short if the text is regular."""

from __future__ import annotations

import hashlib
import re

_LONGEST_EXPRESSION = 200
_REPEATED = re.compile(r"(.{1,64}?)\1{11,}", re.DOTALL)
_ENDS = 24


def has_surrogate(text: str) -> bool:
    """Return whether `text` contains a surrogate: it is then not valid Unicode, and refusing it is right."""
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def expression(text: str) -> str:
    """Return a Python expression for `text`; for a long irregular text its ends, length and SHA-256.

    >>> expression("ab" * 100 + "c"), expression("x" * 99)
    ("'ab' * 100 + 'c'", "'x' * 99")
    """
    parts: list[str] = []
    plain, at = "", 0
    while at < len(text) and sum(map(len, parts)) + len(ascii(plain)) <= _LONGEST_EXPRESSION:
        if (run := _REPEATED.match(text, at)) is None:
            plain, at = plain + text[at], at + 1
        else:
            parts += [ascii(plain)] * bool(plain) + [f"{run[1]!a} * {len(run[0]) // len(run[1])}"]
            plain, at = "", run.end()
    if at == len(text):
        return " + ".join(parts + [ascii(plain)] * (bool(plain) or not parts))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_ENDS]!a} … {text[-_ENDS:]!a} ({len(text):,} characters, sha256 {digest}…)"


def answered(answer: object) -> object:
    """Return an answer as it is shown: a text as an expression, bytes as Python writes them, all else as it is."""
    if isinstance(answer, str):
        return expression(answer)
    return repr(answer) if isinstance(answer, bytes) else answer
