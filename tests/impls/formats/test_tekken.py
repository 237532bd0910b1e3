"""tekken.json, Mistral's format: ids are ranks behind the special tokens; what is wrong is named by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tekken_files import N_SPECIAL, tekken_document
from wrong_files import edited, problem

import impls
from impls.formats import load, load_with_format


def written(document: Any, folder: Path) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_tekken_ids_are_ranks_behind_the_special_tokens_up_to_the_declared_size(tmp_path: Path) -> None:
    format, model = load_with_format(written(tekken_document(), tmp_path))
    assert (format, model.id_offset, model.merge_rule) == ("tekken", N_SPECIAL, "concatenation")
    for name in ("naive", "priority", "bytelevel", "wordcount", "backtracking", "compiled", "tiktoken", "tokenizers"):
        assert impls.load(name, model).encode("abc a") == [N_SPECIAL + i for i in (257, 32, 97)], name
    assert (model.vocab_size, b"never" in model.id_by_token) == (N_SPECIAL + 258, False)
    assert impls.load("priority", model).encode("a</s>", allowed_special="all") == [N_SPECIAL + 97, 2]
    assert (model.special_tokens["<SPECIAL_29>"], len(model.special_tokens)) == (29, N_SPECIAL)
    listed = {"special_tokens": [{"rank": 0, "token_str": "<pad>", "is_control": True}]}
    model = load(written(tekken_document() | listed, tmp_path))
    assert (model.special_tokens["<pad>"], model.special_tokens["<SPECIAL_1>"]) == (0, 1)


@pytest.mark.parametrize(
    ("place", "value", "wrong"),
    [
        (("config", "pattern"), "(", "does not compile"),
        (("config", "default_vocab_size"), 10**9, "config.default_vocab_size: 1000000000 is not between"),
        (("config", "default_vocab_size"), 400, "vocab: 259 tokens, but config asks for 370"),
        (("vocab", 5, "rank"), 6, "have the same id 6"),
        (("vocab", 5, "rank"), 10**6, "vocab: no token has the rank 5"),
        (("vocab", 5, "token_bytes"), "BQ=", "Invalid base64 encoded string - at `$.vocab[5].token_bytes`"),
        (("vocab", 5, "token_bytes"), "Bg==", "has two ids"),
        (("special_tokens",), [{"rank": 0}], "missing required field `token_str` - at `$.special_tokens[0]`"),
        (("special_tokens",), [{"rank": 99, "token_str": "x"}], "special_tokens[0].rank: 99 is not below 30"),
        (("special_tokens",), [{"rank": 0, "token_str": "<SPECIAL_4>"}], "'<SPECIAL_4>' occurs twice"),
    ],
)
def test_what_is_wrong_with_tekken_is_named(tmp_path: Path, place: tuple[Any, ...], value: Any, wrong: str) -> None:
    assert wrong in problem(tmp_path / "tekken.json", edited(tekken_document(), place, value))
