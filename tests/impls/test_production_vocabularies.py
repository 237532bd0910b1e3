"""The published vocabularies: known ids from the production libraries, and conversions that give the file back."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pytest
from tokenizers import Tokenizer as TheirTokenizer

import impls
from impls import Model
from impls.formats import load, losses, save
from impls.formats.tiktoken_ranks import KNOWN

pytestmark = pytest.mark.corpus

MODELS = ["r50k_base", "cl100k_base", "o200k_base"]
LIBRARIES = ["tiktoken", "tokenizers", "sentencepiece"]
KNOWN_IDS = {
    "hello world": ("31373 995", "15339 1917", "24912 2375"),
    "\x00": ("188", "188", "188"),
    "\ufeffhi": ("171 119 123 5303", "3305 6151", "5574 3686"),
    "a\u2028b": ("64 447 101 65", "64 378 101 65", "64 51008 65"),
    "e\u0301": ("68 136 223", "68 54939", "68 13430"),
    "İıi": ("128 108 30102 72", "48880 3862 72", "4599 612 72"),
    "it'ſ": ("270 6 129 123", "275 6 129 123", "278 6 70067"),
    "   x": ("220 220 2124", "256 865", "256 1215"),
    "x   ": ("87 220 220 220", "87 262", "87 271"),
    "\r\n\r\n": ("201 198 201 198", "881", "1414"),
    "0000000000": ("8269 405", "931 931 931 15", "1302 1302 1302 15"),
    "don’t": ("9099 447 247 83", "15357 1431", "22130 1573"),
    "I'LL": ("40 6 3069", "40 6 4178", "40 6 7454"),
    "▁": ("5008 223", "10634 223", "6762 223"),
    "<|endoftext|>": ("27 91 437 1659 5239 91 29", "27 91 8862 728 428 91 29", "27 91 419 1440 919 91 29"),
}
WORTH_KEEPING = [
    "👨\u200d👩\u200d👧\u200d👦", "\u200fשלום", "\u0301" * 3, "123456789", "a\n ", "a" * 99, "a" * 100, "a" * 101,
    "ab" * 4_000, "a\ud83d", "\ud83d\udc4d", "ﬁ\u0301t", "non\u00a0breaking", "12½34", "1\U00011de0234", "\u0c5c's",
    " " * 1_000, "中文没有空格" * 200, "\t  " * 2_000 + "x",
]  # fmt: skip


@cache
def model_named(name: str) -> Model:
    from harness.data import load_model

    return load_model(name)


@cache
def loaded(library: str, model: str) -> impls.Tokenizer:
    return impls.load(library, model_named(model))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_known_ids(library: str, model: str) -> None:
    tokenizer = loaded(library, model)
    encoded = {text: " ".join(map(str, tokenizer.encode(text, disallowed_special=()))) for text in KNOWN_IDS}
    assert encoded == {text: ids[MODELS.index(model)] for text, ids in KNOWN_IDS.items()}
    assert all(tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == text for text in KNOWN_IDS)
    end = model_named(model).special_tokens["<|endoftext|>"]
    assert tokenizer.encode("a<|endoftext|>", allowed_special="all") == [64, end]
    assert tokenizer.encode_batch(["a<|endoftext|>", "a"], allowed_special="all") == [[64, end], [64]]


@pytest.mark.parametrize("model", MODELS)
def test_texts_worth_keeping_and_real_ones_get_one_answer_from_all(model: str) -> None:
    from harness.data import load_corpus

    real = ["\n".join(load_corpus(corpus, max_bytes=60_000).documents()) for corpus in ("turkish", "english", "code")]
    texts = [*WORTH_KEEPING, *real]
    priority = loaded("priority", model)
    expected = [priority.encode(text, disallowed_special=()) for text in texts]
    for library in LIBRARIES:
        tokenizer = loaded(library, model)
        assert [tokenizer.encode(text, disallowed_special=()) for text in texts] == expected, library
        assert tokenizer.encode_batch(texts, disallowed_special=()) == expected, library
        assert [tokenizer.decode(ids) for ids in expected] == [priority.decode(ids) for ids in expected], library


@pytest.mark.parametrize("model", [*MODELS, "p50k_base"])
def test_ranks_come_back_byte_for_byte_from_tokenizer_json(model: str, tmp_path: Path) -> None:
    from harness.data.models import rank_file

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
    for text in [*KNOWN_IDS, "a<|endoftext|>b"]:
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, add_special_tokens=False).ids == ids


@pytest.mark.parametrize("model", [*MODELS, "p50k_base"])
def test_the_known_rank_files_get_their_pattern_and_special_tokens(model: str) -> None:
    from harness.data.models import rank_file

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
