"""A Turkish vocabulary in every format that can hold it: each file, read by the format's own library, gives its ids."""

from __future__ import annotations

from pathlib import Path

import pytest
import sentencepiece
import tiktoken
import tokenizers
from tiktoken.load import load_tiktoken_bpe

import impls
from harness.data import load_corpus
from impls import TrainingSpec
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.patterns import Splitter
from impls.formats import load, losses, save


@pytest.mark.corpus
def test_the_library_of_each_format_gives_the_ids_of_the_written_file(tmp_path: Path) -> None:
    train = load_corpus("turkish", split="train", max_bytes=300_000).documents()
    model = impls.get("priority").train_model(train, TrainingSpec(vocab_size=1500, pattern="turkish"))
    texts = list(load_corpus("turkish", split="held-out", max_bytes=100_000).documents())
    ids = impls.load("compiled", model).encode_batch(texts)
    for format in ("bpebench", "tiktoken", "tokenizer.json", "sentencepiece"):
        save(model, tmp_path / format, format)
        pattern = model.pattern if any(line.startswith("pattern") for line in losses(model, format)) else None
        if format != "sentencepiece":  # which has no bytes: their printable characters are written
            assert impls.load("compiled", load(tmp_path / format, pattern=pattern)).encode_batch(texts) == ids
    ranks = load_tiktoken_bpe(str(tmp_path / "tiktoken"))
    encoding = tiktoken.Encoding("turkish", pat_str=model.pattern[0], mergeable_ranks=ranks, special_tokens={})
    assert encoding.encode_ordinary_batch(texts) == ids
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [each.ids for each in tokenizer.encode_batch_fast(texts, add_special_tokens=False)] == ids
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "sentencepiece"))
    splitter = Splitter(model.pattern)
    pieces = [[to_printable(piece.encode()) for piece in splitter.split(text)] for text in texts]
    assert [[i for part in processor.encode(some) for i in part] for some in pieces] == ids
