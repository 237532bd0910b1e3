"""`explain` on black boxes with a planted bug: what their answers prove is named, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import impls
from harness.explain import black_box, explain, side_of
from harness.explain.algorithms import derive
from harness.explain.rules import Rules
from harness.explanations import Explanation
from impls import Model


def against(model: Model, encode_piece: Callable[[str], list[int]], text: str) -> Explanation:
    """`priority` and a black box that encodes pieces by `encode_piece`."""
    tokenizer = impls.load("priority", model)
    box = black_box("box", lambda text: [i for p in tokenizer.pieces(text) for i in encode_piece(p)], tokenizer.decode)
    return explain(side_of(tokenizer, "priority"), box, text)


def rightmost(model: Model) -> Callable[[str], list[int]]:
    """Of equal ranks the rightmost first."""
    rules = Rules(model)

    def encode(piece: str) -> list[int]:
        ids = model.symbols(piece)
        while True:
            merges = [(*found, -at) for at, pair in enumerate(pairwise(ids)) if (found := rules.merge(*pair))]
            if not merges:
                return ids
            _, made, at = min(merges, key=lambda merge: (merge[0], merge[2]))
            ids[-at : -at + 2] = [made]

    return encode


def test_rightmost_instead_of_leftmost_is_not_proved_to_be_merges(hand_made: Any) -> None:
    model = hand_made("a+a", alphabet="bytes")
    found = against(model, rightmost(model), "aaa")
    assert found.stage == "pieces or merges"
    assert (found.step, found.rank) == (1, 0)


def test_a_replay_on_a_list_that_is_not_monotone_is_not_proved_to_be_merges(hand_made: Any) -> None:
    model = hand_made("a+ab a+b", alphabet="bytes")
    rules = Rules(model)
    found = against(model, lambda piece: derive(rules, piece, "replay").ids, "aab")
    assert (found.stage, found.step, found.rank) == ("pieces or merges", 2, 0)


@pytest.mark.parametrize("allowed", ["all", set()])
def test_overlapping_special_tokens_taken_the_shortest_first(hand_made: Any, allowed: Any) -> None:
    model = hand_made("a+b", alphabet="bytes", special_tokens={"<s>": 300, "<s>a": 301})
    tokenizer = impls.load("priority", model)

    def shortest(text: str) -> list[int]:
        before, special, after = text.partition("<s>")
        return tokenizer.encode(before) + ([300] if special else []) + tokenizer.encode(after)

    sides = side_of(tokenizer, "priority", allow_special=allowed == "all"), black_box("box", shortest, tokenizer.decode)
    found = explain(*sides, "b<s>ab")
    assert found.stage == "special tokens"
    assert "box recognises ‘<s>’ (id 300) at character 1" in found.what


@pytest.mark.parametrize(("text", "where"), [("a <s>b", "before"), ("a<s> b", "after")])
def test_a_space_lost_beside_a_special_token_is_special_tokens(hand_made: Any, text: str, where: str) -> None:
    model = hand_made("a+b", alphabet="bytes", special_tokens={"<s>": 300})
    tokenizer = impls.load("priority", model)
    special = re.compile(" *<s> *")

    def swallowing(text: str) -> list[int]:
        return tokenizer.encode(special.sub("<s>", text), allowed_special="all")

    sides = side_of(tokenizer, "priority", allow_special=True), black_box("box", swallowing, tokenizer.decode)
    found = explain(*sides, text)
    assert found.stage == "special tokens"
    assert f"box leaves out ‘ ’ {where} ‘<s>’" in found.what.replace("␣", " ")


@pytest.mark.parametrize(
    ("stage", "encode", "decode", "text"),
    [
        ("normalisation", lambda t, text: t.encode(text.lower()), None, "Ab ab"),
        ("normalisation", lambda t, text: t.encode(text.strip()), None, "ab "),
        ("pieces or merges", lambda t, text: [i for c in text for i in t.encode(c)], None, "ab ab"),
        ("decode", lambda t, text: t.encode(text), lambda t, ids: t.decode(ids).strip(), "ab "),
        ("special tokens", lambda t, text: t.encode(text, allowed_special="all"), None, "a<s>b"),
    ],
)
def test_each_stage_is_named_by_a_fault_planted_in_it(
    hand_made: Any, stage: str, encode: Any, decode: Any, text: str
) -> None:
    model = hand_made("a+b", alphabet="bytes", special_tokens={"<s>": 300})
    tokenizer = impls.load("priority", model)
    box = black_box(
        "box", lambda text: encode(tokenizer, text), lambda ids: (decode or impls.Tokenizer.decode)(tokenizer, ids)
    )
    assert explain(side_of(tokenizer, "priority"), box, text).stage == stage
