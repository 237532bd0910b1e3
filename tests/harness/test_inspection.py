"""`bpebench vocab FILE`: what a file really is, whatever its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from random_models import BYTES
from rank_files import rank_file

from harness.commands.vocab import Vocab
from harness.data import load_model
from harness.data.inspection import inspect
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


def test_a_pattern_that_the_vocabulary_is_not_used_with_is_a_finding(ranked: Model, tmp_path: Path) -> None:
    save(ranked, tmp_path / "right.json", "tokenizer.json")
    assert inspect(tmp_path / "right.json").findings == []
    save(ranked.with_(pattern="gpt2"), tmp_path / "x.json", "tokenizer.json")
    assert inspect(tmp_path / "x.json").findings == ["pattern: gpt2, where cl100k_base is used with cl100k"]


def test_irregular_merges_are_a_finding_and_what_was_assumed_is_noted(tmp_path: Path) -> None:
    Model(tokens=(*BYTES, b"bc", b"xyz"), merges=((98, 99),)).save(tmp_path / "x.json")
    assert inspect(tmp_path / "x.json").findings[0].startswith("irregular: 1 token with no derivation")
    save(Model(tokens=(*BYTES, b"ab"), merge_rule="concatenation"), tmp_path / "x.tiktoken", "tiktoken")
    (note,) = inspect(tmp_path / "x.tiktoken").notes
    assert "has no pattern" in note


def run(*arguments: Any) -> tuple[int, str]:
    ended = CliRunner().invoke(Vocab.command(), list(map(str, arguments)))
    return ended.exit_code, ended.output


def test_the_verb_shows_the_findings_and_ends_with_1_where_something_is_wrong(ranked: Model, tmp_path: Path) -> None:
    save(ranked.with_(pattern="gpt2"), tmp_path / "wrong.json", "tokenizer.json")
    status, out = run(tmp_path / "wrong.json")
    assert status == 1
    assert "pattern: gpt2" in out
    status, out = run(tmp_path / "wrong.json", "--json")
    document = json.loads(out)
    assert (status, document["published_vocabulary"], document["round_trip"]) == (1, "cl100k_base", "exact")
    save(ranked, tmp_path / "right.json", "tokenizer.json")
    status, out = run(tmp_path / "right.json")
    assert status == 0
    assert "findings" not in out


@pytest.mark.corpus
def test_the_published_file_of_a_vocabulary_is_recognised(tmp_path: Path) -> None:
    found = inspect(rank_file("cl100k_base"))
    assert (found.published_file, found.published_vocabulary, found.findings) == ("cl100k_base", "cl100k_base", [])
    save(load_model("r50k_base"), tmp_path / "tokenizer.json", "tokenizer.json")
    found = inspect(tmp_path / "tokenizer.json")
    assert (found.published_file, found.published_vocabulary, found.findings) == (None, "r50k_base", [])
