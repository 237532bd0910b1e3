"""`bpebench explain` and `bpebench trace` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def model_file(hand_made: Any, tmp_path: Path) -> str:
    path = tmp_path / "hand-made.json"
    hand_made("a+b a+a", alphabet="bytes").save(path)
    return str(path)


def test_two_that_differ_end_with_1_and_show_both_derivations(bpebench: Any, model_file: str) -> None:
    ended = bpebench("explain", "priority", "naive", "aab", "-m", model_file)
    assert (ended.status, "priority and naive agree" in ended.out) == (0, True)
    ended = bpebench("explain", "priority", "greedy", "aab", "-m", model_file)
    assert ended.status == 1
    for shown in (
        "differ first in: merges (at character 0)", "» step 1", "a + b, rank 0  →  a ab", "longest: aa  →  aa b",
        f"model (-m)      {model_file}",
    ):  # fmt: skip
        assert shown in ended.out


def test_refusals_do_not_agree(bpebench: Any, model_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "refusing.py").write_text(
        "class Refusing:\n    def encode(self, text): raise ValueError('no')\n    def decode(self, ids): return ''\n"
    )
    monkeypatch.chdir(tmp_path)
    ended = bpebench("explain", "refusing.py", "refusing.py", "aab", "-m", model_file, "--json")
    document = json.loads(ended.out)
    assert (ended.status, document["agree"], document["stage"]) == (1, None, None)
    assert "both refuse the text, so nothing was compared" in document["what"]
    shown = bpebench("explain", "refusing.py", "refusing.py", "aab", "-m", model_file)
    assert (shown.status, "agree:" in shown.out) == (1, False)


def test_the_text_comes_from_a_file_standard_input_or_escaped(bpebench: Any, model_file: str, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(b"aab")
    arguments = ("explain", "priority", "greedy", "-m", model_file, "--json")
    documents = [
        json.loads(bpebench(*arguments, f"@{file}").out),
        json.loads(bpebench(*arguments, stdin=b"aab").out),
        json.loads(bpebench(*arguments, "-", stdin=b"aab").out),
        json.loads(bpebench(*arguments, "--escaped", "a\\u0061\\x62").out),
    ]
    assert all(document == documents[0] for document in documents)
    assert (documents[0]["stage"], documents[0]["step"], documents[0]["rank"]) == ("merges", 1, 0)
    assert documents[0]["a"]["ids"] == [97, 256]


def test_each_side_may_have_a_model_of_its_own(bpebench: Any, model_file: str, hand_made: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    hand_made("a+a a+b", alphabet="bytes").save(other)
    ended = bpebench("explain", "priority", "priority", "aab", "-m", model_file, "-m", str(other))
    assert ended.status == 1
    assert "priority on hand-made.json and priority on other.json differ first in: merges" in ended.out


def test_trace_shows_each_merge_with_its_rank(bpebench: Any, model_file: str, hand_made: Any) -> None:
    ended = bpebench("trace", "priority", "aab", "-m", model_file)
    assert ended.status == 0
    assert "piece ‘aab’: a a b" in ended.out
    assert "step 1: a + b, rank 0  →  a ab" in ended.out
    hand_made("a+b a+a", alphabet="bytes", merge_rule="concatenation").save(model_file)
    document = json.loads(bpebench("trace", "greedy", "aab", "-m", model_file, "--json").out)
    assert (document["reproduces"], document["ids"]) == (True, [257, 98])
    assert [(step["result"], step.get("rank")) for step in document["pieces"][0]["steps"]] == [("aa", 257), ("b", None)]


def test_trace_of_a_target_that_gives_other_ids_says_so(bpebench: Any, model_file: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from impls.greedy import Greedy\n\nclass Mine(Greedy):\n    pass\n")
    out = bpebench("trace", str(tmp_path / "mine.py"), "aab", "-m", model_file)
    assert (out.status, "do NOT give the ids of" in out.out) == (1, True)


def test_trace_of_backtracking_shows_what_it_takes_back(bpebench: Any, hand_made: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    hand_made("b+c a+b", alphabet="bytes").save(path)
    out = bpebench("trace", "backtracking", "abc", "-m", str(path)).out
    assert ("take: ab" in out, "back: ab" in out, out.rstrip().endswith("ids    97 256")) == (True, True, True)
