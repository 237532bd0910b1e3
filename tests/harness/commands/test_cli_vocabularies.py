"""The verbs that make, read and use a vocabulary: train, vocab, convert, evaluate, encode, decode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_encode_then_decode_gives_back_the_text(bpebench: Any, model_file: Path) -> None:
    ids = bpebench("encode", "hello world", "-m", str(model_file)).out
    assert bpebench("decode", *ids.split(), "-m", str(model_file)).out == "hello world\n"
    assert bpebench("decode", "-m", str(model_file), stdin=ids.encode()).out == "hello world\n"
    assert bpebench("decode", *ids.split(), "-m", str(model_file), "--raw").status == 0


def test_encode_as_json_is_one_document(bpebench: Any, model_file: Path) -> None:
    document = json.loads(bpebench("encode", "hello", "-m", str(model_file), "--json").out)
    assert "".join(document["tokens"]) == "hello"
    assert len(document["ids"]) == len(document["tokens"])


def test_pieces_show_each_token(bpebench: Any, model_file: Path) -> None:
    ended = bpebench("encode", "hello é", "-m", str(model_file), "--pieces")
    assert "\\\\xc3" in ended.out


def test_special_text_is_refused_without_an_option(bpebench: Any, model_file: Path) -> None:
    refused = bpebench("encode", "a<s>b", "-m", str(model_file))
    assert refused.status == 2
    assert "'<s>' at character 1" in refused.err
    assert len(bpebench("encode", "a<s>b", "-m", str(model_file), "--allow-special").out.split()) == 3
    assert len(bpebench("encode", "a<s>b", "-m", str(model_file), "--special-as-text").out.split()) > 3


def test_train_shows_the_first_tokens_and_keeps_the_model(bpebench: Any, own_cache: Path) -> None:
    ended = bpebench("train", "-c", "samples/tr", "--vocab-size", "300", "--name", "mine", "--show", "5")
    assert ended.status == 0
    assert "44 merges" in ended.out
    assert "later merges (after " in ended.out
    assert "mine" in bpebench("list", "models").out
    assert bpebench("encode", "ev", "-m", "mine").status == 0
    shown = json.loads(bpebench("train", "-c", "samples/tr", "--vocab-size", "300", "--show", "3", "--json").out)
    counts = [token["count"] for token in shown["first_tokens"]]
    assert counts == sorted(counts, reverse=True)


def test_vocab_tells_what_a_model_is(bpebench: Any, model_file: Path) -> None:
    about = json.loads(bpebench("vocab", str(model_file), "--json", "--show", "2", "--find", "he").out)
    assert about["ids"] == 275
    assert about["special_tokens"] == {"<s>": 274}


def test_convert_says_what_is_lost(bpebench: Any, model_file: Path, tmp_path: Path) -> None:
    ended = bpebench("convert", str(model_file), str(tmp_path / "ranks.tiktoken"), "--to", "tiktoken")
    assert ended.status == 0
    assert "lost:" in ended.err
    strict = bpebench("convert", str(model_file), str(tmp_path / "other"), "--to", "tiktoken", "--strict")
    assert strict.status == 1
    assert not (tmp_path / "other").exists()
