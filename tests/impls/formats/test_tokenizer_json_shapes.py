"""Every shape of tokenizer.json that is read gives the ids Hugging Face's library gives."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from tokenizer_json_shapes import SHAPES, Document, a_file, n_ids, texts, token
from tokenizers import Tokenizer, models

import impls
from impls import Model, TrainingSpec, formats
from impls.core.errors import InvalidModel, UnknownSymbol, Unsupported
from impls.formats import OlderUnicode, OtherIds, TemplateIgnored, load, losses, save
from impls.operations.decoding import round_trip_text

IN_ALL = [
    "marks, without C4 E3, fused True",
    "marks, without 09 0A 9F 80, fused False",
    "marks, without C3 C4 C5 C6, fused True",
    "words, WhitespaceSplit, <unk>",
    "words, Whitespace, None",
    "characters, WhitespaceSplit",
    "bytes, Whitespace and a pattern",
    "bytes, without accents",
    "a space before, pattern True",
    "Precompiled, spaces",
    "Punctuation, Contiguous",
    "tokens normalized lstrip rstrip, NFC",
    "tokens normalized, marks",
    "tokens lstrip rstrip, Metaspace",
    "Split at '\\\\s?\\\\p{L}+', MergedWithPrevious, not inverted",
]


def read(document: Document, folder: Path) -> Model:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(path)


def assert_same_ids(implementation: str, document: Document, model: Model, some: list[str]) -> None:
    """The library drops characters without a token where there is no unknown one; ours raises."""
    theirs = Tokenizer.from_str(json.dumps(document))
    ours = impls.load(implementation, model)
    for text in some:
        try:
            ids = ours.encode(text, allowed_special="all")
        except UnknownSymbol:
            assert model.unknown is None
        else:
            assert ids == theirs.encode(text, add_special_tokens=False).ids, text


@pytest.mark.parametrize("name", SHAPES)
def test_ids_are_those_of_the_library(name: str, tmp_path: Path) -> None:
    model = read(SHAPES[name], tmp_path)
    assert_same_ids("priority", SHAPES[name], model, texts())


@pytest.mark.parametrize("implementation", ["naive", "wordcount", "compiled", "tokenizers", "sentencepiece"])
@pytest.mark.parametrize("name", IN_ALL)
def test_all_implementations_follow_a_shape(implementation: str, name: str, tmp_path: Path) -> None:
    if implementation == "sentencepiece" and name.startswith(("words", "marks, without")):
        with pytest.raises(Unsupported, match=r"end in '</w>'|all 256 bytes"):
            impls.load(implementation, read(SHAPES[name], tmp_path))
        return
    assert_same_ids(implementation, SHAPES[name], read(SHAPES[name], tmp_path), texts()[-60:])


@pytest.mark.parametrize("name", [name for name in SHAPES if name.startswith(("bytes", "marks", "tokens", "a space"))])
def test_what_a_model_promises_of_its_texts_holds(name: str, tmp_path: Path) -> None:
    model = read(SHAPES[name], tmp_path)
    tokenizer = impls.load("priority", model)
    for text in texts()[-60:]:
        promised = round_trip_text(model, text)
        assert promised is None or tokenizer.decode(tokenizer.encode(text, disallowed_special=())) == promised, text
        if promised is not None:
            assert round_trip_text(model, promised) in (None, promised)


@pytest.mark.parametrize("name", IN_ALL)
def test_a_shape_is_kept_by_our_files(name: str, tmp_path: Path) -> None:
    model = read(SHAPES[name], tmp_path)
    save(model, tmp_path / "own.json", "bpebench")
    assert load(tmp_path / "own.json") == Model.restored(model.packed()) == model
    if "a space before" in name or losses(model, "tokenizer.json"):
        return
    save(model, tmp_path / "again.json", "tokenizer.json")
    assert_same_ids("priority", json.loads((tmp_path / "again.json").read_text()), model, texts()[-60:])


def test_flags_of_tokens_are_reported_as_lost_by_formats_without_them(tmp_path: Path) -> None:
    model = read(SHAPES["tokens lstrip rstrip, bytes"], tmp_path)
    assert "whole_token_flags: 3, the first is '<m>': lstrip, rstrip" in losses(model, "tiktoken")
    assert not any("flags" in line for line in losses(model, "tokenizer.json"))


def test_what_the_library_does_otherwise_or_is_left_out_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}], "pair": []}
    for kind, document in (
        (OlderUnicode, SHAPES["Punctuation, Isolated"]),
        (TemplateIgnored, a_file("bytes", post_processor=template)),
        (OtherIds, a_file("bytes", added_tokens=[token("<m>", n_ids("bytes") + 9)])),
    ):
        path.write_text(json.dumps(document))
        with pytest.warns(kind):
            load(path)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"normalization": "nfx"}, "normalization 'nfx' is not one of: nfc, "),
        ({"normalization": 'replace("a")'}, "is not one of"),
        ({"normalization": 'replace-regex("(","")'}, "normalization replace-regex: "),
        ({"normalization": "charsmap"}, "there is no such table"),
        ({"normalization": ""}, "must be None or name a step"),
        ({"whole_token_flags": {"<s>": ("left",)}}, "'<s>' has ('left',); known are single_word"),
        ({"whole_token_flags": {"<t>": ("lstrip",)}}, "'<t>' is not a special or added token"),
        ({"whole_token_flags": {" ": ("normalized",)}, "normalization": "strip"}, "nothing is left of ' '"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], problem: str) -> None:
    model = impls.get("naive").train_model([""], TrainingSpec(vocab_size=257, special_tokens=("<s>",)))
    if " " in changes.get("whole_token_flags", {}):
        model = model.with_(added_tokens={" ": model.id_by_token[b" "]})
    with pytest.raises(InvalidModel) as caught:
        model.with_(**changes)
    assert problem in str(caught.value)


@pytest.mark.parametrize("implementation", ["naive", "wordcount", "priority", "compiled", "tokenizers"])
@pytest.mark.parametrize("fuses", [False, True])
def test_where_bytes_are_missing_the_unknown_token_comes_where_the_library_has_it(
    fuses: bool, implementation: str
) -> None:
    """The unknown token comes after the bytes that follow it, up to a token or another unknown character."""
    texts = ["<unk>", "a", "b", "ab", "<0xC3>", "<0xA9>", "<0x31>", "é1", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    vocab = {text: i for i, text in enumerate(texts) if text != "é1"}
    bpe = models.BPE(vocab=vocab, merges=[("a", "b")], unk_token="<unk>", byte_fallback=True, fuse_unk=fuses)
    library = Tokenizer(bpe)
    model = formats.tokenizer_json.read(json.loads(library.to_str()), "x")
    assert model.lossy == "characters outside the alphabet become the unknown token"
    tokenizer = impls.load(implementation, model)
    rng = random.Random(fuses)
    assert library.encode("日日é1日a").tokens[-2:] == ["<unk>", "a"]
    for length in [1, 2, 3, 5, 9, 30, 65, 300, 5000] * 12:
        text = "".join(rng.choices("aabé1日😀ñ", k=length))
        ids = library.encode(text).ids
        assert tokenizer.encode(text) == tokenizer.encode_array(text).tolist() == ids, text
