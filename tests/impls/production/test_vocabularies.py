"""The published vocabularies: known ids from the production libraries, and a conversion that restores the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from rank_files import rank_file
from tokenizers import Tokenizer as TheirTokenizer

import impls
from harness.data import load_corpus, load_model
from impls.formats import load, losses, save

pytestmark = pytest.mark.corpus
PUBLISHED = ("r50k_base", "cl100k_base", "o200k_base")
KNOWN = {
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
"""Texts that some implementation has encoded wrongly before."""


@pytest.mark.parametrize(
    ("model", "libraries"),
    [
        ("r50k_base", ("tiktoken", "tokenizers", "sentencepiece", "compiled")),
        ("cl100k_base", ("tiktoken", "compiled")),
        ("o200k_base", ("tiktoken", "compiled")),
    ],
)
def test_known_texts_and_real_ones_get_one_answer_from_all(model: str, libraries: tuple[str, ...]) -> None:
    public, known = load_model(model), {text: ids[PUBLISHED.index(model)] for text, ids in KNOWN.items()}
    real = ["\n".join(load_corpus(corpus, max_bytes=60_000).documents()) for corpus in ("turkish", "english", "code")]
    texts = [*known, *WORTH_KEEPING, *real]
    priority = impls.load("priority", public)
    expected = [priority.encode(text, disallowed_special=()) for text in texts]
    assert [" ".join(map(str, ids)) for ids in expected[: len(known)]] == list(known.values())
    for library in libraries:
        tokenizer = impls.load(library, public)
        assert tokenizer.encode_batch(texts, disallowed_special=()) == expected, library
        assert [tokenizer.decode(ids) for ids in expected] == [priority.decode(ids) for ids in expected], library
        end = public.special_tokens["<|endoftext|>"]
        assert tokenizer.encode("a<|endoftext|>", allowed_special="all") == [64, end]


def test_ranks_come_back_byte_for_byte_from_tokenizer_json(tmp_path: Path) -> None:
    original = load(rank_file("p50k_base"))  # its ids have a gap
    save(original, tmp_path / "tokenizer.json", "tokenizer.json")
    converted = load(tmp_path / "tokenizer.json")
    assert converted.merge_rule == "pairs"
    assert (converted.tokens, converted.pattern) == (original.tokens, original.pattern)
    assert converted.special_tokens == original.special_tokens
    assert not any(line.startswith("merges") for line in losses(converted, "tiktoken"))
    save(converted, tmp_path / "back.tiktoken", "tiktoken")
    assert (tmp_path / "back.tiktoken").read_bytes() == rank_file("p50k_base").read_bytes()
    theirs, tokenizer = TheirTokenizer.from_file(str(tmp_path / "tokenizer.json")), impls.load("tiktoken", original)
    for text in [*KNOWN, "a<|endoftext|>b"]:
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, add_special_tokens=False).ids == ids
