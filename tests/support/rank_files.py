"""The published rank file of a vocabulary, as it was fetched."""

from __future__ import annotations

from pathlib import Path

from harness.data import cache_folder
from harness.data.catalogue import vocabularies
from harness.data.fetching import ensure


def rank_file(name: str) -> Path:
    vocabulary = vocabularies()[name]
    assert vocabulary.path.endswith(".tiktoken")
    ensure(vocabulary.items)
    return cache_folder() / vocabulary.path
