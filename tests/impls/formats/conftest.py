"""A small good file of each format, as its own library or we write it."""

from __future__ import annotations

import json

import pytest
from sentencepiece_files import trained_file
from tekken_files import tekken_document

import impls
from impls import TrainingSpec
from impls.formats import formats, save

TEXT = "low lower lowest newer wider, İstanbul'da  \n\tnew <s>"


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Format -> content; of GPT-2's pair the merges, and `encoder.json`."""
    path = tmp_path_factory.mktemp("good") / "file"
    model = impls.train("priority", [TEXT] * 2, TrainingSpec(vocab_size=280, special_tokens=("<s>",))).model
    contents: dict[str, bytes] = {}
    for format in formats():
        save(model, path, format)
        contents[format] = path.read_bytes()
    vocab = json.loads(contents["tokenizer.json"])["model"]
    merges = [" ".join(pair) for pair in vocab["merges"]]
    return contents | {
        "encoder.json": json.dumps(vocab["vocab"] | {"<s>": 279}, ensure_ascii=False).encode(),
        "gpt2": "\n".join(["#version: 0.2", *merges, ""]).encode(),
        "minbpe": b"minbpe v1\n[a-z]+|[^a-z]+\n1\n<|end|> 300\n97 98\n256 99\n",
        "tekken": json.dumps(tekken_document() | {"special_tokens": [{"rank": 0, "token_str": "<s>"}]}).encode(),
        "sentencepiece": trained_file(["low lower lowest newer wider"] * 9, vocab_size=300, byte_fallback=True),
    }
