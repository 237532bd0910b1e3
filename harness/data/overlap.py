"""Overlap of a text with a vocabulary's training text, by hashes of the training documents in the model's file.

A document's hash is the first 8 bytes of the SHA-256 of its UTF-8, stripped of surrounding white space. A model keeps
the `MAX_HASHES` smallest hashes, which depend only on the documents. If it has fewer, every document can be looked up;
otherwise only those whose hash is not above the largest one kept (a bottom-k sample; Broder 1997, "On the resemblance
and containment of documents").
"""

from __future__ import annotations

import base64
import hashlib
import heapq
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from harness.data.documents import encoded
from impls.core.model.model import Model

MAX_HASHES = 2048
"""At most 22 KB of a model's file."""
_HASH_BYTES = 8


class Overlap(NamedTuple):
    """How many documents of a text can be looked up among a model's training documents, and how many were found."""

    n_documents: int
    n_trained_on: int

    @property
    def share(self) -> float:
        """Return the share of documents that were trained on, 0 to 1."""
        return self.n_trained_on / self.n_documents


def training_documents(texts: Iterable[str], before: str = "") -> str:
    """Return the value of `Model.training_documents` for these texts: at most `MAX_HASHES` hashes, in base64.

    `before` is the value of the model that training continued from.
    """
    hashes = _kept(before).union(map(_hash, texts))
    return base64.b64encode(b"".join(heapq.nsmallest(MAX_HASHES, hashes))).decode()


def training_overlap(model: Model, texts: Iterable[str]) -> Overlap | None:
    """Return how many of `texts` the model was trained on; None if it has no hashes, or no text can be looked up.

    Documents are compared whole: training text that is cut into other documents is not found.
    """
    kept = _kept(model.training_documents)
    if not kept:
        return None
    largest = max(kept) if len(kept) >= MAX_HASHES else b"\xff" * _HASH_BYTES
    n_documents = n_trained_on = 0
    for found in map(_hash, texts):
        n_documents += found <= largest
        n_trained_on += found in kept
    return Overlap(n_documents, n_trained_on) if n_documents else None


def shared_documents(texts: Iterable[str], trained: Iterable[str]) -> Overlap:
    """Return how many of `texts` are among `trained`, by their hashes; takes 8 bytes of memory for each of `texts`."""
    hashes, times = np.unique(np.frombuffer(b"".join(map(_hash, texts)), np.uint64), return_counts=True)
    is_found = np.zeros(len(hashes), bool)
    others = map(_hash, trained)
    while some := b"".join(islice(others, 1 << 16)):
        is_found |= np.isin(hashes, np.frombuffer(some, np.uint64))
    return Overlap(int(times.sum()), int(times[is_found].sum()))


def _kept(encoded_hashes: str) -> set[bytes]:
    content = base64.b64decode(encoded_hashes)
    return {content[at : at + _HASH_BYTES] for at in range(0, len(content), _HASH_BYTES)}


def _hash(text: str) -> bytes:
    return hashlib.sha256(encoded(text.strip())).digest()[:_HASH_BYTES]
