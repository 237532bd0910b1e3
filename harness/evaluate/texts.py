"""Documents in batches: their bytes, characters and words, found once for all models.

Word boundaries are those of the package `regex`, its `\b` under the flag WORD, which differ from UAX #29 in one case:
there is none between an apostrophe that begins a word and a vowel (`'a`). A word is the text between two boundaries if
it holds a letter or a digit: `can't`, `3.14`, `foo.bar` and `İstanbul'un` are one word each, `x-y` is two.

No word extends across a space (U+0020) or line feed, whatever its neighbours. So a text is cut there, and each distinct
part is segmented once, after a space: a combining mark that begins a part belongs to no word. ASCII parts are segmented
by a faster expression with the same result.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import regex

from harness.data.documents import encoded

_BOUNDARY = regex.compile(r"\b", regex.WORD)
_WORDLIKE = regex.compile(r"[\p{L}\p{N}]")
_ASCII_WORD = re.compile(
    r"(?<!\w)_*+[a-z\d]\w*+(?:(?:(?<=[a-z])[:.'](?=[a-z])|(?<=\d)[,;.'](?=\d))\w++)*+", re.ASCII | re.IGNORECASE
)
_FLAG_LETTERS = dict.fromkeys(range(0x1F1E6, 0x1F200), "\U0001d300")
"""Maps regional indicators, which are not words and take `regex` quadratic time, to another character of four bytes."""
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
"""Characters of scripts written without spaces between words."""
_MOST_PARTS = 300_000
"""Distinct parts remembered before all are forgotten, so that memory stays bounded."""


class Words(NamedTuple):
    """The words of a text."""

    starts: np.ndarray
    """First UTF-8 byte of each word, ascending: int64 of shape (n_words,)."""
    ends: np.ndarray
    """The byte after the last of each word."""
    n_characters: int
    """Characters of all words."""
    n_unspaced: int
    """Characters of scripts written without spaces."""


def spans(part: str) -> list[tuple[int, int]]:
    """Return the words of a text as ranges of UTF-8 bytes.

    >>> spans("x-y can't")
    [(0, 1), (2, 3), (4, 9)]
    """
    if part.isascii():
        return [(0, len(part))] if part.isalpha() else [word.span() for word in _ASCII_WORD.finditer(part)]
    return list(_spans(part))


def _spans(part: str) -> Iterator[tuple[int, int]]:
    place, byte = 0, -1
    after_space = f" {part.translate(_FLAG_LETTERS)}"
    for boundary in _BOUNDARY.finditer(after_space):
        word = after_space[place : boundary.start()]
        place, begin = boundary.start(), byte
        byte += len(encoded(word))
        if _WORDLIKE.search(word):
            yield begin + len(encoded(word)) - len(encoded(word.lstrip("'\u2019"))), byte


class _Parts(dict[str, int]):
    """Part -> its number, assigned on first access."""

    def __init__(self) -> None:
        self.n_bytes, self.n_characters, self.n_unspaced = array("q"), array("q"), array("q")
        self.starts, self.ends = array("q"), array("q")
        self.first = array("q", [0])
        """Index of the first word of each part."""

    def __missing__(self, part: str) -> int:
        number = self[part] = len(self)
        words = spans(part)
        for start, end in words:
            self.starts.append(start)
            self.ends.append(end)
        self.first.append(len(self.starts))
        n_bytes, n_characters, n_unspaced = len(part), sum(end - start for start, end in words), 0
        if not part.isascii():
            content = encoded(part)
            n_bytes, n_unspaced = len(content), len(_UNSPACED.findall(part))
            n_characters = sum(len(content[start:end].decode("utf-8", "surrogatepass")) for start, end in words)
        self.n_bytes.append(n_bytes)
        self.n_characters.append(n_characters)
        self.n_unspaced.append(n_unspaced)
        return number


class Segmenter:
    """Segments texts, and remembers the parts it has seen."""

    def __init__(self) -> None:
        self._parts = _Parts()

    def words(self, text: str) -> Words:
        """Return the words of a text, as `spans` of all of it."""
        if len(self._parts) > _MOST_PARTS:
            self._parts = _Parts()
        known = self._parts
        parts = text.replace("\n", " ").split(" ")
        numbers = np.fromiter(map(known.__getitem__, parts), np.int64, len(parts))
        sizes = np.array(known.n_bytes)[numbers] + 1
        first = np.array(known.first)
        n_words = first[numbers + 1] - first[numbers]
        before = np.cumsum(n_words) - n_words
        which = np.arange(n_words.sum()) + np.repeat(first[numbers] - before, n_words)
        offsets = np.repeat(np.cumsum(sizes) - sizes, n_words)
        return Words(
            np.array(known.starts, np.int64)[which] + offsets,
            np.array(known.ends, np.int64)[which] + offsets,
            int(np.array(known.n_characters)[numbers].sum()),
            int(np.array(known.n_unspaced)[numbers].sum()),
        )


_BATCH_CHARACTERS = 1 << 20
_BATCH_DOCUMENTS = 1 << 16


Documents = Callable[[], Iterator[str]]
"""Reads documents again at each call, so that none need be kept in memory."""


class CountedText(NamedTuple):
    """A text of one language."""

    name: str
    language: str | None
    documents: Documents


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents, none of them empty, joined by line feeds."""

    documents: list[str]
    n_bytes: np.ndarray
    """UTF-8 bytes of each document (surrogatepass): int64 of shape (n_documents,)."""
    n_characters: np.ndarray
    words: Words
    """The words of the joined text."""
    word_document: np.ndarray
    """The document of each word."""

    @property
    def n_words(self) -> np.ndarray:
        """Return the number of words of each document: int64."""
        return np.bincount(self.word_document, minlength=len(self.documents))


def batch_of(documents: list[str], segmenter: Segmenter) -> Batch:
    """Return documents as a batch."""
    joined, n_characters = "\n".join(documents), np.fromiter(map(len, documents), np.int64)
    n_bytes = n_characters if joined.isascii() else np.fromiter(map(len, map(encoded, documents)), np.int64)
    starts = np.cumsum(n_bytes + 1) - (n_bytes + 1)
    words = segmenter.words(joined)
    return Batch(documents, n_bytes, n_characters, words, np.searchsorted(starts, words.starts, "right") - 1)


def batches(documents: Iterable[str]) -> Iterator[list[str]]:
    """Yield the non-empty documents in lists of about a megabyte; a longer document is alone in its list."""
    some: list[str] = []
    room = _BATCH_CHARACTERS
    for document in filter(None, documents):
        if some and (len(document) > room or len(some) == _BATCH_DOCUMENTS):
            yield some
            some, room = [], _BATCH_CHARACTERS
        some.append(document)
        room -= len(document)
    if some:
        yield some
