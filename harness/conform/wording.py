"""Write any text as a Python expression, short if the text is regular."""

from __future__ import annotations

import hashlib
from itertools import groupby

_AS_IT_IS = 60
_LONGEST_PERIOD = 64
_LONGEST_EXPRESSION = 200
_SHORTEST_RUN = 12
_ENDS = 24


def has_surrogate(text: str) -> bool:
    """Return whether `text` contains a surrogate: it is then not valid Unicode, and refusing it is right."""
    return any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def escape_surrogates(message: str) -> str:
    """Escape lone surrogates in a message of the target: JSON and XML cannot hold them."""
    return message.encode("utf-8", "backslashreplace").decode()


def expression(text: str) -> str:
    """Return a Python expression for `text`; for a long irregular text its ends, length and SHA-256.

    >>> expression("ab" * 100 + "c"), expression("x" * 99)
    ("'ab' * 100 + 'c'", "'x' * 99")
    """
    if len(text) <= _AS_IT_IS:
        return _runs(text) or ascii(text)
    for found in (_repeats(text), _runs(text)):
        if found is not None and len(found) <= _LONGEST_EXPRESSION:
            return found
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_ENDS]!a} … {text[-_ENDS:]!a} ({len(text):,} characters, sha256 {digest}…)"


def _repeats(text: str) -> str | None:
    for period in range(1, _LONGEST_PERIOD + 1):
        unit = text[:period]
        times, rest = divmod(len(text), period)
        if times < 2:
            return None
        body = unit * times
        if text.startswith(body):
            return f"{unit!a} * {times}" + (f" + {text[len(body) :]!a}" if rest else "")
    return None


def _runs(text: str) -> str | None:
    """Return the text as a sum of runs of one character and the parts between them; None if that is long."""
    parts: list[str] = []
    plain = ""
    for character, same in groupby(text):
        n = len(list(same))
        if n < _SHORTEST_RUN:
            plain += character * n
            continue
        parts += [ascii(plain)] * bool(plain) + [f"{character!a} * {n}"]
        plain = ""
        if sum(map(len, parts)) > _LONGEST_EXPRESSION:
            return None
    return " + ".join(parts + [ascii(plain)] * bool(plain))


def answered(answer: object) -> str:
    """Return what ids decoded to on one line: a text as an expression, bytes as printed, a refusal as its message."""
    if isinstance(answer, str):
        return expression(answer)
    return repr(answer) if isinstance(answer, bytes) else str(answer)
