"""Texts around parts of characters: whether bytes can be part of UTF-8, and characters that contain them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice, product, zip_longest

_CONTINUES = range(0x80, 0xC0)
_LEADS = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}
"""Length of a character in bytes -> its possible first bytes."""


def texts_around(token: bytes, most: int) -> list[str]:
    """Return up to `most` texts whose UTF-8 contains `token`, with no more around it than its characters need.

    An empty list means that no text contains it.

    >>> [text.encode()[:2] for text in texts_around(b" \\xc3", 2)], texts_around(b"\\xff", 2)
    ([b' \\xc3', b' \\xc3'], [])
    """
    n_head = len(token) - len(token.lstrip(bytes(_CONTINUES)))
    rest, tail = token[n_head:], b""
    try:
        rest.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return []
        tail = rest[error.start :]
    if n_head > 3:
        return []
    if n_head and not rest:
        found = list(islice(_within(token), most))
    else:
        each = math.isqrt(most) + 1 if n_head and tail else most
        afters = list(islice(_afters(tail), each))
        found = [before + token + after for before in islice(_befores(token[:n_head]), each) for after in afters]
    return [text.decode() for text in found[:most]]


def _befores(head: bytes) -> Iterator[bytes]:
    """Yield the bytes that can precede those that end a character."""
    if not head:
        return iter([b""])
    leads = [
        _shuffled(_LEADS[n_bytes], *[_CONTINUES] * (n_bytes - len(head) - 1)) for n_bytes in range(len(head) + 1, 5)
    ]
    return (lead for lead in _in_turn(leads) if _is_character(lead + head))


def _afters(tail: bytes) -> Iterator[bytes]:
    """Yield the bytes that can follow those that begin a character."""
    if not tail:
        return iter([b""])
    n_bytes = next(n for n, leads in _LEADS.items() if tail[0] in leads)
    return (end for end in _shuffled(*[_CONTINUES] * (n_bytes - len(tail))) if _is_character(tail + end))


def _within(token: bytes) -> Iterator[bytes]:
    """Yield characters that contain continuation bytes, at any position."""

    def placed(n_bytes: int, n_before: int) -> Iterator[bytes]:
        for one in _shuffled(_LEADS[n_bytes], *[_CONTINUES] * (n_bytes - len(token) - 1)):
            yield one[:n_before] + token + one[n_before:]

    places = [(n_bytes, n_before) for n_bytes in _LEADS for n_before in range(1, n_bytes - len(token) + 1)]
    return filter(_is_character, _in_turn([placed(*place) for place in places]))


@cache
def _shuffled(*choices: range) -> list[bytes]:
    """Return all combinations of bytes, in an order that looks random and is always the same."""
    every = [bytes(one) for one in product(*choices)]
    random.Random(0).shuffle(every)
    return every


def _in_turn(several: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the first item of each, then the second of each, and so on."""
    return (one for one in chain.from_iterable(zip_longest(*several)) if one is not None)


def _is_character(content: bytes) -> bool:
    try:
        return len(content.decode()) == 1
    except UnicodeDecodeError:
        return False
