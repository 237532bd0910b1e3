"""`convert --pattern`: a name, and only for a rank file, which holds none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import impls
from impls.core.text.patterns import NAMED


@pytest.fixture
def ranks(bpebench: Any, model_file: Path, tmp_path: Path) -> Path:
    file = tmp_path / "ranks.tiktoken"
    assert bpebench("convert", str(model_file), str(file), "--to", "tiktoken").status == 0
    return file


def test_a_name_that_is_no_pattern_is_refused_with_a_suggestion(bpebench: Any, ranks: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.json"
    ended = bpebench("convert", str(ranks), str(made), "--to", "tokenizer.json", "--pattern", "gtp2")
    assert (ended.status, ended.out) == (2, "")
    assert "unknown pattern 'gtp2'; did you mean 'gpt2'?" in ended.err
    assert not made.exists()


@pytest.mark.parametrize("format", ["tokenizer.json", "bpebench"])
def test_only_a_rank_file_takes_a_pattern(bpebench: Any, model_file: Path, tmp_path: Path, format: str) -> None:
    source, made = tmp_path / "source", tmp_path / "made.json"
    assert bpebench("convert", str(model_file), str(source), "--to", format).status == 0
    ended = bpebench("convert", str(source), str(made), "--to", "bpebench", "--pattern", "cl100k")
    assert (ended.status, ended.out) == (2, "")
    assert "--pattern goes with a rank file" in ended.err
    assert not made.exists()


def test_a_rank_file_takes_a_named_pattern(bpebench: Any, ranks: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.json"
    ended = bpebench("convert", str(ranks), str(made), "--to", "bpebench", "--pattern", "qwen")
    assert (ended.status, ended.err) == (0, "")
    assert impls.Model.load(made).pattern == NAMED["qwen"]
