"""tokenizer.json: read as Hugging Face's library reads it; what cannot be followed is refused by the field's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tables import rows_of
from wrong_files import edited, problem

from impls.core.text.byte_alphabet import BYTE_TO_CHARACTER
from impls.formats import load

Document = dict[str, Any]
STEPS = "pre_tokenizer.pretokenizers"


def document() -> Document:
    letters = [BYTE_TO_CHARACTER[byte] for byte in range(256)]
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": 258, "content": "<end>", "special": True},
            {"id": 259, "content": "<tool>", "special": False, "lstrip": False},
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "model": {
            "type": "BPE",
            "vocab": {letter: i for i, letter in enumerate(letters)} | {"ab": 256, "Ġab": 257, "<end>": 258},
            "merges": ["a b", ["Ġ", "ab"]],
        },
    }


def test_tokenizer_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()))
    model = load(tmp_path / "tokenizer.json")
    assert model.tokens[256:] == (b"ab", b" ab")
    assert model.merges == ((97, 98), (32, 256))
    assert (dict(model.special_tokens), dict(model.added_tokens)) == ({"<end>": 258}, {"<tool>": 259})
    assert (model.pattern, model.normalization, model.alphabet) == ((), None, "bytes")


UNREADABLE: list[tuple[str, Any, str]] = [
    *((path, json.loads(value), wrong) for path, value, wrong in rows_of(__file__, "unreadable.tsv")),
    (STEPS, [{"type": "Digits"}] * 17, "pre_tokenizer.pretokenizers: expected a list of up to 16 steps"),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": "a" * 20_001}, "content": ""}, "20001 characters; "),
]


@pytest.mark.parametrize(("path", "value", "wrong"), UNREADABLE)
def test_what_is_wrong_or_not_followed_is_named(path: str, value: Any, wrong: str, tmp_path: Path) -> None:
    given = document() | ({"pre_tokenizer": {"type": "Sequence"}} if path == STEPS else {})
    place = [int(key) if key.isdecimal() else key for key in path.split(".")]
    assert wrong in problem(tmp_path / "tokenizer.json", edited(given, place, value))
