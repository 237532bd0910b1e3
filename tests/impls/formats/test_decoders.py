"""Ids of a tokenizer.json decode by the file's decoder, as in its library: at once, one by one, and with offsets."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tokenizers import Tokenizer

import impls
from harness.generators.tokenizer_files import tokenizer_file
from impls.core.errors import BPEError, Unsupported
from impls.drop_in import hf
from impls.formats import load, losses, own, save

Document = dict[str, Any]
MARKS = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
BYTES, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
LLAMA = [{"type": "Prepend", "prepend": "▁"}, MARKS | {"pattern": {"String": " "}, "content": "▁"}]
RUNS = {"type": "Sequence", "decoders": [MARKS, BYTES, FUSE]}
STRIPPED = {"type": "Sequence", "decoders": [MARKS, BYTES, FUSE, STRIP]}


def a_file(decoder: Document | None, *words: str, suffix: str | None = None, **fields: Any) -> Document:
    """Letters, some words, and a token per byte."""
    texts = ["<unk>", "a", "▁", "▁a", "é", *words, *(f"<0x{byte:02X}>" for byte in range(256))]
    bpe = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "end_of_word_suffix": suffix}
    bpe |= {"vocab": {text: i for i, text in enumerate(texts)}, "merges": [["▁", "a"]]}
    normalizer = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    return {"added_tokens": [], "normalizer": normalizer, "decoder": decoder, "model": bpe} | fields


def loaded(document: Document, name: str = "priority") -> impls.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return impls.load(name, load(Path("tokenizer.json"), content=json.dumps(document).encode()))


def ids_of(document: Document, tokens: str) -> list[int]:
    return [document["model"]["vocab"][token] for token in tokens.split()]


@pytest.mark.parametrize("name", ["priority", "compiled", "tokenizers"])
@pytest.mark.parametrize(
    ("decoder", "tokens", "text"),
    [
        (RUNS, "a <0xC3> <0xA9> a", "aéa"),
        (RUNS, "a <0xC3> <0xA9> <0xFF> a <0xC3> <0xA9>", "a\ufffd\ufffd\ufffdaé"),
        (RUNS, "▁a <0x41> <0xE2> <0x82>", " a\ufffd\ufffd\ufffd"),
        (STRIPPED, "<0x20> a", "a"),
        (STRIPPED, "<0x20> <0x20> a", " a"),
        (STRIPPED, "<0x20> <0xFF>", "\ufffd\ufffd"),
        (STRIPPED, "<0x41> <0xFF> ▁", "\ufffd\ufffd "),
        (METASPACE, "▁a <0x41> ▁a", "a<0x41> a"),
        (None, "▁a a <unk>", "▁a a <unk>"),
    ],
)
def test_bytes_and_spaces_decode_by_the_file(name: str, decoder: Document, tokens: str, text: str) -> None:
    document = a_file(decoder)
    ids = ids_of(document, tokens)
    assert Tokenizer.from_str(json.dumps(document)).decode(ids) == text
    tokenizer = loaded(document, name)
    assert tokenizer.decode(ids) == text
    stream = tokenizer.decoder()
    assert "".join([*map(stream.push, ([i] for i in ids)), stream.finish()]) == text
    assert hf.Tokenizer.from_str(json.dumps(document)).decode(ids) == text


def of_words(decoder: Document | None) -> Document:
    texts = ["<unk>", "a", "b", "a</w>", "b</w>", "ab</w>"]
    bpe = {"type": "BPE", "unk_token": "<unk>", "end_of_word_suffix": "</w>", "merges": [["a", "b</w>"]]}
    return {"decoder": decoder, "model": bpe | {"vocab": {text: i for i, text in enumerate(texts)}}}


@pytest.mark.parametrize("name", ["priority", "compiled", "tokenizers"])
@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        (None, "ab</w> a a</w>"),
        ({"type": "BPEDecoder", "suffix": "</w>"}, "ab aa"),
        ({"type": "Fuse"}, "ab</w>aa</w>"),
    ],
)
def test_the_end_of_a_word_decodes_by_the_file(name: str, decoder: Document | None, text: str) -> None:
    document = of_words(decoder)
    ids = ids_of(document, "ab</w> a a</w>")
    assert Tokenizer.from_str(json.dumps(document)).decode(ids) == text
    tokenizer = loaded(document, name)
    assert tokenizer.decode(ids) == text
    stream = tokenizer.decoder()
    assert "".join([*map(stream.push, ([i] for i in ids)), stream.finish()]) == text


@pytest.mark.parametrize("seed", range(997_550, 997_590))
def test_random_ids_have_offsets_in_their_text(seed: int) -> None:
    random = Random(seed)
    try:
        tokenizer = loaded(tokenizer_file(random))
    except BPEError:
        return
    every = list(tokenizer.model.names_by_id)
    for n_ids in range(9):
        ids = random.choices(every, k=n_ids)
        try:
            text, offsets = tokenizer.decode_with_offsets(ids)
        except Unsupported:
            continue
        assert text == tokenizer.decode(ids)
        assert len(offsets) == n_ids
        assert offsets == sorted(offsets)
        assert all(0 <= start <= len(text) for start in offsets)


def test_what_changes_is_announced_and_the_decoder_of_a_file_is_kept(tmp_path: Path) -> None:
    for decoder in (None, RUNS, STRIPPED, METASPACE, {"type": "Fuse"}):
        model = loaded(a_file(decoder)).model
        for name, format in (("again.json", "tokenizer.json"), ("own.json", "bpebench")):
            save(model, tmp_path / name, format)
            assert load(tmp_path / name).digest == model.digest
        assert not any(line.startswith("decod") for line in losses(model, "tokenizer.json"))


def test_the_decoder_of_a_file_of_an_earlier_release_is_kept(tmp_path: Path) -> None:
    model = loaded(a_file(STRIPPED, normalizer={"type": "Sequence", "normalizers": LLAMA})).model
    content = json.loads(own.write(model))
    assert content["version"] == 6
    assert content.pop("decoder") == 'replace("\\u2581"," ")+byte-fallback+fuse+strip(" ","1","0")'
    content["version"], content["sentencepiece"]["shows_specials"] = 2, True
    content["digest"] = own._digest(content)
    assert own.read(json.dumps(content).encode()) == model
