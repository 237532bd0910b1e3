"""Sums over streamed documents: of a text, and of its tokens under a model. Memory does not grow with the text.

For intervals, sums are kept by group of documents (`intervals.by_group`).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from harness.evaluate.intervals import GROUPS, by_group
from harness.evaluate.texts import Batch, Segmenter, batch_of
from harness.measure.token_use import TokenArray
from impls import Tokenizer


class TextTally:
    """Sums of a text that do not depend on a model: int64 of shape (GROUPS,)."""

    def __init__(self) -> None:
        self.n_documents = 0
        self.documents, self.bytes, self.characters, self.words = np.zeros((4, GROUPS), np.int64)
        self.n_word_characters = self.n_unspaced = 0

    def add(self, batch: Batch) -> None:
        """Add a batch."""
        first, n_documents = self.n_documents, len(batch.documents)
        self.n_documents += n_documents
        self.documents += by_group(np.ones(n_documents, np.int64), first)
        self.bytes += by_group(batch.n_bytes, first)
        self.characters += by_group(batch.n_characters, first)
        self.words += by_group(batch.n_words, first)
        self.n_word_characters += batch.words.n_characters
        self.n_unspaced += batch.words.n_unspaced


class ModelTally:
    """Sums of a text's tokens under a model: int64 of shape (GROUPS,).

    Borders of tokens are offsets in the text that the ids decode to; for a normalising model that is the normalised
    text. They are not counted (`has_borders`) for a lossy model, or if the decoded bytes are not UTF-8.
    """

    def __init__(self, tokenizer: Tokenizer, token_bytes: TokenArray) -> None:
        self.tokenizer, self._token_bytes = tokenizer, token_bytes
        self._round_trip = tokenizer.model.round_trip
        self.has_borders = self._round_trip != "lossy"
        self.n_documents = 0
        self.tokens, self.words, self.continued = np.zeros((3, GROUPS), np.int64)
        self._segmenter = Segmenter()
        self.lengths: Counter[int] = Counter()
        """Tokens of a document -> number of such documents."""

    def add(self, batch: Batch) -> None:
        """Encode and add a batch; special tokens are read as ordinary text."""
        ids, offsets = self.tokenizer.encode_ragged(batch.documents, disallowed_special=())
        first, n_tokens = self.n_documents, np.diff(offsets)
        self.n_documents += len(n_tokens)
        self.tokens += by_group(n_tokens, first)
        self.lengths.update(n_tokens.tolist())
        if self.has_borders:
            self._count_borders(ids, offsets, first, batch)

    def _count_borders(self, ids: np.ndarray, offsets: np.ndarray, first: int, batch: Batch) -> None:
        lengths = self._token_bytes.lengths(ids)
        before = np.concatenate(([0], np.cumsum(lengths)))
        n_bytes = np.diff(before[offsets])
        view = batch
        if self._round_trip != "exact" or not np.array_equal(n_bytes, batch.n_bytes):
            try:
                view = self._decoded(ids, n_bytes)
            except UnicodeDecodeError:
                self.has_borders = False
                self.words[:] = 0
                return
        # A line feed precedes every document but the first.
        places = (before[:-1] + np.repeat(np.arange(len(n_bytes)), np.diff(offsets)))[lengths > 0]
        begins = np.zeros(int(view.n_bytes.sum()) + len(n_bytes), bool)
        begins[places] = True
        n_before = np.cumsum(begins, dtype=np.int32)
        continued = n_before[view.words.ends - 1] > n_before[view.words.starts]
        self.words += by_group(view.n_words, first)
        self.continued += by_group(np.bincount(view.word_document[continued], minlength=len(n_bytes)), first)

    def _decoded(self, ids: np.ndarray, n_bytes: np.ndarray) -> Batch:
        """Return the documents that ids decode to, `n_bytes` long each; raise if one is not UTF-8."""
        decoded = self._token_bytes.joined(ids)
        documents = [decoded[a:b].decode() for a, b in pairwise((0, *np.cumsum(n_bytes).tolist()))]
        return batch_of(documents, self._segmenter)
