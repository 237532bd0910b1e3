"""A training ends where its merges are no longer worth it, and says where and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.training.ends import InvalidRule, Until, end_of_training, parse_until
from impls import Model


def test_rules_are_read() -> None:
    assert parse_until("gain<0.1%") == Until("gain<0.1%", 0.001, 1000)
    assert parse_until(" gain < 2 % / 500 ") == Until("gain < 2 % / 500", 0.02, 500)


@pytest.mark.parametrize(
    "rule",
    ["", "gain", "gain<", "gain<1", "gain>1%", "loss<1%", "gain<-1%", "gain<0%", "gain<1%/0", "gain<1%/", "gain<x%"],
)
def test_what_is_no_rule_is_named_with_an_example(rule: str) -> None:
    with pytest.raises(InvalidRule, match=r"is not a rule for the end; write 'gain<0\.1%'") as raised:
        parse_until(rule)
    assert repr(rule) in str(raised.value)


@pytest.mark.parametrize(
    ("rule", "n_merges", "by_rule", "gain"),
    [
        ("gain<60%/1", 0, True, 12 / 8 - 1),
        ("gain<20%/1", 1, True, 8 / 7 - 1),
        ("gain<10%/1", 2, False, 8 / 7 - 1),
        ("gain<80%/2", 0, True, 12 / 7 - 1),
        ("gain<20%/2", 2, False, 12 / 7 - 1),
        ("gain<20%/3", 2, False, None),
    ],
)
def test_gains_counted_by_hand(hand_made: Any, rule: str, n_merges: int, by_rule: bool, gain: float | None) -> None:
    """`ab ab ab abc` has 12 symbols: a+b leaves 8 tokens, ab+c leaves 7."""
    model = hand_made("a+b ab+c", "", alphabet="bytes")
    kept, end = end_of_training(model, parse_until(rule), ["ab ab", " ab abc"], "toy")
    assert (end.n_merges, end.by_rule) == (n_merges, by_rule)
    assert end.gain == (None if gain is None else pytest.approx(gain))
    assert kept.merges == model.merges[:n_merges]
    assert end.bytes_per_token == pytest.approx(12 / [12, 8, 7][n_merges])
    assert (end.text, end.n_bytes, end.rule) == ("toy", 12, rule)
    if gain is not None:
        assert f"{100 * gain:.4g} % in bytes per token on toy, {'less' if by_rule else 'not less'} than" in end.why


def test_merges_that_training_began_with_are_kept_however_little_they_gain(hand_made: Any) -> None:
    model = hand_made("a+b ab+c abc+d", "", alphabet="bytes")
    for n_kept in range(3):
        kept, end = end_of_training(model, parse_until("gain<999%/1"), ["ab ab", " ab abcd"], "toy", n_kept)
        assert (len(kept.merges), end.n_merges, end.by_rule) == (n_kept, n_kept, True)


def test_a_vocabulary_that_cannot_be_cut_is_an_error(hand_made: Any) -> None:
    with pytest.raises(InvalidRule, match="cannot be cut: its ids are not in the order of its merges"):
        end_of_training(hand_made("a+b", "ba"), parse_until("gain<1%/1"), ["ab"], "toy")


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_text("".join(f"low lower lowest {i % 9} new newer newest {i}\n\n" for i in range(60)))
    return file


def test_the_kept_vocabulary_is_the_one_trained_to_that_size(bpebench: Any, text_file: Path, tmp_path: Path) -> None:
    def train(*more: str) -> dict[str, Any]:
        document = bpebench("train", "-c", str(text_file), *more, "--json").out
        return json.loads(document)  # type: ignore[no-any-return]

    held_out = tmp_path / "other.txt"
    held_out.write_text("the lowest newest lower newer\n")
    kept = str(tmp_path / "kept.json")
    ended = train("--vocab-size", "320", "--until", "gain<12%/5", "--held-out", str(held_out), "--out", kept)
    assert ended["until"]["by_rule"]
    assert ended["until"]["text"] == str(held_out)
    assert 0 < ended["until"]["n_merges"] == ended["n_merges"] < 64
    assert ended["vocab_size"] == 256 + ended["n_merges"]
    assert ended["why_short"] == ended["until"]["why"]
    assert ended["digest"] == train("--vocab-size", str(ended["vocab_size"]))["digest"] == Model.load(kept).digest
    assert ended["n_bytes"] == text_file.stat().st_size  # a file is trained on whole where another is held out


def test_without_a_held_out_text_a_tenth_of_the_file_is_not_trained_on(bpebench: Any, text_file: Path) -> None:
    ended = bpebench("train", "-c", str(text_file), "--vocab-size", "320", "--until", "gain<12%/5", "--json")
    document = json.loads(ended.out)
    assert document["until"]["text"] == f"{text_file}/held-out"
    assert document["until"]["n_bytes"] > 0
    assert document["n_bytes"] + document["until"]["n_bytes"] == text_file.stat().st_size
    shown = bpebench("train", "-c", str(text_file), "--vocab-size", "300", "--until", "gain<0.1%").out
    assert "not ended by gain<0.1%: 44 merges were learned, and the rule compares sizes 1,000 apart" in shown
    piped = bpebench(
        "train", "-c", "-", "--vocab-size", "320", "--until", "gain<12%/5", "--json", stdin=text_file.read_bytes()
    )
    assert json.loads(piped.out)["digest"] == document["digest"]


def test_what_cannot_be_measured_is_one_clear_line(bpebench: Any, text_file: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.txt"
    alone.write_text("one document\n")
    for arguments, message in [
        (["--until", "gain>1%"], "'gain>1%' is not a rule for the end"),
        (["--held-out", str(alone)], "--held-out goes with --until"),
        (["--until", "gain<1%", "--alphabet", "chars"], "--until needs --unknown here"),
        (["--until", "gain<1%", "--held-out", str(alone), "--out", str(alone)], "is what is read; name another file"),
        (["--until", "gain<1%", "-c", str(alone)], "holds no text; name a text to measure on with --held-out"),
    ]:
        ended = bpebench("train", "-c", str(text_file), "--vocab-size", "300", *arguments)
        assert (ended.status, ended.out) == (2, ""), arguments
        assert message in ended.err
