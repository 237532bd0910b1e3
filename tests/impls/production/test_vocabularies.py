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
KnownIds = dict[str, dict[str, str]]


@pytest.mark.parametrize(
    ("model", "libraries"),
    [
        ("r50k_base", ("tiktoken", "tokenizers", "sentencepiece")), ("cl100k_base", ("tiktoken",)),
        ("o200k_base", ("tiktoken",)),
    ],
)  # fmt: skip
def test_known_texts_and_real_ones_get_one_answer_from_all(
    model: str, libraries: tuple[str, ...], worth_keeping: list[str], known_ids: KnownIds
) -> None:
    public, known = load_model(model), known_ids[model]
    real = ["\n".join(load_corpus(corpus, max_bytes=60_000).documents()) for corpus in ("turkish", "english", "code")]
    texts = [*known, *worth_keeping, *real]
    priority = impls.load("priority", public)
    expected = [priority.encode(text, disallowed_special=()) for text in texts]
    assert [" ".join(map(str, ids)) for ids in expected[: len(known)]] == list(known.values())
    for library in libraries:
        tokenizer = impls.load(library, public)
        assert tokenizer.encode_batch(texts, disallowed_special=()) == expected, library
        assert [tokenizer.decode(ids) for ids in expected] == [priority.decode(ids) for ids in expected], library
        end = public.special_tokens["<|endoftext|>"]
        assert tokenizer.encode("a<|endoftext|>", allowed_special="all") == [64, end]


def test_ranks_come_back_byte_for_byte_from_tokenizer_json(tmp_path: Path, known_ids: KnownIds) -> None:
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
    for text in [*known_ids["r50k_base"], "a<|endoftext|>b"]:
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, add_special_tokens=False).ids == ids
