"""Texts around parts of characters: whether bytes can be part of UTF-8, and characters that contain them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache
from itertools import islice

_FIRST = (0, 0x80, 0x800, 0x10000, 0x110000)
"""Code points from which on a character takes 1, 2, 3, 4 bytes, and the end."""


def texts_around(token: bytes, most: int) -> list[str]:
    """Return up to `most` texts whose UTF-8 contains `token`, with no more around it than its characters need.

    An empty list means that no text contains it.

    >>> [text.encode()[:2] for text in texts_around(b" \\xc3", 2)], texts_around(b"\\xff", 2)
    ([b' \\xc3', b' \\xc3'], [])
    """
    n_head = len(token) - len(token.lstrip(bytes(range(0x80, 0xC0))))
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
        return list(islice(_holding(token), most))
    each = math.isqrt(most) + 1 if n_head and tail else most
    afters = [text.encode()[len(tail) :] for text in islice(_beginning_with(tail), each)] if tail else [b""]
    befores = [text.encode()[:-n_head] for text in islice(_ending_with(token[:n_head]), each)] if n_head else [b""]
    return [(before + token + after).decode() for before in befores for after in afters][:most]


def _beginning_with(tail: bytes) -> list[str]:
    """Return the characters that begin with a first byte and continuation bytes."""
    n_bytes = next(n for n, least in ((4, 0xF0), (3, 0xE0), (2, 0xC2)) if tail[0] >= least)
    n_free = 64 ** (n_bytes - len(tail))
    start = n_free * _bits(bytes([tail[0] & 0xFF >> n_bytes + 1]) + tail[1:])
    return _characters(range(max(start, _FIRST[n_bytes - 1]), min(start + n_free, _FIRST[n_bytes])))


def _ending_with(head: bytes) -> Iterator[str]:
    """Yield the characters that end with continuation bytes."""
    step = 64 ** len(head)
    return (text for text in _characters(range(_bits(head), _FIRST[-1], step)) if text.encode().endswith(head))


def _holding(token: bytes) -> Iterator[str]:
    """Yield the characters that hold continuation bytes, at any position."""
    for n_after in range(4 - len(token)):
        step, n_free = 64 ** len(token), 64**n_after
        for high in _characters(range(_bits(token), _FIRST[-1] // n_free, step)):
            for text in _characters(range(ord(high) * n_free, (ord(high) + 1) * n_free)):
                if token in text.encode()[1:]:
                    yield text


def _bits(continuing: bytes) -> int:
    """Return the number that the lower six bits of each byte spell."""
    number = 0
    for byte in continuing:
        number = number << 6 | byte & 0x3F
    return number


@cache
def _characters(codes: range) -> list[str]:
    """Return the characters of code points, in an order that looks random, always the same."""
    return [chr(code) for code in random.Random(0).sample(codes, len(codes)) if not 0xD800 <= code < 0xE000]
