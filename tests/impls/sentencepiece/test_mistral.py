"""Mistral's published models: ids and texts are those of SentencePiece's library, on real text and on random strings.

`BPEBENCH_FUZZ=250` takes 200 KB of each corpus, and 20,000 strings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import sentencepiece

import impls
from harness.data import load_corpus, load_model
from harness.data.cache import cache_folder

CORPORA = ["turkish", "english", "code", *(f"parallel/{language}" for language in ("ru", "he", "de", "ta", "zh"))]
IMPLEMENTATIONS = ("naive", "priority", "backtracking", "compiled", "sentencepiece", "tokenizers")

pytestmark = [pytest.mark.corpus, pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])]


@cache
def library(name: str) -> sentencepiece.SentencePieceProcessor:
    load_model(name)
    return sentencepiece.SentencePieceProcessor(model_file=str(cache_folder() / "vocabularies" / f"{name}.model"))


@cache
def ours(name: str) -> dict[str, impls.Tokenizer]:
    model = load_model(name)
    return {implementation: impls.load(implementation, model) for implementation in IMPLEMENTATIONS}


def test_ids_are_the_librarys_on_real_text(name: str, fuzz: int) -> None:
    heads = [load_corpus(corpus, max_bytes=800 * fuzz).documents() for corpus in CORPORA]
    texts = [text for head in heads for text in head]
    wanted = library(name).encode(texts)
    for implementation, tokenizer in ours(name).items():
        assert [tokenizer.encode(text, disallowed_special=()) for text in texts] == wanted, implementation
        assert [tokenizer.decode(ids) for ids in wanted] == library(name).decode(wanted) == texts


def test_ids_are_the_librarys_on_random_strings(name: str, random_texts: Callable[..., list[str]], fuzz: int) -> None:
    texts = random_texts(80 * fuzz, seed=9)
    wanted = library(name).encode(texts)
    for implementation, tokenizer in ours(name).items():
        for text, ids in zip(texts, wanted, strict=True):
            assert tokenizer.encode(text, disallowed_special=()) == ids, (implementation, text)
            assert tokenizer.decode(ids) == library(name).decode(ids), (implementation, text)


def test_the_model_is_regular_and_normalising(name: str) -> None:
    model = ours(name)["naive"].model
    assert model.irregularities == ()
    assert (model.round_trip, model.lossy) == ("normalising", "U+2581 becomes a space")
