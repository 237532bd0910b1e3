"""SentencePiece's models in Hugging Face's library and its files, and theirs in SentencePiece's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import impls
from impls import InvalidFile, Model
from impls.formats import load, losses, save

Texts = Callable[..., list[str]]
TrainedWith = Callable[[str], Any]


SAVED = ["plain", "unknown", "runs of spaces", "no prefix", "extra spaces go", "no prefix, extra spaces go", "control"]


@pytest.mark.parametrize("options", SAVED)
def test_a_written_tokenizer_json_runs_there_and_is_read_again(
    options: str, trained_with: TrainedWith, random_texts: Texts, tmp_path: Path
) -> None:
    trained = trained_with(options)
    path = tmp_path / "tokenizer.json"
    save(trained.model, path, "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    again = load(path)
    assert again.sentencepiece is not None
    assert again.id_by_token == trained.model.id_by_token
    pure = {name: impls.load(name, again) for name in ("naive", "priority", "backtracking", "sentencepiece")}
    for text in random_texts(150, seed=7):
        ids = trained.library.encode(text)
        assert theirs.encode(text, add_special_tokens=False).ids == ids, text
        for name, tokenizer in pure.items():
            assert tokenizer.encode(text, disallowed_special=()) == ids, (name, text)
        if trained.options["byte_fallback"] and not trained.options["remove_extra_whitespaces"]:
            assert theirs.decode(ids) == pure["priority"].decode(ids)


def test_what_a_tokenizer_json_would_lose_is_reported(trained: Any) -> None:
    reported = {line.partition(":")[0] for line in losses(trained.model, "tokenizer.json")}
    wanted = {"special_tokens"}
    wanted |= {"decoding"} if trained.options["remove_extra_whitespaces"] or trained.options["byte_fallback"] else set()
    wanted |= {"normalization"} if trained.model.normalization else set()
    wanted |= {"user_defined_ids"} if "user_defined_symbols" in trained.options else set()
    wanted |= set() if trained.options["byte_fallback"] else {"unknown_text"}
    assert reported == wanted


# --- files as they are met -------------------------------------------------------------------------------------


def document(**changes: Any) -> dict[str, Any]:
    """A file as Llama 2's, small."""
    bytes_ = {f"<0x{byte:02X}>": 3 + byte for byte in range(256)}
    texts = ["▁", "a", "b", "▁a", "ab", "▁ab", "▁▁"]
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, **bytes_, **{text: 259 + k for k, text in enumerate(texts)}}
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": vocab,
        "merges": ["▁ a", "a b", "▁ ab", "▁a b", "▁ ▁"],
        **changes.pop("model", {}),
    }
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": text, "special": True, **flags} for i, text in enumerate(("<unk>", "<s>", "</s>"))
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "decoder": None,
        "model": model,
        **changes,
    }


def written(tmp_path: Path, contents: dict[str, Any]) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(contents))
    return path


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
METASPACE = {"type": "Metaspace", "replacement": "▁"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"normalizer": REPLACE},
        {
            "normalizer": REPLACE,
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"String": " "},
                "behavior": "MergedWithPrevious",
                "invert": False,
            },
        },
        {"normalizer": None, "pre_tokenizer": {**METASPACE, "prepend_scheme": "always", "split": False}},
        {"normalizer": None, "pre_tokenizer": {**METASPACE, "prepend_scheme": "first", "split": False}},
        {"normalizer": None, "pre_tokenizer": {**METASPACE, "prepend_scheme": "never", "split": True}},
        {"normalizer": None, "pre_tokenizer": {**METASPACE, "prepend_scheme": "first", "split": True}},
        {"normalizer": {"type": "NFC"}, "pre_tokenizer": {**METASPACE, "prepend_scheme": "always", "split": True}},
        {
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"String": "a"},
                "behavior": "MergedWithNext",
                "invert": False,
            },
        },
    ],
)
@pytest.mark.parametrize("fallback", [True, False])
def test_files_as_they_are_met_give_their_librarys_ids(
    changes: dict[str, Any], fallback: bool, random_texts: Texts, tmp_path: Path
) -> None:
    path = written(tmp_path, document(model={"byte_fallback": fallback}, **changes))
    theirs = tokenizers.Tokenizer.from_file(str(path))
    model = load(path)
    again = load_again(model, tmp_path)
    assert again == model
    ours = {name: impls.load(name, model) for name in ("naive", "priority", "backtracking", "tokenizers")}
    for text in [*random_texts(80, seed=8), "a<s> b</s> ab", "<s>a", "a<s>", "ab  ab e\u0301<s>  a"]:
        ids = theirs.encode(text, add_special_tokens=False).ids
        for name, tokenizer in ours.items():
            assert tokenizer.encode(text, allowed_special="all") == ids, (name, text)


def load_again(model: Model, tmp_path: Path) -> Model:
    save(model, tmp_path / "again.json", "tokenizer.json")
    return load(tmp_path / "again.json")


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"normalizer": {"type": "Prepend", "prepend": 1}}, "normalizer.type: 'Prepend' is not supported"),
        ({"normalizer": {"type": "BertNormalizer"}}, "normalizer.type: 'BertNormalizer' is not supported"),
        (
            {"normalizer": {"type": "Sequence", "normalizers": [REPLACE, {"type": "NFC"}]}},
            "normalizer.normalizers[1].type: 'NFC' after the steps that mark or remove",
        ),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "base64 is expected"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}}, "pre_tokenizer.replacement"),
        ({"pre_tokenizer": {**METASPACE, "prepend_scheme": "often"}}, "pre_tokenizer.prepend_scheme"),
        ({"pre_tokenizer": {**METASPACE, "prepend_scheme": []}}, "pre_tokenizer.prepend_scheme: [] is not one of"),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [{"type": "Digits", "individual_digits": True}, METASPACE],
                }
            },
            "pre_tokenizer.pretokenizers[1].type: 'Metaspace' is not supported here",
        ),
        ({"model": {"merges": ["<0x41> a"]}}, "'<0x41>' is not in the vocabulary"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(changes: dict[str, Any], reported: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        load(written(tmp_path, document(**changes)))
    assert reported in caught.value.problem
