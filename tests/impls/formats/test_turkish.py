"""A Turkish vocabulary in every format that can hold it: each file, read by the format's own library, gives its ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece
import tiktoken
import tokenizers
from tiktoken.load import load_tiktoken_bpe
from tokenizers import Regex, models, pre_tokenizers

import impls
from harness.data import load_corpus, load_model, trained_model_path
from impls import Model, TrainingSpec
from impls.core.text.byte_alphabet import to_printable
from impls.core.text.patterns import Splitter
from impls.formats import file_name, load, losses, save
from impls.formats.tokenizer_json.oniguruma import to_oniguruma

pytestmark = pytest.mark.corpus

Ids = list[list[int]]


@pytest.fixture(scope="module")
def model() -> Model:
    """`turkish-10k` where it was trained here, else a smaller one of the same kind."""
    if trained_model_path("turkish-10k").is_file():
        return load_model("turkish-10k")
    texts = load_corpus("turkish", split="train", max_bytes=300_000).documents()
    return impls.get("priority").train_model(texts, TrainingSpec(vocab_size=1500, pattern="turkish"))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return list(load_corpus("turkish", split="held-out", max_bytes=200_000).documents())


@pytest.fixture(scope="module")
def ids(model: Model, texts: list[str]) -> Ids:
    return impls.load("compiled", model).encode_batch(texts)


def written(model: Model, format: str, folder: Path) -> Path:
    path = folder / file_name(format)
    save(model, path, format)
    return path


def test_tiktoken_gives_the_ids_of_the_rank_file(model: Model, texts: list[str], ids: Ids, tmp_path: Path) -> None:
    ranks = load_tiktoken_bpe(str(written(model, "tiktoken", tmp_path)))
    encoding = tiktoken.Encoding("turkish", pat_str=model.pattern[0], mergeable_ranks=ranks, special_tokens={})
    assert [encoding.encode_ordinary(text) for text in texts] == ids


def test_tokenizers_gives_the_ids_of_tokenizer_json(model: Model, texts: list[str], ids: Ids, tmp_path: Path) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(written(model, "tokenizer.json", tmp_path)))
    assert [found.ids for found in tokenizer.encode_batch_fast(texts, add_special_tokens=False)] == ids


def test_tokenizers_gives_the_ids_of_the_two_files(model: Model, texts: list[str], ids: Ids, tmp_path: Path) -> None:
    folder = written(model, "gpt2", tmp_path)
    merges = [tuple(line.split(" ")) for line in (folder / "vocab.bpe").read_text().splitlines()[1:]]
    tokenizer = tokenizers.Tokenizer(models.BPE(json.loads((folder / "encoder.json").read_text()), merges))
    split = pre_tokenizers.Split(Regex(to_oniguruma(model.pattern[0])), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    assert [found.ids for found in tokenizer.encode_batch_fast(texts, add_special_tokens=False)] == ids


def test_sentencepiece_gives_the_ids_of_its_file_piece_by_piece(
    model: Model, texts: list[str], ids: Ids, tmp_path: Path
) -> None:
    path = written(model, "sentencepiece", tmp_path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    splitter = Splitter(model.pattern)
    pieces = [[to_printable(piece.encode()) for piece in splitter.split(text)] for text in texts]
    assert [[i for found in processor.encode(some) for i in found] for some in pieces] == ids


@pytest.mark.parametrize("format", ["bpebench", "tiktoken", "tokenizer.json", "gpt2", "minbpe"])
def test_what_is_read_again_gives_the_same_ids(
    format: str, model: Model, texts: list[str], ids: Ids, tmp_path: Path
) -> None:
    lost = losses(model, format)
    pattern = model.pattern if any(line.startswith("pattern") for line in lost) else None
    again = load(written(model, format, tmp_path), pattern=pattern)
    assert impls.load("compiled", again).encode_batch(texts) == ids


def test_minbpe_keeps_a_pattern_that_begins_with_a_space(model: Model, tmp_path: Path) -> None:
    path = written(model, "minbpe", tmp_path)
    assert path.read_text().splitlines()[1].startswith("(?: )?")
    assert load(path).pattern == model.pattern
