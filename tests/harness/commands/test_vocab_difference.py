"""`bpebench vocab A --against B`: counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from impls import Model
from impls.core.text.sentencepiece_rules import SentencePieceRules

BYTES = tuple(bytes([byte]) for byte in range(256))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two vocabularies that share `ab` under other ids."""
    made = tmp_path_factory.mktemp("difference")
    Model(tokens=(*BYTES, b"ab", b"\xd0\xb4"), merges=((97, 98), (0xD0, 0xB4)), special_tokens={"<s>": 258}).save(
        made / "one.json"
    )
    tokens = (*BYTES, b"cd", b"ab", b"abab")
    specials = {"<s>": 259, "<t>": 260}
    Model(tokens=tokens, merges=((99, 100), (97, 98), (257, 257)), special_tokens=specials).save(made / "other.json")
    return made


def test_tokens_shared_moved_and_in_one_only(bpebench: Any, folder: Path) -> None:
    found = json.loads(
        bpebench("vocab", str(folder / "one.json"), "--against", str(folder / "other.json"), "--json").out
    )
    assert (found["n_shared"], found["n_moved"]) == (257, 1)
    assert (found["only_one"], found["only_other"]) == ([257], [256, 258])
    assert found["special"] == {"shared": 1, "moved": 1, "only_one": 0, "only_other": 1}
    scripts = {row["script"]: (row["n_shared"], row["n_only_one"], row["n_only_other"]) for row in found["scripts"]}
    assert scripts["Cyrillic"] == (0, 1, 0)
    assert scripts["Latin"] == (53, 0, 2)


def test_a_vocabulary_against_itself_changes_nothing(bpebench: Any, folder: Path) -> None:
    model = str(folder / "one.json")
    found = json.loads(bpebench("vocab", model, "--against", model, "--json").out)
    assert (found["n_shared"], found["n_moved"], found["only_one"], found["only_other"]) == (258, 0, [], [])
    assert "of these under another id" in bpebench("vocab", model, "--against", model).out
    refused = bpebench("vocab", model, "--against", model, "-c", "samples")
    assert (refused.status, "bpebench evaluate -m" in refused.err) == (2, True)


def test_a_character_and_its_byte_each_have_a_counterpart(bpebench: Any, tmp_path: Path) -> None:
    rules = SentencePieceRules(byte_ids=tuple(range(256)))
    tokens = (*[None] * 256, "▁".encode(), b"a", b"b")
    Model(tokens=tokens, alphabet="chars", sentencepiece=rules).save(tmp_path / "x.json")
    model = str(tmp_path / "x.json")
    found = json.loads(bpebench("vocab", model, "--against", model, "--json").out)
    assert (found["n_shared"], found["n_moved"], found["n_only_one"], found["n_only_other"]) == (259, 0, 0, 0)
