"""Data: pinned corpora and vocabularies, the suite's own samples, generated text, and the user's files.

Provides models and documents; knows nothing of implementations, checks or measurements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.data.cache import cache_folder
from harness.data.catalogue import datasets_folder
from harness.data.errors import DataError
from harness.data.fetching import fetch, is_fetched, items_named
from harness.data.models import (
    available_models,
    describe_models,
    load_model,
    model_file,
    model_names,
    trained_model_names,
    trained_model_path,
)

if TYPE_CHECKING:
    from harness.data.corpora import (
        Corpus,
        corpus_names,
        describe_corpora,
        load_corpus,
        sample_parts,
        turkish_paragraph,
    )


def __getattr__(name: str) -> Any:
    """Return what `corpora` offers, imported only then: a process that only encodes needs no corpus."""
    from importlib import import_module

    if name in ("Corpus", "corpus_names", "describe_corpora", "load_corpus", "sample_parts", "turkish_paragraph"):
        return getattr(import_module("harness.data.corpora"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
