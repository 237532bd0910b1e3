"""Training through `bpebench.hf`: the library's vocabulary, or a refusal that names what cannot be followed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hf_calls import shown
from refusals import refused
from tokenizer_json_shapes import SAMPLES
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from impls.core.errors import BPEError, InvalidFile, InvalidSpec, Unsupported
from impls.drop_in import hf

LINES = [line for name in ("tr", "en", "code") for line in (SAMPLES / f"{name}.txt").read_text().split("\n")]
ALPHABET = pre_tokenizers.ByteLevel.alphabet()


def untrained(kind: str, **model: Any) -> Any:
    """A new tokenizer of `bpebench.hf` or of the library."""
    given = models.BPE(**model)
    return hf.Tokenizer(given, implementation="priority") if kind == "ours" else tokenizers.Tokenizer(given)


def by_bytes(t: Any) -> None:
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()


def by_words(t: Any) -> None:
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.post_processor = processors.BertProcessing(("<s>", 1), ("<s>", 1))


def by_marks(t: Any) -> None:
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()


def digits_apart(t: Any) -> None:
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)])


TRAINED: dict[str, tuple[Callable[[Any], None], dict[str, Any], dict[str, Any]]] = {
    "bytes": (by_bytes, {}, {"vocab_size": 400, "initial_alphabet": ALPHABET}),
    "bytes, specials": (by_bytes, {}, {"vocab_size": 400, "initial_alphabet": ALPHABET, "special_tokens": ["<s>"]}),
    "bytes, frequent": (by_bytes, {}, {"vocab_size": 900, "initial_alphabet": ALPHABET, "min_frequency": 9}),
    "bytes, short": (by_bytes, {}, {"vocab_size": 500, "initial_alphabet": ALPHABET, "max_token_length": 4}),
    "digits apart": (digits_apart, {}, {"vocab_size": 400, "initial_alphabet": ALPHABET}),
    "words": (by_words, {"unk_token": "<unk>"}, {"vocab_size": 300, "special_tokens": ["<unk>", "<s>"]}),
    "words, more letters": (by_words, {}, {"vocab_size": 300, "initial_alphabet": ["ж", "a", "я"]}),
    "marks": (by_marks, {"unk_token": "<unk>", "fuse_unk": True}, {"vocab_size": 300, "special_tokens": ["<unk>"]}),
    "one word a text": (lambda t: None, {}, {"vocab_size": 250, "min_frequency": 2}),
}


@pytest.mark.parametrize("name", TRAINED)
def test_the_vocabulary_is_that_of_the_library(name: str, tmp_path: Path) -> None:
    prepare, model, options = TRAINED[name]
    (tmp_path / "corpus.txt").write_text("\n".join(LINES), encoding="utf-8")
    documents = []
    for kind in ("ours", "theirs", "ours", "theirs"):
        tokenizer = untrained(kind, **model)
        prepare(tokenizer)
        trainer = trainers.BpeTrainer(show_progress=False, **options)
        if len(documents) < 2:
            tokenizer.train_from_iterator([LINES[:5], *LINES[5:]], trainer, length=9)
        else:
            tokenizer.train([str(tmp_path / "corpus.txt")], trainer)
        documents.append(json.loads(tokenizer.to_str()))
        documents[-1]["encoded"] = [shown(tokenizer.encode(line)) for line in LINES[::9] if line]
    assert documents[0] == documents[1]
    assert documents[2] == documents[3]
    assert documents[0]["model"]["merges"]


def test_a_tokenizer_is_trained_anew() -> None:
    trained = []
    for kind in ("ours", "theirs"):
        tokenizer = untrained(kind)
        by_bytes(tokenizer)
        for lines in (LINES[:20], LINES[20:]):
            trainer = trainers.BpeTrainer(
                vocab_size=300, initial_alphabet=ALPHABET, special_tokens=["<s>"], show_progress=False
            )
            tokenizer.train_from_iterator(lines, trainer)
        trained.append(json.loads(tokenizer.to_str()))
    assert trained[0] == trained[1]


def test_before_training_there_are_parts_and_no_tokens() -> None:
    ours = untrained("ours", unk_token="<unk>")
    by_words(ours)
    assert ours.normalizer.normalize_str("É") == "e"
    assert ours.get_vocab() == {}
    assert ours.model.unk_token == "<unk>"
    assert ours.encode("a", add_special_tokens=False).ids == []
    assert json.loads(ours.to_str()) == json.loads(hf.Tokenizer.from_str(ours.to_str()).to_str())


def test_a_model_with_tokens_may_be_given() -> None:
    given = models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
    assert shown(hf.Tokenizer(given).encode("abab")) == shown(tokenizers.Tokenizer(given).encode("abab"))


def letters() -> Iterator[str]:
    yield "ab"


def options_of(**options: Any) -> Callable[[], Any]:
    return lambda: trainers.BpeTrainer(show_progress=False, **options)


REFUSED: dict[str, tuple[Callable[[Any], None], Callable[[], Any], type[Exception], str]] = {
    "a limit": (by_words, options_of(limit_alphabet=5), Unsupported, "BpeTrainer.limit_alphabet: 5"),
    "a prefix": (by_words, options_of(continuing_subword_prefix="##"), Unsupported, "continuing_subword_prefix: '##'"),
    "a suffix": (by_words, options_of(end_of_word_suffix="</w>"), Unsupported, "end_of_word_suffix: '</w>'"),
    "short words": (by_words, options_of(max_token_length=5), Unsupported, "BpeTrainer.max_token_length"),
    "few bytes": (by_bytes, options_of(), Unsupported, r"initial_alphabet: a model over bytes has all 256"),
    "other trainers": (by_words, trainers.WordPieceTrainer, Unsupported, "WordPieceTrainer"),
    "a trainer of its own tokenizers": (by_words, trainers.ParityBpeTrainer, TypeError, "not ParityBpeTrainer"),
    "others": (by_words, lambda: 3, TypeError, "trainer must be a BpeTrainer"),
    "too small": (by_words, options_of(vocab_size=1), InvalidSpec, "vocab_size"),
    "added tokens": (lambda t: t.add_tokens(["zz"]), options_of(), Unsupported, "add_tokens: add 'zz' after training"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(name: str) -> None:
    prepare, trainer, error, problem = REFUSED[name]
    ours = untrained("ours")
    prepare(ours)
    refused(error, problem, ours.train_from_iterator, letters(), trainer())


def test_texts_that_are_none_are_refused(tmp_path: Path) -> None:
    ours = untrained("ours")
    for given in ("a text", 3, [3], [["a", 3]]):
        refused(TypeError, None, ours.train_from_iterator, given)
    refused(InvalidFile, "missing", ours.train, [str(tmp_path / "missing")])
    (tmp_path / "latin").write_bytes(b"\xe9")
    refused(InvalidFile, "UTF-8", ours.train, [str(tmp_path / "latin")])
    refused(TypeError, "files must be a list", ours.train, str(tmp_path))
    for given in (models.WordPiece(), models.Unigram()):
        refused(BPEError, "is not byte pair encoding", hf.Tokenizer, given)
