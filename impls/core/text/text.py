"""Surrogates, UTF-8 boundaries and matching of special tokens. Knows no model and no algorithm."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from itertools import accumulate, groupby


def repair_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, as tiktoken does.

    >>> repair_surrogates("a\\ud83d") == "a\\ufffd", repair_surrogates("\\ud83d\\udc4d") == "\\U0001F44D"
    (True, True)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_DEEPEST = 50


@lru_cache(maxsize=64)
def special_matcher(texts: frozenset[str]) -> re.Pattern[str]:
    """Return an expression that matches any of `texts`, the longest of those that start at one place; for no texts it
    matches the empty string."""
    return re.compile(_longest_of(sorted(texts)) if texts else "")


def _longest_of(texts: list[str], depth: int = 0) -> str:
    """Return an expression for the longest of `texts` (sorted), built as a trie: shared prefixes are compared once.

    Below `_DEEPEST` levels, more than which `re` would not compile, the rests are listed as alternatives."""
    pairs = enumerate(zip(texts[0], texts[-1], strict=False))
    shared = texts[0][: next((k for k, (first, last) in pairs if first != last), len(texts[0]))]
    rests = [text[len(shared) :] for text in texts]
    longer = list(filter(None, rests))
    if depth < _DEEPEST:
        branches = [_longest_of(list(group), depth + 1) for _, group in groupby(longer, key=lambda rest: rest[0])]
    else:
        branches = [re.escape(rest) for rest in sorted(longer, key=len, reverse=True)]
    if not branches:
        return re.escape(shared)
    return f"{re.escape(shared)}(?:{'|'.join(branches)}){'' if all(rests) else '?'}"


EACH_BYTE, _LENGTHS = "bpebench.each-byte", "bpebench.lengths"
codecs.register_error(EACH_BYTE, lambda error: ("\ufffd", error.start + 1))  # type: ignore[attr-defined]
# The bytes of a truncated character together: a surrogate that tells how many they are.
codecs.register_error(_LENGTHS, lambda error: (chr(0xDC00 + error.end - error.start), error.end))  # type: ignore[attr-defined]


def byte_starts_of_characters(data: bytes) -> tuple[str, list[int]]:
    """Return `data` decoded with U+FFFD for invalid bytes, and the byte offset at which each of its characters starts.

    The bytes of a truncated character become one U+FFFD together.

    >>> byte_starts_of_characters(b"a\\xc3\\xa9\\xff")
    ('aé\ufffd', [0, 1, 3])
    """
    try:
        return data.decode(), [at for at, byte in enumerate(data) if byte & 0xC0 != 0x80]
    except UnicodeDecodeError:
        marked = data.decode("utf-8", _LENGTHS)
    starts = accumulate(map(_n_bytes, marked), initial=0)
    return re.sub("[\udc00-\udcff]", "\ufffd", marked), [*starts][:-1]


def _n_bytes(character: str) -> int:
    """Return the number of bytes of a character, or of the invalid bytes in whose place it is."""
    return ord(character) - 0xDC00 if "\udc00" <= character < "\udc80" else len(character.encode())
