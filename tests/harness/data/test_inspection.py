"""`bpebench vocab FILE`: what a file really is, whatever its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from random_models import BYTES
from rank_files import rank_file

from harness.data import load_model
from harness.data.models import inspect
from impls.core.model.model import Model
from impls.formats import save
from impls.formats.known import KNOWN, Known
from impls.formats.tiktoken_ranks import digest_of


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A rank file's model, known as cl100k_base."""
    model = Model(tokens=(*BYTES, b"ab", b"abc"), merge_rule="concatenation", pattern="cl100k")
    monkeypatch.setitem(KNOWN, digest_of(model.id_by_token), Known("cl100k_base", "cl100k", {"<|end|>": 300}))
    return model


def test_a_vocabulary_is_recognised_in_every_format(ranked: Model, tmp_path: Path) -> None:
    for format in ("tiktoken", "tokenizer.json", "bpebench"):
        save(ranked, tmp_path / format / "x", format)
        found = inspect(tmp_path / format / "x")
        assert (found.format, found.published_vocabulary) == (format, "cl100k_base")


def test_irregular_merges_are_a_finding_and_what_was_assumed_is_noted(tmp_path: Path) -> None:
    Model(tokens=(*BYTES, b"bc", b"xyz"), merges=((98, 99),)).save(tmp_path / "x.json")
    assert inspect(tmp_path / "x.json").findings[0].startswith("irregular: 1 token with no derivation")
    save(Model(tokens=(*BYTES, b"ab"), merge_rule="concatenation"), tmp_path / "x.tiktoken", "tiktoken")
    (note,) = inspect(tmp_path / "x.tiktoken").notes
    assert "has no pattern" in note


def test_the_verb_shows_a_pattern_the_vocabulary_is_not_used_with(ranked: Model, tmp_path: Path, bpebench: Any) -> None:
    wrong, right = str(tmp_path / "wrong.json"), str(tmp_path / "right.json")
    save(ranked.with_(pattern="gpt2"), Path(wrong), "tokenizer.json")
    save(ranked, Path(right), "tokenizer.json")
    finding = "pattern: gpt2, where cl100k_base is used with cl100k"
    ended, document = bpebench("vocab", wrong), json.loads(bpebench("vocab", wrong, "--json").out)
    assert (ended.status, finding in ended.out, document["findings"]) == (1, True, [finding])
    assert (document["published_vocabulary"], document["round_trip"]) == ("cl100k_base", "exact")
    ended = bpebench("vocab", right)
    assert (ended.status, "findings" in ended.out) == (0, False)


@pytest.mark.corpus
def test_the_published_file_of_a_vocabulary_is_recognised(tmp_path: Path) -> None:
    found = inspect(rank_file("cl100k_base"))
    assert (found.published_file, found.published_vocabulary, found.findings) == ("cl100k_base", "cl100k_base", [])
    save(load_model("r50k_base"), tmp_path / "tokenizer.json", "tokenizer.json")
    found = inspect(tmp_path / "tokenizer.json")
    assert (found.published_file, found.published_vocabulary, found.findings) == (None, "r50k_base", [])
