"""The published vocabularies: known ids from the production libraries, and conversions that restore the file."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pytest
from tokenizers import Tokenizer as TheirTokenizer

import impls
from impls import Model
from impls.formats import load, losses, save
from impls.formats.known import KNOWN

pytestmark = pytest.mark.corpus

MODELS = ["r50k_base", "cl100k_base", "o200k_base"]
LIBRARIES = ["tiktoken", "tokenizers", "sentencepiece"]
KnownIds = dict[str, dict[str, str]]


@cache
def model_named(name: str) -> Model:
    from harness.data import load_model

    return load_model(name)


@cache
def loaded(library: str, model: str) -> impls.Tokenizer:
    return impls.load(library, model_named(model))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_known_ids(library: str, model: str, known_ids: KnownIds) -> None:
    tokenizer, known = loaded(library, model), known_ids[model]
    encoded = {text: " ".join(map(str, tokenizer.encode(text, disallowed_special=()))) for text in known}
    assert encoded == known
    assert all(tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == text for text in known)
    end = model_named(model).special_tokens["<|endoftext|>"]
    assert tokenizer.encode("a<|endoftext|>", allowed_special="all") == [64, end]
    assert tokenizer.encode_batch(["a<|endoftext|>", "a"], allowed_special="all") == [[64, end], [64]]


@pytest.mark.parametrize("model", MODELS)
def test_texts_worth_keeping_and_real_ones_get_one_answer_from_all(model: str, worth_keeping: list[str]) -> None:
    from harness.data import load_corpus

    real = ["\n".join(load_corpus(corpus, max_bytes=60_000).documents()) for corpus in ("turkish", "english", "code")]
    texts = [*worth_keeping, *real]
    priority = loaded("priority", model)
    expected = [priority.encode(text, disallowed_special=()) for text in texts]
    for library in LIBRARIES:
        tokenizer = loaded(library, model)
        assert [tokenizer.encode(text, disallowed_special=()) for text in texts] == expected, library
        assert tokenizer.encode_batch(texts, disallowed_special=()) == expected, library
        assert [tokenizer.decode(ids) for ids in expected] == [priority.decode(ids) for ids in expected], library


@pytest.mark.parametrize("model", [*MODELS, "p50k_base"])
def test_ranks_come_back_byte_for_byte_from_tokenizer_json(model: str, tmp_path: Path, known_ids: KnownIds) -> None:
    from rank_files import rank_file

    original = load(rank_file(model))
    save(original, tmp_path / "tokenizer.json", "tokenizer.json")
    converted = load(tmp_path / "tokenizer.json")
    assert converted.merge_rule == "pairs"
    assert (converted.tokens, converted.pattern) == (original.tokens, original.pattern)
    assert converted.special_tokens == original.special_tokens
    assert not any(line.startswith("merges") for line in losses(converted, "tiktoken"))
    save(converted, tmp_path / "back.tiktoken", "tiktoken")
    assert (tmp_path / "back.tiktoken").read_bytes() == rank_file(model).read_bytes()
    theirs = TheirTokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer = loaded("tiktoken", model)
    for text in [*known_ids["r50k_base"], "a<|endoftext|>b"]:
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, add_special_tokens=False).ids == ids


@pytest.mark.parametrize("model", [*MODELS, "p50k_base"])
def test_the_known_rank_files_get_their_pattern_and_special_tokens(model: str) -> None:
    from rank_files import rank_file

    path = rank_file(model)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in KNOWN
    assert load(path) == model_named(model)


def test_gpt2s_pair_comes_back(tmp_path: Path) -> None:
    original = model_named("r50k_base")
    save(original, tmp_path, "gpt2")
    again = load(tmp_path)
    assert (again.tokens, again.pattern, again.special_tokens) == (
        original.tokens,
        original.pattern,
        original.special_tokens,
    )
    assert (tmp_path / "vocab.bpe").read_text().splitlines()[:4] == ["#version: 0.2", "Ġ t", "Ġ a", "h e"]
    assert losses(original, "gpt2") == []


def test_our_own_file_holds_the_largest_vocabulary(tmp_path: Path) -> None:
    model = model_named("o200k_base")
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
