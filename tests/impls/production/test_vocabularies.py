"""A published rank file comes back from another format byte for byte, and its library gives the same ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from rank_files import rank_file
from tokenizers import Tokenizer as TheirTokenizer

import impls
from impls.formats import load, losses, save

pytestmark = pytest.mark.corpus


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
    for text in ("hello world", "\x00", "\ufeffhi", "İıi e\u0301", "it'ſ", "   x   ", "0000000", "a<|endoftext|>b"):
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, add_special_tokens=False).ids == ids
