"""Sums over streamed documents: of a text, and of its tokens under a model. Memory does not grow with the text.

For intervals, sums are kept by group of documents: document i belongs to group i modulo `GROUPS`. Up to that many
documents, each is a group of its own; beyond it, groups are independent samples of equal size.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from harness.evaluate.texts import Batch, Segmenter, batch_of
from impls import Tokenizer

GROUPS = 1000


class TextTally:
    """Sums of a text that do not depend on a model: int64 of shape (GROUPS,)."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.documents, self.bytes, self.characters, self.words = np.zeros((4, GROUPS), np.int64)
        self.n_word_characters = self.n_unspaced = 0

    def add(self, batch: Batch) -> None:
        """Add a batch."""
        groups = groups_of(self.n_documents, len(batch.documents))
        self.n_documents += len(batch.documents)
        np.add.at(self.documents, groups, 1)
        np.add.at(self.bytes, groups, batch.n_bytes)
        np.add.at(self.characters, groups, batch.n_characters)
        np.add.at(self.words, groups, batch.n_words)
        self.n_word_characters += batch.words.n_characters
        self.n_unspaced += batch.words.n_unspaced


class TokenBytes:
    """The bytes of a tokenizer's ids, prepared once for all texts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer, model = tokenizer, tokenizer.model
        by_id = model.bytes_by_id()
        self.lengths = np.zeros(model.vocab_size, np.int64)
        for i, token in by_id.items():
            self.lengths[i] = len(token)
        self.round_trip = model.round_trip
        self._bytes = np.frombuffer(b"".join(by_id[i] for i in sorted(by_id)), np.uint8)
        self._first = np.cumsum(self.lengths) - self.lengths
        """Index in `_bytes` of the first byte of each id."""

    def decoded(self, ids: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the bytes of ids, uint8; `before`, shape (n_ids + 1,), counts the bytes before each."""
        places = np.repeat(self._first[ids] - before[:-1], self.lengths[ids])
        places += np.arange(before[-1])
        content: np.ndarray = self._bytes[places]
        return content


class ModelTally:
    """Sums of a text's tokens under a model: int64 of shape (GROUPS,).

    Borders of tokens are offsets in the text that the ids decode to; for a normalising model that is the normalised
    text. They are not counted (`has_borders`) for a lossy model, or if the decoded bytes are not UTF-8.
    """

    def __init__(self, known: TokenBytes) -> None:
        self.known = known
        self.has_borders = known.round_trip != "lossy"
        self.n_documents = 0
        self.tokens, self.words, self.continued = np.zeros((3, GROUPS), np.int64)
        self._segmenter = Segmenter()
        self.lengths: Counter[int] = Counter()
        """Tokens of a document -> number of such documents."""

    def add(self, batch: Batch) -> None:
        """Encode and add a batch; special tokens are read as ordinary text."""
        ids, offsets = self.known.tokenizer.encode_ragged(batch.documents, disallowed_special=())
        groups, n_tokens = groups_of(self.n_documents, len(batch.documents)), np.diff(offsets)
        self.n_documents += len(groups)
        np.add.at(self.tokens, groups, n_tokens)
        self.lengths.update(
            dict(zip(*(found.tolist() for found in np.unique(n_tokens, return_counts=True)), strict=True))
        )
        if self.has_borders:
            self._count_borders(ids, offsets, groups, batch)

    def _count_borders(self, ids: np.ndarray, offsets: np.ndarray, groups: np.ndarray, batch: Batch) -> None:
        lengths = self.known.lengths[ids]
        before = np.concatenate(([0], np.cumsum(lengths)))
        n_bytes = np.diff(before[offsets])
        view = batch
        if self.known.round_trip != "exact" or not np.array_equal(n_bytes, batch.n_bytes):
            if (decoded := self._decoded(ids, before, n_bytes, batch)) is not None:
                view = decoded
            else:
                self.has_borders = False
                self.words[:] = 0
                return
        # A line feed precedes every document but the first.
        places = (before[:-1] + np.repeat(np.arange(len(groups)), np.diff(offsets)))[lengths > 0]
        begins = np.zeros(len(view.content) + 1, bool)
        begins[places] = True
        n_before = np.cumsum(begins, dtype=np.int32)
        continued = n_before[view.words.ends - 1] > n_before[view.words.starts]
        np.add.at(self.words, groups, view.n_words)
        np.add.at(self.continued, groups[view.word_document[continued]], 1)

    def _decoded(self, ids: np.ndarray, before: np.ndarray, n_bytes: np.ndarray, batch: Batch) -> Batch | None:
        """Return the documents that ids decode to, of which `before` counts the bytes; None if one is not UTF-8.

        If they equal the batch, with or without a space before each document, its words are reused.
        """
        content = self.known.decoded(ids, before)
        ends = np.cumsum(n_bytes)
        for view in (batch, batch.after_spaces()):
            if np.array_equal(n_bytes, view.n_bytes) and np.array_equal(content, view.without_line_feeds()):
                return view
        decoded = content.tobytes()
        try:
            documents = [decoded[a:b].decode() for a, b in pairwise((0, *ends.tolist()))]
        except UnicodeDecodeError:
            return None
        return batch_of(documents, self._segmenter)


def groups_of(first: int, n_documents: int) -> np.ndarray:
    """Return the group of each of `n_documents` documents, of which the first has index `first` in its text."""
    return (first + np.arange(n_documents)) % GROUPS
