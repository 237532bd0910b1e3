"""`explain` on merge lists made by hand: every known way in which exact and inexact algorithms part."""

from __future__ import annotations

from typing import Any

import pytest

import impls
from harness.explain import Side, explain, side_of
from harness.explain.algorithms import ALGORITHM_OF, derive
from harness.explain.rules import Rules
from harness.explanations import Explanation
from impls import Model

JOINED = {"merge_rule": "concatenation"}


def side(name: str, model: Model) -> Side:
    return side_of(impls.load(name, model), name)


def outcome(found: Explanation) -> tuple[Any, ...]:
    return found.stage, found.step, found.rank


def tokens(found: Explanation) -> tuple[str, str]:
    shown = [
        "·".join(token.text or "" for piece in side.pieces for token in piece.tokens) for side in (found.a, found.b)
    ]
    return shown[0], shown[1]


@pytest.mark.parametrize(
    ("merges", "text", "a", "b", "step", "rank", "split", "said"),
    [
        ("a+b a+a", "aab", "priority", "greedy", 1, 0, ("a·ab", "aa·b"), "merges ‘a’ + ‘b’ (rank 0) at byte 1"),
    ],
    ids=["greedy"],
)  # fmt: skip
def test_two_ways_over_one_model_part_at_a_step(
    hand_made: Any, merges: str, text: str, a: str, b: str, step: int, rank: int, split: tuple[str, str], said: str
) -> None:
    model = hand_made(merges, alphabet="bytes")
    found = explain(side(a, model), side(b, model), text)
    assert outcome(found) == ("merges", step, rank)
    assert tokens(found) == split
    assert said in found.what
    assert found.a.steps_give_its_ids
    assert found.b.steps_give_its_ids


@pytest.mark.parametrize(
    ("text", "step", "said"),
    [("aaa", 1, "whole piece"), ("baaa", 2, "merges ‘aa’ + ‘a’ (rank 257) at byte 1; pairs has ‘b’ ‘aa’ ‘a’")],
)
def test_lookup_of_joined_bytes_merges_a_token_by_any_derivation(
    hand_made: Any, text: str, step: int, said: str
) -> None:
    pairs = side_of(impls.load("priority", hand_made("a+a a+aa", alphabet="bytes")), "pairs")
    joined = side_of(impls.load("priority", hand_made("a+a a+aa", alphabet="bytes", **JOINED)), "joined")
    found = explain(pairs, joined, text)
    assert outcome(found) == ("merges", step, 257)
    assert said in found.what


@pytest.mark.parametrize("name", ["tokenizers", "priority", "naive"])
def test_of_a_merge_listed_twice_the_later_rank_counts_and_is_named(hand_made: Any, name: str) -> None:
    twice = side_of(impls.load(name, hand_made("a+b b+c a+b", alphabet="bytes")), "twice")
    once = side_of(impls.load(name, hand_made("a+b b+c", alphabet="bytes")), "once")
    found = explain(twice, once, "abc")
    assert outcome(found) == ("merges", 1, 1)
    assert tokens(found) == ("a·bc", "ab·c")
    assert any("a+b is listed 2 times (ranks 0, 2); the later rank counts" in line for line in found.evidence)


def test_the_whole_piece_shortcut_of_tiktoken_is_a_step(hand_made: Any) -> None:
    pairs = side("priority", hand_made("a+b", extra="abcd", alphabet="bytes"))
    joined = side("tiktoken", hand_made("a+b", extra="abcd", alphabet="bytes", **JOINED))
    found = explain(pairs, joined, "abcd")
    assert outcome(found) == ("merges", 1, 257)
    assert tokens(found) == ("ab·c·d", "abcd")
    assert "tiktoken takes the whole piece as one token" in found.what


def test_ignore_merges_is_a_step(hand_made: Any) -> None:
    model = hand_made("a+b", extra="abc", alphabet="bytes")
    by_merges = side_of(impls.load("tokenizers", model), "by merges")
    ignoring = side_of(impls.load("tokenizers", model.with_(ignore_merges=True)), "ignoring")
    found = explain(by_merges, ignoring, "abc")
    assert (found.stage, found.step) == ("merges", 1)
    assert tokens(found) == ("ab·c", "abc")
    assert "ignore_merges is set" in found.what


def test_the_same_token_under_another_id_is_the_vocabulary(hand_made: Any) -> None:
    one = side_of(impls.load("priority", hand_made("a+b b+c", alphabet="bytes")), "one")
    other = side_of(impls.load("priority", hand_made("b+c a+b", alphabet="bytes")), "other")
    found = explain(one, other, "xab")
    assert found.stage == "vocabulary"
    assert "‘ab’ has the id 256 in one, 257 in other" in found.what
    assert found.where == 1


def test_a_token_one_side_lacks_is_the_vocabulary(hand_made: Any) -> None:
    one = side_of(impls.load("priority", hand_made("a+b ab+c", alphabet="bytes")), "one")
    other = side_of(impls.load("priority", hand_made("a+b", alphabet="bytes")), "other")
    found = explain(one, other, "abc")
    assert (found.stage, found.step) == ("vocabulary", 2)
    assert "other has no such token" in found.what


def test_equal_ids_agree(hand_made: Any) -> None:
    model = hand_made("a+b ab+c", alphabet="bytes")
    found = explain(side("priority", model), side("naive", model), "abcab")
    assert found.agree
    assert found.stage is None


@pytest.mark.parametrize("name", [name for name in ALGORITHM_OF if name != "sentencepiece"])
def test_the_written_out_algorithms_are_those_of_the_implementations(name: str) -> None:
    spec = impls.TrainingSpec(vocab_size=400, pattern="gpt2")
    text = "the cat sat on the mat, and that was that; then the cat ate the hat of the matador"
    model = impls.get("priority").train_model([text], spec)
    tokenizer, rules = impls.load(name, model), Rules(model)
    for word in ("thethat", "matcatter", "ththth", "aaa", "xyz", "atadormat", "é"):
        assert derive(rules, word, ALGORITHM_OF[name]).ids == tokenizer.encode(word)
