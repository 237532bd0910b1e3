"""What a vocabulary was trained on: kept in its file, measured by `evaluate`; and why training ended early."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import impls
from harness.data.overlap import MAX_HASHES, training_documents, training_overlap
from harness.training.ends import why_short
from impls import Model, TrainingSpec

SPEC = TrainingSpec(vocab_size=256, pattern="none")
BYTES = impls.get("priority").train_model([], SPEC)


def trained_on(texts: list[str]) -> Model:
    return BYTES.with_(training_documents=training_documents(texts))


def test_documents_that_were_trained_on_are_counted_and_no_others() -> None:
    model = trained_on(["one\n\n", "two", "three"])
    assert training_overlap(model, ["one", " three", "four", "five"]) == (4, 2)
    assert training_overlap(model, ["four"]) == (1, 0)
    assert training_overlap(model, []) is None


def test_nothing_is_said_of_a_model_that_keeps_no_hashes() -> None:
    assert training_overlap(BYTES, ["one"]) is None


def test_of_many_documents_a_bounded_sample_is_kept_that_depends_on_them_alone() -> None:
    texts = [f"document {i}" for i in range(3 * MAX_HASHES)]
    model = trained_on(texts)
    assert model.training_documents == training_documents([*reversed(texts), *texts])
    assert len(model.training_documents) <= 22_000
    seen = training_overlap(model, texts)
    assert seen == (MAX_HASHES, MAX_HASHES)
    unseen = training_overlap(model, [f"another {i}" for i in range(3 * MAX_HASHES)])
    assert unseen is not None
    assert unseen.n_documents > MAX_HASHES / 2
    assert unseen.n_trained_on == 0


def test_documents_of_two_trainings_are_those_of_one_on_both() -> None:
    texts = [f"document {i}" for i in range(2 * MAX_HASHES)]
    for first, second in ((["one"], ["two", "one"]), (texts[:MAX_HASHES], texts[100:])):
        assert training_documents(second, training_documents(first)) == training_documents([*first, *second])
    assert training_documents(["one"], "") == training_documents(["one"])


def test_the_hashes_stay_in_the_file_and_out_of_the_digest(tmp_path: Path) -> None:
    model = trained_on(["one", "two"])
    model.save(tmp_path / "m.json")
    read = Model.load(tmp_path / "m.json")
    assert read.training_documents == model.training_documents
    assert Model.restored(read.packed()).training_documents == model.training_documents
    assert read == BYTES
    assert read.digest == BYTES.digest
    BYTES.save(tmp_path / "plain.json")
    assert b"training_documents" not in (tmp_path / "plain.json").read_bytes()


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_text("".join(f"low lower lowest {i}\n\n" for i in range(40)))
    return file


def test_evaluating_the_training_text_warns_with_the_measured_overlap(
    bpebench: Any, text_file: Path, tmp_path: Path
) -> None:
    model = str(tmp_path / "mine.json")
    assert bpebench("train", "-c", str(text_file), "--vocab-size", "270", "--out", model).status == 0
    other = tmp_path / "other.txt"
    other.write_text("".join(f"low lower lowest {i}\n\n" for i in range(30, 70)))
    ended = bpebench("evaluate", "-m", model, "-c", str(text_file), "-c", str(other), "--json")
    assert "was trained on 100.0% of " in ended.err
    assert "was trained on 25.0% of " in ended.err
    assert "(10 of the 40 documents looked up)" in ended.err
    rows = json.loads(ended.out)["rows"]
    assert [row["training_overlap"]["share"] for row in rows] == [1, 0.25]
    apart = tmp_path / "apart.txt"
    apart.write_text("of something else\n")
    quiet = bpebench("evaluate", "-m", model, "-m", "cl100k_base", "-c", str(apart), "--json")
    assert "was trained on" not in quiet.err
    overlaps = [row["training_overlap"] for row in json.loads(quiet.out)["rows"]]
    assert overlaps == [{"n_documents": 1, "n_trained_on": 0, "share": 0}, None]


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
        ({"min_count": 0}, "ran out of pairs"),
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
