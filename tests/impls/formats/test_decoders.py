"""Ids of a tokenizer.json decode by the file's decoder, as in its library: at once, and one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import refused
from tokenizer_json_shapes import MARKS_REMOVED, Document, metaspace, read, replace
from tokenizers import Tokenizer

import impls
from impls import Unsupported
from impls.drop_in import hf
from impls.formats import load, losses, save

FUSE = {"type": "Fuse"}
METASPACE = metaspace("always")
RUNS = {"type": "Sequence", "decoders": MARKS_REMOVED[:3]}
STRIPPED = {"type": "Sequence", "decoders": MARKS_REMOVED}


def a_file(decoder: Document | None) -> Document:
    """Letters, some words, and a token per byte."""
    texts = ["<unk>", "a", "▁", "▁a", "é", *(f"<0x{byte:02X}>" for byte in range(256))]
    bpe = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    bpe |= {"vocab": {text: i for i, text in enumerate(texts)}, "merges": [["▁", "a"]]}
    return {"added_tokens": [], "normalizer": replace(" ", "▁"), "decoder": decoder, "model": bpe}


def of_words(decoder: Document | None) -> Document:
    texts = ["<unk>", "a", "b", "a</w>", "b</w>", "ab</w>"]
    bpe = {"type": "BPE", "unk_token": "<unk>", "end_of_word_suffix": "</w>", "merges": [["a", "b</w>"]]}
    return {"decoder": decoder, "model": bpe | {"vocab": {text: i for i, text in enumerate(texts)}}}


@pytest.mark.parametrize(
    ("document", "tokens", "text"),
    [
        (a_file(RUNS), "a <0xC3> <0xA9> <0xFF> a <0xC3> <0xA9>", "a\ufffd\ufffd\ufffdaé"),
        (a_file(RUNS), "▁a <0x41> <0xE2> <0x82>", " a\ufffd\ufffd\ufffd"),
        (a_file(STRIPPED), "<0x20> a", "a"),
        (a_file(STRIPPED), "<0x20> <0x20> a", " a"),
        (a_file(STRIPPED), "<0x20> <0xFF>", "\ufffd\ufffd"),
        (a_file(STRIPPED), "<0x41> <0xFF> ▁", "\ufffd\ufffd "),
        (a_file(METASPACE), "▁a <0x41> ▁a", "a<0x41> a"),
        (a_file(None), "▁a a <unk>", "▁a a <unk>"),
        (of_words(None), "ab</w> a a</w>", "ab</w> a a</w>"),
        (of_words({"type": "BPEDecoder", "suffix": "</w>"}), "ab</w> a a</w>", "ab aa"),
        (of_words(FUSE), "ab</w> a a</w>", "ab</w>aa</w>"),
    ],
)
def test_ids_decode_by_the_file(document: Document, tokens: str, text: str) -> None:
    ids = [document["model"]["vocab"][token] for token in tokens.split()]
    assert Tokenizer.from_str(json.dumps(document)).decode(ids) == text
    assert hf.Tokenizer.from_str(json.dumps(document)).decode(ids) == text
    for name in ("priority", "compiled", "tokenizers"):
        tokenizer = impls.load(name, read(document))
        assert tokenizer.decode(ids) == text, name
        stream = tokenizer.decoder()
        assert "".join([*map(stream.push, ([i] for i in ids)), stream.finish()]) == text, name


def test_only_a_decoder_that_rewrites_the_joined_text_does_not_tell_where_its_tokens_begin() -> None:
    assert impls.load("priority", read(of_words(None))).decode_with_offsets([1, 2, 1]) == ("a b a", [0, 1, 3])
    tokenizer = impls.load("priority", read(of_words({"type": "Sequence", "decoders": [FUSE, replace("ab", "x")]})))
    assert tokenizer.decode([1, 2]) == "x"
    refused(Unsupported, "does not show where the text of a token begins", tokenizer.decode_with_offsets, [1, 2])


def test_the_decoder_of_a_file_is_kept(tmp_path: Path) -> None:
    for decoder in (None, RUNS, STRIPPED, METASPACE, FUSE):
        model = read(a_file(decoder))
        for name, format in (("again.json", "tokenizer.json"), ("own.json", "bpebench")):
            save(model, tmp_path / name, format)
            assert load(tmp_path / name).digest == model.digest
        assert not any(line.startswith("decod") for line in losses(model, "tokenizer.json"))
