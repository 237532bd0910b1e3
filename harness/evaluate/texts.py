"""Documents in batches: their bytes, characters and words, found once for all models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.data.documents import encoded
from harness.evaluate.words import Segmenter, Words

_BATCH_CHARACTERS = 1 << 20
_BATCH_DOCUMENTS = 1 << 16


Documents = Callable[[], Iterator[str]]
"""Reads documents anew at each call, so that none need be kept."""


class Text(NamedTuple):
    """A text of one language."""

    name: str
    language: str | None
    documents: Documents


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents, none of them empty, joined by line feeds."""

    documents: list[str]
    content: np.ndarray
    """Their UTF-8 (surrogatepass), joined: uint8."""
    starts: np.ndarray
    """Where each begins in `content`: int64 of shape (n_documents,)."""
    n_bytes: np.ndarray
    n_characters: np.ndarray
    words: Words
    word_document: np.ndarray
    """The document of each word."""

    @property
    def n_words(self) -> np.ndarray:
        """Words by document: int64."""
        return np.bincount(self.word_document, minlength=len(self.documents))

    def without_line_feeds(self) -> np.ndarray:
        """Return the UTF-8 of all documents, with nothing between them."""
        return np.delete(self.content, self.starts[1:] - 1)

    def after_spaces(self) -> Batch:
        """Return the documents with a space before each; a space changes no word after it."""
        starts = self.starts + np.arange(len(self.starts))
        content = np.insert(self.content, self.starts, ord(" "))
        later = self.word_document + 1
        words = self.words._replace(starts=self.words.starts + later, ends=self.words.ends + later)
        documents = [f" {document}" for document in self.documents]
        sizes = self.n_bytes + 1, self.n_characters + 1
        return Batch(documents, content, starts, *sizes, words, self.word_document)


def batch_of(documents: list[str], segmenter: Segmenter) -> Batch:
    """Return documents as a batch."""
    joined = "\n".join(documents)
    content = np.frombuffer(encoded(joined), np.uint8)
    n_characters = np.fromiter(map(len, documents), np.int64, len(documents))
    n_bytes = n_characters if len(content) == len(joined) else _lengths(documents)
    starts = np.cumsum(n_bytes + 1) - (n_bytes + 1)
    words = segmenter.words(joined)
    word_document = np.searchsorted(starts, words.starts, "right") - 1
    return Batch(documents, content, starts, n_bytes, n_characters, words, word_document)


def _lengths(documents: list[str]) -> np.ndarray:
    return np.fromiter((len(encoded(document)) for document in documents), np.int64, len(documents))


def batches(documents: Iterable[str]) -> Iterator[list[str]]:
    """Yield the documents that are not empty in lists of about a megabyte; a longer one is alone."""
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
