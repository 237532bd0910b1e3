"""Lists of ids that `encode` would not give are counted, and a line that is no list is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refused

import impls
from harness.data import DataError
from harness.evaluate.run import drift_rate


@pytest.fixture(scope="module")
def model(saved: Callable[..., Path]) -> Path:
    return saved("hello hello", vocab_size=260, pattern="gpt2")


def test_lists_that_encode_would_not_give_are_counted(model: Path, tmp_path: Path) -> None:
    tokenizer = impls.load("priority", impls.Model.load(model))
    ids = tokenizer.encode("hello")
    assert len(ids) < 5
    file = tmp_path / "sampled.jsonl"
    lists = [ids, list(b"xhello"), [], tokenizer.encode("hello hello")]
    file.write_text("\n".join(map(json.dumps, lists)) + "\n\n")
    row = drift_rate(str(model), file)
    assert (row["n_lists"], row["n_drifting"], row["rate"]) == (4, 1, 0.25)
    assert row["n_ids"] == sum(map(len, lists))
    assert row["n_canonical_ids"] == row["n_ids"] - 5
    assert row["example"] == {"list": 2, "position": 1, "given": list(b"hello"), "encode": ids}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1,\n", "line 1: not JSON"),
        ("[1]\n{}\n", "line 2: expected a list of token ids"),
        ("[true]\n", "a list of token ids"),
        ("\n", "contains no list of ids"),
        ("[1]\n[9999]\n", "list 2: .*9999"),
    ],
)
def test_a_file_of_other_content_is_refused_by_line(model: Path, tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "sampled.jsonl"
    file.write_text(content)
    refused(DataError, message, drift_rate, str(model), file)
