"""Why training ended early, and a part of a text that is empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.training.ends import why_short
from impls import TrainingSpec


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_text("".join(f"low lower lowest {i}\n\n" for i in range(40)))
    return file


def test_a_part_of_a_text_that_is_empty_is_an_error(bpebench: Any, tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text("one document\n")
    splits = {
        split: bpebench("evaluate", "-m", "gpt2", "-c", str(file), "--split", split) for split in ("train", "held-out")
    }
    assert sorted(ended.status for ended in splits.values()) == [0, 2]
    (empty,) = (split for split, ended in splits.items() if ended.status == 2)
    assert f"one.txt: its part {empty} holds no text" in splits[empty].err
    file.write_text("")
    assert "holds no text" in bpebench("evaluate", "-m", "gpt2", "-c", str(file)).err


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        ({}, "ran out of pairs"),
        ({"min_count": 2}, "occurs 2 times or more (min_count)"),
        ({"max_token_bytes": 3}, "makes a token of 3 bytes or less (max_token_bytes)"),
        ({"min_count": 2, "max_token_bytes": 3}, "(min_count) and makes a token of 3 bytes or less (max_token_bytes)"),
        ({"max_token_bytes": 100}, "ran out of pairs"),
        ({"max_token_characters": 3, "alphabet": "chars"}, "of 3 characters or less (max_token_characters)"),
        ({"forbidden_tokens": ("low",)}, "no pair is left that makes no forbidden token (forbidden_tokens)"),
        ({"forbidden_tokens": ("xy",)}, "ran out of pairs"),
        ({"max_merges": 3}, "max_merges allows no more than 3 merges"),
    ],
)
def test_a_training_that_ends_before_its_size_says_why(bounds: dict[str, Any], why: str) -> None:
    spec = TrainingSpec(vocab_size=300, **bounds)
    texts = ["low lower lowest low"]
    said = why_short(impls.get("priority").train_model(texts, spec), spec, texts)
    assert said is not None
    assert why in said


def test_a_training_that_reached_its_size_has_nothing_to_say(bpebench: Any, text_file: Path) -> None:
    full = bpebench("train", "-c", str(text_file), "--vocab-size", "260", "--json")
    assert json.loads(full.out)["why_short"] is None
    short = bpebench("train", "-c", str(text_file), "--vocab-size", "5000")
    assert " ids short of 5000: it ran out of pairs" in short.out
